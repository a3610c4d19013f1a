// Products of tiles in bf16: packed rows of x, the loop over tiles, and the sums' way to y. Written
// over the vocabularies of vectors and of tiles, and included behind row_bf16.inl inside the
// regions that have tiles.

/// A transposed tile of 32-bit words: to[c][r] = from[r][c], rows of `from` stride bytes apart,
/// those of `to` to_stride words.
inline void transpose_tile(const void* from, index_t stride, float* to,
                           index_t to_stride = tile_rows) {
  for (index_t r = 0; r < tile_rows; r += lanes) {
    const std::byte* rows = static_cast<const std::byte*>(from) + r * stride;
    for (index_t c = 0; c < tile_rows; c += 4) {
      Words words[4];
      load_words(rows + 4 * c, stride, words);
#pragma GCC unroll 4
      for (index_t j = 0; j < 4; ++j) store(to + (c + j) * to_stride + r, as_floats(words[j]));
    }
  }
}

/// Rows are rounded side by side, 16 words of two inputs each, and these words transposed.
inline void pack_tiles(const PackedTiles& p) {
  alignas(64) bf16 rounded[tile_numbers];
  __builtin_memset(rounded, 0, sizeof rounded);
  bf16* tile = p.tiles;
  for (index_t k = 0; k < p.inputs; k += tile_inputs, tile += 2 * tile_numbers) {
    const index_t left = p.inputs - k;
    for (index_t r = 0; r < p.rows; ++r) {
      const float* x = p.x + r * p.stride + k;
#pragma GCC unroll 4
      for (index_t i = 0; i < tile_inputs; i += 2 * lanes) {
        store_bfloats(rounded + r * tile_inputs + i, load_up_to(x + i, left - i),
                      load_up_to(x + i + lanes, left - i - lanes));
      }
    }
    transpose_tile(rounded, 64, reinterpret_cast<float*>(tile));
  }
}

/// Calls for the lines of rows, evenly dealt to the steps of a loop. Addresses are integers: behind
/// the last row they are those of nothing.
class CallAhead {
 public:
  CallAhead(const NextRows& rows, index_t steps)
      : row_(reinterpret_cast<std::uintptr_t>(rows.start)),
        row_bytes_(static_cast<std::uintptr_t>(rows.row_bytes)),
        bytes_(static_cast<std::uintptr_t>(rows.bytes)),
        at_(row_),
        end_(row_ + bytes_),
        lines_(rows.rows * ceil_div(rows.bytes, 64)),
        steps_(steps) {}

  [[gnu::always_inline]] void step() {
    for (owed_ += lines_; owed_ >= steps_; owed_ -= steps_) {
      __builtin_prefetch(reinterpret_cast<const void*>(at_), 0, 2);
      at_ += 64;
      if (at_ < end_) continue;
      row_ += row_bytes_;
      at_ = row_, end_ = at_ + bytes_;
    }
  }

 private:
  std::uintptr_t row_, row_bytes_, bytes_, at_, end_;
  index_t lines_, steps_, owed_ = 0;
};

/// Decodes a panel, slices of rows evenly dealt to the steps of a loop.
class DecodeAhead {
 public:
  DecodeAhead(const NextPanel& panel, index_t steps) : panel_(panel), steps_(steps) {
    if (panel.decode != nullptr) slices_ = panel.rows * ceil_div(panel.inputs, panel_slice);
  }

  [[gnu::always_inline]] void step() {
    for (owed_ += slices_; owed_ >= steps_; owed_ -= steps_) slice();
  }

 private:
  void slice() {
    const index_t left = panel_.inputs - at_;
    panel_.decode(panel_.w + at_ / panel_slice * panel_.slice_bytes, lesser(panel_slice, left),
                  panel_.to + at_);
    at_ += panel_slice;
    if (at_ < panel_.inputs) return;
    at_ = 0, panel_.w += panel_.row_bytes, panel_.to += panel_.to_stride;
  }

  NextPanel panel_;
  index_t steps_, slices_ = 0, owed_ = 0, at_ = 0;
};

/// What is done beside the products of a panel, a part at each step.
struct Meanwhile {
  DecodeAhead decode;
  CallAhead call;

  Meanwhile(const TilesProduct& p, index_t steps) : decode(p.next, steps), call(p.ahead, steps) {}

  [[gnu::always_inline]] void step() {
    call.step();
    decode.step();
  }
};

// Tiles 0 to 3 are sums, 4 and 5 weights, 6 and 7 x. Of a pair of tiles of x, Tiles are there.

/// Stores the sums of tile c. `sums` is the pair's four tiles.
template <int c>
[[gnu::always_inline]] inline void end_sum(float* sums) {
  store_tile<c>(sums + c * tile_floats, 64);
}

/// What is done with a tile of sums before the first product of a pair: the sums of the pair before
/// are stored (there may be none), at the last moment, when they are complete without waiting; and
/// those of this one begin.
struct BeginSums {
  float *sums, *before;
  bool more;

  template <int c>
  [[gnu::always_inline]] void tile() const {
    if (before != nullptr) end_sum<c>(before);
    more ? stream_tile<c>(sums + c * tile_floats, 64) : zero_tile<c>();
  }
};
struct GoOn {
  template <int c>
  [[gnu::always_inline]] void tile() const {}
};

/// 32 inputs: the products of two tiles of weights with one or two of x. These are read once for
/// each panel, from second-level cache, and should leave the first level to the panel.
template <int Tiles, class Before>
[[gnu::always_inline]] inline void multiply_step(const std::byte* w, index_t row_bytes,
                                                 const bf16* x, const Before& before) {
  load_tile<4>(w, row_bytes);
  stream_tile<6>(x, 64);
  before.template tile<0>();
  multiply_tiles<0, 4, 6>();
  if constexpr (Tiles == 2) {
    stream_tile<7>(x + tile_numbers, 64);
    before.template tile<1>();
    multiply_tiles<1, 4, 7>();
  }
  load_tile<5>(w + tile_rows * row_bytes, row_bytes);
  before.template tile<2>();
  multiply_tiles<2, 5, 6>();
  if constexpr (Tiles == 2) {
    before.template tile<3>();
    multiply_tiles<3, 5, 7>();
  }
}

/// All inputs of a panel with a pair of tiles of x.
template <int Tiles>
inline void multiply_pair(const TilesProduct& p, const bf16* x, const BeginSums& begin,
                          Meanwhile& meanwhile) {
  multiply_step<Tiles>(p.w, p.row_bytes, x, begin);
  meanwhile.step();
  for (index_t k = tile_inputs; k < p.inputs; k += tile_inputs) {
    x += 2 * tile_numbers;
    multiply_step<Tiles>(p.w + k * 2, p.row_bytes, x, GoOn{});
    meanwhile.step();
  }
}

/// Pair after pair; the last may be a single tile.
inline void multiply_panel_tiles(const TilesProduct& p) {
  const index_t pairs = p.tiles / 2;
  Meanwhile meanwhile(p, ceil_div(p.tiles, 2) * (p.inputs / tile_inputs));
  float *sums = p.sums, *before = nullptr;
  const bf16* x = p.x;
  for (index_t i = 0; i < pairs; ++i, x += p.x_stride, before = sums, sums += 4 * tile_floats) {
    multiply_pair<2>(p, x, {sums, before, p.more}, meanwhile);
  }
  if (before != nullptr) end_sum<1>(before), end_sum<3>(before);
  if (p.tiles % 2 != 0) {
    multiply_pair<1>(p, x, {sums, before, p.more}, meanwhile);
    before = sums;
  }
  end_sum<0>(before);
  end_sum<2>(before);
}

inline void add_tile(const AddedTile& tile) {
  alignas(64) float sums[tile_floats];
  transpose_tile(tile.sums, 64, sums);
  for (index_t r = 0; r < tile_rows; ++r) {
    for (index_t o = 0; o < tile_rows; o += lanes) {
      store(tile.y + r * tile.y_stride + o,
            load(tile.start + r * tile.start_stride + o) + load(sums + r * tile_rows + o));
    }
  }
}

inline constexpr Bf16Gemm bf16_gemm = {bfloat_rows,          pack_tiles,    configure_tiles,
                                       multiply_panel_tiles, release_tiles, add_tile};
