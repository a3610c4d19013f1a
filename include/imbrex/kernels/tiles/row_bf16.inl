// Rows of weights in bf16, in the order in which they are stored: what tiles are multiplied from.
// Included behind panel_k.inl and rounded_product_k.inl inside the regions that have tiles; see
// quant/ for what lies where in a block.
//
// Each function row_<format> decodes one block. The numbers are those of quant/decode.hpp, rounded.
// A vector has numbers that follow one another and share a scale, so nothing is transposed: for 32
// numbers of 4 bits AVX-512 takes a load that widens 16 bytes, and for each half of it a shift, a
// mask, a conversion and a product, then one instruction rounds both.

/// `lanes` numbers from number i on, of 32 in four bits: 16 in the lower halves of 16 bytes, then
/// 16 in the upper ones.
[[gnu::always_inline]] inline Words nibbles_from(const std::byte* nibbles, int i) {
  return bits<4>(load_bytes(nibbles + i % 16), i / 16 * 4);
}

template <class Number>
[[gnu::always_inline]] inline void row_of_nibbles(const std::byte* nibbles, const Number& number,
                                                  bf16* to) {
#pragma GCC unroll 4
  for (int i = 0; i < 32; i += 2 * lanes) {
    constexpr int next = lanes;
    store_bfloats(to + i, number.from(nibbles_from(nibbles, i), i),
                  number.from(nibbles_from(nibbles, i + next), i + next));
  }
}

inline Floats broadcast_half(const std::byte* p) { return broadcast(load_half(p)); }

/// Bit i of the word, for lane l that of number i + l, in bit i of each lane.
inline Words fifth_from(const std::byte* p) {
  std::int32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return broadcast_word(word) >> lane_numbers();
}

inline void row_q4_0(const std::byte* block, bf16* to) {
  row_of_nibbles(block + 2, NumberQ4_0{broadcast_half(block)}, to);
}
inline void row_q4_1(const std::byte* block, bf16* to) {
  row_of_nibbles(block + 4, NumberQ4_1{broadcast_half(block), broadcast_half(block + 2)}, to);
}
inline void row_q5_0(const std::byte* block, bf16* to) {
  row_of_nibbles(block + 6, NumberQ5_0{broadcast_half(block), fifth_from(block + 2)}, to);
}
inline void row_q5_1(const std::byte* block, bf16* to) {
  const NumberQ5_1 number{broadcast_half(block), broadcast_half(block + 2), fifth_from(block + 4)};
  row_of_nibbles(block + 8, number, to);
}

inline void row_q8_0(const std::byte* block, bf16* to) {
  const Floats d = broadcast_half(block);
#pragma GCC unroll 4
  for (index_t i = 0; i < 32; i += 2 * lanes) {
    store_bfloats(to + i, d * load_int8s(block + 2 + i), d * load_int8s(block + 2 + i + lanes));
  }
}

/// The formats of 256 numbers in 8 groups of 32; Fifth says whether they have fifth bits, 32 bytes
/// in front of the others.
template <bool Fifth>
inline void row_of_groups(const std::byte* block, bf16* to) {
  std::int32_t head[3], factors[4];  // scales of groups 0 to 3, 4 to 7, then offsets
  __builtin_memcpy(head, block + 4, sizeof head);
  six_bit_factors(head[0], head[1], head[2], factors);
  const float d = load_half(block), dmin = load_half(block + 2);
  const auto* factor = reinterpret_cast<const std::uint8_t*>(factors);
  const std::byte *fifth = block + 16, *q = block + (Fifth ? 48 : 16);
  for (int pair = 0; pair < 4; ++pair, q += 32, to += 64) {
    const ScalesK low{broadcast(d * factor[2 * pair]), broadcast(dmin * factor[8 + 2 * pair])},
        high{broadcast(d * factor[2 * pair + 1]), broadcast(dmin * factor[9 + 2 * pair])};
#pragma GCC unroll 4
    for (index_t i = 0; i < 32; i += 2 * lanes) {
      Words lower[2], upper[2];
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) {
        const Words bytes = load_bytes(q + i + v * lanes);
        lower[v] = bits<4>(bytes, 0), upper[v] = bits<4>(bytes, 4);
        if constexpr (Fifth) {
          const Words bit = load_bytes(fifth + i + v * lanes) >> (2 * pair);
          lower[v] |= bits<1>(bit, 0) << 4, upper[v] |= bits<1>(bit, 1) << 4;
        }
      }
      store_bfloats(to + i, scaled(low, lower[0]), scaled(low, lower[1]));
      store_bfloats(to + 32 + i, scaled(high, upper[0]), scaled(high, upper[1]));
    }
  }
}

inline void row_q4_k(const std::byte* block, bf16* to) { row_of_groups<false>(block, to); }
inline void row_q5_k(const std::byte* block, bf16* to) { row_of_groups<true>(block, to); }

/// The formats of 256 numbers in 16 groups of 16: of half h, row j of its four rows of 32, `lanes`
/// numbers from number i of the row on are Block::numbers(h, j, i).
template <class Block>
[[gnu::always_inline]] inline void row_of_halves(const Block& block, bf16* to) {
  for (int half = 0; half < 2; ++half) {
    for (int j = 0; j < 4; ++j, to += 32) {
#pragma GCC unroll 4
      for (int i = 0; i < 32; i += 2 * lanes) {
        constexpr int next = lanes;
        store_bfloats(to + i, block.numbers(half, j, i), block.numbers(half, j, i + next));
      }
    }
  }
}

/// 16 numbers, in memory: one of them is then read to all lanes.
struct Sixteen {
  float numbers[16];

  [[gnu::always_inline]] Floats at(int half, int j, int i) const {
    return broadcast(numbers[8 * half + 2 * j + i / 16]);
  }
};

struct RowQ6_K {
  const std::byte* block;
  Sixteen scale;

  explicit RowQ6_K(const std::byte* b) : block(b) {
    const Floats d = broadcast_half(b + 208);
    for (index_t g = 0; g < 16; g += lanes) store(scale.numbers + g, d * load_int8s(b + 192 + g));
  }
  [[gnu::always_inline]] Floats numbers(int half, int j, int i) const {
    const Words low = load_bytes(block + 64 * half + 32 * (j % 2) + i) >> (j / 2 * 4),
                high = load_bytes(block + 128 + 32 * half + i) >> (2 * j);
    return scale.at(half, j, i) * to_floats((bits<4>(low, 0) | (bits<2>(high, 0) << 4)) - 32);
  }
};

struct RowQ2_K {
  const std::byte* block;
  Sixteen scale, offset;

  explicit RowQ2_K(const std::byte* b) : block(b) {
    const Floats d = broadcast_half(b + 80), dmin = broadcast_half(b + 82);
    for (index_t g = 0; g < 16; g += lanes) {
      store(scale.numbers + g, d * load_low_nibbles(b + g));
      store(offset.numbers + g, dmin * load_high_nibbles(b + g));
    }
  }
  [[gnu::always_inline]] Floats numbers(int half, int j, int i) const {
    const Words q = bits<2>(load_bytes(block + 16 + 32 * half + i), 2 * j);
    return scaled({scale.at(half, j, i), offset.at(half, j, i)}, q);
  }
};

struct RowQ3_K {
  const std::byte* block;
  Sixteen scale;

  explicit RowQ3_K(const std::byte* b) : block(b) {
    std::int32_t bytes[3], scales[4];
    __builtin_memcpy(bytes, b + 96, sizeof bytes);
    six_bit_scales(bytes[0], bytes[1], bytes[2], scales);
    const Floats d = broadcast_half(b + 108);
    const auto* of_group = reinterpret_cast<const std::byte*>(scales);
    for (index_t g = 0; g < 16; g += lanes) {
      store(scale.numbers + g, d * to_floats(load_bytes(of_group + g) - 32));
    }
  }
  [[gnu::always_inline]] Floats numbers(int half, int j, int i) const {
    const Words low = load_bytes(block + 32 + 32 * half + i) >> (2 * j),
                high = load_bytes(block + i) >> (4 * half + j);
    return scale.at(half, j, i) * to_floats((bits<2>(low, 0) | (bits<1>(high, 0) << 2)) - 4);
  }
};

inline void row_q6_k(const std::byte* block, bf16* to) { row_of_halves(RowQ6_K(block), to); }
inline void row_q2_k(const std::byte* block, bf16* to) { row_of_halves(RowQ2_K(block), to); }
inline void row_q3_k(const std::byte* block, bf16* to) { row_of_halves(RowQ3_K(block), to); }

/// A row, block after block.
template <auto row_block, Dtype dtype>
void bfloat_row(const std::byte* w, index_t count, bf16* to) {
  for (index_t k = 0; k < count; k += traits(dtype).block, w += traits(dtype).bytes) {
    row_block(w, to + k);
  }
}

/// Numbers that are bf16 as they are stored: subnormal ones are left to the product, which takes
/// them for zeros.
inline void bfloat_copy(const std::byte* w, index_t count, bf16* to) {
  __builtin_memcpy(to, w, static_cast<std::size_t>(count) * sizeof(bf16));
}

/// F32 and F16 are multiplied in f32.
inline constexpr BfloatRows bfloat_rows = {
    {nullptr, nullptr, bfloat_copy, bfloat_row<row_q4_0, Dtype::q4_0>,
     bfloat_row<row_q4_1, Dtype::q4_1>, bfloat_row<row_q5_0, Dtype::q5_0>,
     bfloat_row<row_q5_1, Dtype::q5_1>, bfloat_row<row_q8_0, Dtype::q8_0>,
     bfloat_row<row_q2_k, Dtype::q2_k>, bfloat_row<row_q3_k, Dtype::q3_k>,
     bfloat_row<row_q4_k, Dtype::q4_k>, bfloat_row<row_q5_k, Dtype::q5_k>,
     bfloat_row<row_q6_k, Dtype::q6_k>}};
