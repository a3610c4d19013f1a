// The inner loops of attention in tiles of bf16: keys and values become operands of tiles, and
// scores weights. Written over the vocabulary of vectors, and included behind attention.inl and
// gemm_bf16.inl inside the regions that have tiles.

/// `lanes` numbers of a stored row that has n more, or as many as it has, and zeros.
template <Dtype D>
[[gnu::always_inline]] inline Floats load_stored_up_to(const std::byte* p, index_t n) {
  if (n >= lanes) return load_stored<D>(p);
  alignas(64) std::byte part[lanes * 4] = {};
  if (n > 0) __builtin_memcpy(part, p, static_cast<std::size_t>(n * traits(D).bytes));
  return load_stored<D>(part);
}

template <Dtype D>
void round_keys(const StoredRows& p) {
  for (index_t r = 0; r < p.rows; ++r) {
    const std::byte* from = p.from + r * p.stride;
    bf16* to = p.to + r * p.to_stride;
    for (index_t e = 0; e < p.numbers; e += tile_inputs) {
#pragma GCC unroll 4
      for (index_t i = e; i < e + tile_inputs; i += 2 * lanes) {
        const std::byte* at = from + i * traits(D).bytes;
        store_bfloats(to + i, load_stored_up_to<D>(at, p.numbers - i),
                      load_stored_up_to<D>(at + lanes * traits(D).bytes, p.numbers - i - lanes));
      }
    }
  }
}

/// Stored values on their way to bf16, and whether any had to be left out.
template <Dtype D>
struct ValuesForTiles {
  const StoredRows& p;
  Floats left_out = broadcast(0);

  /// Numbers e and on of row r; zeros where there are none, or none that bf16 has.
  [[gnu::always_inline]] Floats at(index_t r, index_t e) {
    if (r >= p.rows) return broadcast(0);
    const std::byte* from = p.from + r * p.stride + e * traits(D).bytes;
    const Floats v = load_stored_up_to<D>(from, p.numbers - e);
    const auto has = larger(v, -v) < broadcast(bfloat_end);
    left_out = has ? left_out : broadcast(1);
    return has ? v : broadcast(0);
  }
};

/// 32 values by 16 numbers at a time: values are rounded two side by side, in words of a number of
/// both, and these words transposed.
template <Dtype D>
bool transpose_values(const StoredRows& p) {
  alignas(64) bf16 pairs[tile_numbers];
  ValuesForTiles<D> values{p};
  for (index_t r = 0; r < p.rows; r += tile_inputs) {
    for (index_t e = 0; e < ceil_div(p.numbers, tile_pair) * tile_pair; e += tile_rows) {
      for (index_t j = 0; j < tile_inputs; j += 2) {
        for (index_t i = 0; i < tile_rows; i += lanes) {
          const Floats even = values.at(r + j, e + i), odd = values.at(r + j + 1, e + i);
          store_bfloat_pairs(pairs + j * tile_rows + 2 * i, even, odd);
        }
      }
      transpose_tile(pairs, 64, reinterpret_cast<float*>(p.to + e * p.to_stride + r),
                     p.to_stride / 2);
    }
  }
  return !(largest(values.left_out) > 0);
}

/// The lanes from row r on, of scores and weights, and what their rows see.
struct ScoreLanes {
  float* scores;
  bf16* weights;
  float scale, soft_cap;
  Words first, last;

  ScoreLanes(const TileScores& s, index_t r)
      : scores(s.scores + r), weights(s.weights + 2 * r), scale(s.scale), soft_cap(s.soft_cap) {
    __builtin_memcpy(&first, s.first + r, sizeof first);
    __builtin_memcpy(&last, s.last + r, sizeof last);
  }

  [[gnu::always_inline]] float* score(index_t key) const {
    return scores + key / tile_rows * 2 * tile_floats + key % tile_rows * tile_rows;
  }
  [[gnu::always_inline]] bf16* weight(index_t key) const {
    return weights + key / tile_inputs * 2 * tile_numbers + key % tile_inputs * tile_rows;
  }

  /// The final score of a key, in place; -inf for rows that do not see it, where some may not.
  template <bool Masked>
  [[gnu::always_inline]] Floats finish(index_t key) const {
    Floats v = final_scores(load(score(key)), scale, soft_cap);
    if constexpr (Masked) {
      const Words place = Words{} + static_cast<std::int32_t>(key);
      v = ((place >= first) & (place < last)) ? v : broadcast(-__builtin_inff());
    }
    store(score(key), v);
    return v;
  }
};

/// Of the even and of the odd keys: a maximum, or a sum, waits for the one before.
struct EvenAndOdd {
  Floats even, odd;
};

template <bool Masked>
[[gnu::always_inline]] inline void finish_panel(const ScoreLanes& scores, index_t key,
                                                EvenAndOdd& peak) {
  for (index_t k = key; k < key + tile_pair; k += 2) {
    peak.even = larger(scores.finish<Masked>(k), peak.even);
    peak.odd = larger(scores.finish<Masked>(k + 1), peak.odd);
  }
}

/// Final scores, and the largest of each row. Only panels at the edge of what rows see are looked
/// at key by key.
inline Floats finish_scores(const ScoreLanes& scores, index_t keys, KeyRange common) {
  EvenAndOdd peak{broadcast(-__builtin_inff()), broadcast(-__builtin_inff())};
  for (index_t key = 0; key < keys; key += tile_pair) {
    const bool whole = common.first <= key && key + tile_pair <= common.last;
    whole ? finish_panel<false>(scores, key, peak) : finish_panel<true>(scores, key, peak);
  }
  return larger(peak.even, peak.odd);
}

/// Weights, and their sums.
inline Floats weigh_lanes(const ScoreLanes& scores, index_t keys, Floats base) {
  EvenAndOdd total{broadcast(0), broadcast(0)};
  for (index_t key = 0; key < keys; key += 2) {
    const Floats even = exponential_weight(load(scores.score(key)) - base),
                 odd = exponential_weight(load(scores.score(key + 1)) - base);
    store_bfloat_pairs(scores.weight(key), even, odd);
    total.even = total.even + even, total.odd = total.odd + odd;
  }
  return total.even + total.odd;
}

inline void weigh_tiles(const TileScores& s) {
  const index_t keys = s.panels * tile_pair;
  for (index_t r = 0; r < tile_rows; r += lanes) {
    const ScoreLanes scores(s, r);
    const Floats before = load(s.peaks + r);
    const Floats peak = larger(finish_scores(scores, keys, s.common), before);
    // -inf - -inf would be a NaN.
    const Floats base = peak == -__builtin_inff() ? broadcast(0) : peak;
    const Floats factor = exponential_weight(before - base),
                 total = weigh_lanes(scores, keys, base);
    store(s.totals + r, multiply_add(load(s.totals + r), factor, total));
    store(s.factors + r, factor);
    store(s.peaks + r, peak);
  }
}

inline void rescale_tiles(float* sums, index_t tiles, const float* factors) {
  for (index_t r = 0; r < tile_rows; r += lanes) {
    const Floats factor = load(factors + r);
    for (index_t t = 0; t < tiles; t += 2) {
      float* tile = sums + t * tile_floats + r;
#pragma GCC unroll 8
      for (index_t e = 0; e < tile_floats; e += tile_rows) store(tile + e, load(tile + e) * factor);
    }
  }
}

inline constexpr Bf16Attention bf16_attention = {
    {round_keys<Dtype::f32>, round_keys<Dtype::f16>, round_keys<Dtype::bf16>},
    {transpose_values<Dtype::f32>, transpose_values<Dtype::f16>, transpose_values<Dtype::bf16>},
    weigh_tiles,
    rescale_tiles,
    finish_values};
