// The inner loops of attention: keys packed into panels, products with them and with values, and
// the softmax of a tile. Written once over the simd vocabulary and included inside each instruction
// set's region and namespace: no includes, no guard, and nothing of the standard library is called.
//
// Both products, of queries with keys and of weights with values, are R rows of x times C vectors:
// the sums stay in registers, and a step of k loads C vectors and R numbers for R C multiply-adds.
// With R = gemm_rows and C = 2 the sums fill the registers as in gemm; C = 4 is for few rows, which
// would have too few sums to hide a multiply-add's latency, and read values in longer runs.

inline constexpr index_t attention_panel = 2 * lanes;

/// `lanes` numbers as they are stored in keys and values.
template <Dtype D>
[[gnu::always_inline]] inline Floats load_stored(const std::byte* p) {
  if constexpr (D == Dtype::f16) return load_halves(p);
  if constexpr (D == Dtype::bf16) return load_bfloats(p);
  if constexpr (D == Dtype::f32) return load(p);
}

/// A fourth of the cache lines that begin at byte `at` of a panel's rows, or at 16, 32 or 48 bytes
/// before it: four calls, 16 bytes apart, fetch all. `rows` is an address, maybe of none.
[[gnu::always_inline]] inline void prefetch_rows(std::uintptr_t rows, index_t stride, index_t at) {
  constexpr index_t fourth = attention_panel / 4;
  const index_t first = at / 16 % 4 * fourth * stride + at / 64 * 64;
#pragma GCC unroll 8
  for (index_t i = 0; i < fourth; ++i) {
    const auto line = rows + static_cast<std::uintptr_t>(first + i * stride);
    __builtin_prefetch(reinterpret_cast<const void*>(line), 0, 2);
  }
}

/// Keys lie with their numbers side by side; a panel has the same number of all keys side by side.
/// The next panel's keys and the values of these are fetched meanwhile: memory is then busy also
/// while products are computed.
template <Dtype D>
void pack_keys(const PackedKeys& p) {
  constexpr index_t bytes = D == Dtype::f32 ? 4 : 2;
  const std::byte* keys = p.keys;
  const index_t stride = p.stride;
  float* panel = p.panel;
  const auto next = reinterpret_cast<std::uintptr_t>(keys) +
                    static_cast<std::uintptr_t>(attention_panel * stride);
  const auto values = reinterpret_cast<std::uintptr_t>(p.values);
  for (index_t k = 0; k < p.depth; k += 16 / bytes) {
    prefetch_rows(next, stride, k * bytes);
    prefetch_rows(values, p.values_stride, k * bytes);
#pragma GCC unroll 2
    for (index_t o = 0; o < attention_panel; o += lanes) {
      float* to = panel + k * attention_panel + o;
      const std::byte* from = keys + o * stride + k * bytes;
      Words w[4];
      load_words(from, stride, w);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        float* column = to + j * (4 / bytes) * attention_panel;
        if constexpr (D == Dtype::f32) store(column, reinterpret_cast<Floats>(w[j]));
        if constexpr (D == Dtype::f16) {
          store(column, halves(w[j]));
          store(column + attention_panel, halves(w[j] >> 16));
        }
        if constexpr (D == Dtype::bf16) {
          store(column, reinterpret_cast<Floats>(w[j] << 16));
          store(column + attention_panel, reinterpret_cast<Floats>((w[j] >> 16) << 16));
        }
      }
    }
  }
}

/// R rows by C vectors, from vector `first` on. By rising k whatever R and C are: an element's bits
/// depend on its row and its column alone.
template <Dtype D, int R, int C>
void multiply_columns(const AttentionProduct& p, index_t first) {
  constexpr index_t bytes = lanes * (D == Dtype::f32 ? 4 : 2);
  Floats sums[R][C];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) {
      sums[r][c] =
          p.more ? load(p.sums + r * attention_stride + (first + c) * lanes) : broadcast(0);
    }
  }
  const float* x = p.x;
  const std::byte* panel = p.panel + first * bytes;
  for (index_t k = 0; k < p.count; ++k, ++x, panel += p.panel_stride) {
    Floats w[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) w[c] = load_stored<D>(panel + c * bytes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Floats v = broadcast(x[r * attention_stride]);
#pragma GCC unroll 4
      for (int c = 0; c < C; ++c) sums[r][c] = multiply_add(v, w[c], sums[r][c]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) {
      store(p.sums + r * attention_stride + (first + c) * lanes, sums[r][c]);
    }
  }
}

/// The number of rows to try where there are fewer than R: not every number has loops of its own,
/// as each costs a program time to compile.
constexpr int fewer_rows(int R) { return R > 8 ? 8 : R > 4 ? 4 : R - 1; }

/// 1 to gemm_rows rows, at most R at a time; any number of vectors.
template <Dtype D, int R>
void multiply_attention(const AttentionProduct& p) {
  if constexpr (R > 1) {
    if (p.rows < R) return multiply_attention<D, fewer_rows(R)>(p);
  }
  index_t v = 0;
  if constexpr (4 * R + 4 <= 2 * gemm_rows) {
    for (; v + 4 <= p.vectors; v += 4) multiply_columns<D, R, 4>(p, v);
  }
  for (; v + 2 <= p.vectors; v += 2) multiply_columns<D, R, 2>(p, v);
  if (v < p.vectors) multiply_columns<D, R, 1>(p, v);
  if constexpr (R > 1 && R < gemm_rows) {
    if (p.rows == R) return;
    AttentionProduct rest = p;
    rest.sums += R * attention_stride, rest.x += R * attention_stride, rest.rows -= R;
    multiply_attention<D, fewer_rows(R)>(rest);
  }
}

/// v in the columns of `visible`, -inf in the others; lane 0 is `column`.
inline Floats only(Floats v, index_t column, KeyRange visible) {
  constexpr std::int32_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Words place;
  __builtin_memcpy(&place, numbers, sizeof place);
  const Words first = Words{} + static_cast<std::int32_t>(visible.first - column);
  const Words last = Words{} + static_cast<std::int32_t>(visible.last - column);
  return ((place >= first) & (place < last)) ? v : broadcast(-__builtin_inff());
}

/// Scores of products q.k.
[[gnu::always_inline]] inline Floats final_scores(Floats products, float scale, float soft_cap) {
  const Floats v = products * scale;
  return soft_cap == 0 ? v : soft_cap * hyperbolic_tangent(v / soft_cap);
}

/// Final scores, in place, and the largest of them; columns of the row's vectors that it does not
/// see get -inf.
inline float finish_scores(const AttentionScores& s, float* row, KeyRange visible) {
  Floats peak = broadcast(-__builtin_inff());
  for (index_t i = visible.first / lanes * lanes; i < visible.last; i += lanes) {
    Floats v = final_scores(load(row + i), s.scale, s.soft_cap);
    if (i < visible.first || i + lanes > visible.last) v = only(v, i, visible);
    store(row + i, v);
    peak = larger(v, peak);
  }
  return largest(peak);
}

inline void weigh_keys(const AttentionScores& s) {
  for (index_t r = 0; r < s.rows; ++r) {
    float* row = s.scores + r * attention_stride;
    const KeyRange visible = s.visible[r];
    const float peak = finish_scores(s, row, visible);
    // -inf - -inf would be a NaN.
    const Floats base = broadcast(peak == -__builtin_inff() ? 0.0f : peak);
    index_t i = s.first / lanes * lanes;
    for (; i + lanes <= visible.first; i += lanes) store(row + i, broadcast(0));
    Floats total = broadcast(0);
    for (; i < visible.last; i += lanes) {
      const Floats weight = exponential_weight(load(row + i) - base);
      store(row + i, weight);
      total = total + weight;
    }
    for (; i < s.last; i += lanes) store(row + i, broadcast(0));
    s.peaks[r] = peak;
    s.totals[r] = sum(total);
  }
}

inline void merge_values(float* out, const float* sums, index_t n, float old_weight, float weight) {
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    store(out + i, multiply_add(load(sums + i), broadcast(weight), load(out + i) * old_weight));
  }
  for (; i < n; ++i) out[i] = sums[i] * weight + out[i] * old_weight;
}

struct FinishedValue {
  float factor;
  [[gnu::always_inline]] Floats operator()(Floats sum) const { return sum * factor + 0.0f; }
};
inline void finish_values(float* out, const float* sums, index_t n, float factor) {
  map(n, out, FinishedValue{factor}, sums);
}
