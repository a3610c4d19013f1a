// Panels of gemm in integers: quantised weights as bytes, in the order in which the micro-kernel
// takes them, and their scales as vectors over outputs. Included behind panel_k.inl inside the
// regions that multiply bytes; see quant/ for what lies where in a block.
//
// The micro-kernel takes four inputs of an output at a time, a word of four bytes, from a panel
// w[k / 4][o]. Stored rows are words of four numbers as well: they are transposed as they lie, and
// a word is decoded in a few operations, so that decoding costs a tenth of what it does to floats.

/// The sums of products start from 1.5 x 2^23 as a float's bits: in 2^23 .. 2^24 the last place of
/// a float is 1, so that adding an integer below 2^22 to the bits adds it to the number. A sum is a
/// float without a conversion, start and sum. (Below 2^22 it stays: 32 x 255 x 127 < 2^20.)
inline constexpr float sum_start = 12582912;
inline constexpr std::int32_t sum_start_bits = 0x4B400000;

/// What the sum of group g starts from, for a row of x.
template <bool Offset>
inline Words sum_of_none(const Int8Row& x, index_t g) {
  return broadcast_word(Offset ? sum_start_bits : x.group[g]);
}

/// Four bytes in each lane.
inline Words broadcast_bytes(const std::int8_t* p) {
  std::int32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return broadcast_word(word);
}

/// Numbers of a panel's outputs that share a scale: with q in w, which has a sign only where the
/// format and the set's products have one, they stand for d q + m, in formats with an offset; else
/// for d (q - zero), with the zero of kernels_int8.inl. Sets whose products cannot take signed
/// bytes have them in two parts, lower bits and upper ones.
template <int Numbers, int Parts = 1>
struct PanelGroup {
  Words w[Parts * Numbers / 4][2];
  Floats d[2];
  Floats start[2];  ///< -sum_start d, exactly: that has 2 bits and d at most 19 of 24
  Floats m[2];
};

template <int Numbers, int Parts>
inline void set_scale(PanelGroup<Numbers, Parts>& group, int v, Floats d) {
  group.d[v] = d;
  group.start[v] = d * broadcast(-sum_start);
}

template <int Numbers>
inline void set_scale(PanelGroup<Numbers>& group, int v, const ScalesK& s) {
  set_scale(group, v, s.scale);
  group.m[v] = -s.offset;
}

/// The group of a format whose q are at most `Most`, signed_most where they have a sign.
inline constexpr int signed_most = 255;
template <int Numbers, int Most>
using GroupOf = PanelGroup<Numbers, (Most == signed_most ? signed_parts : 1)>;
using SignedGroup = GroupOf<32, signed_most>;

/// Bits [first, first + Width) of each byte.
template <int Width>
inline Words bits_of_bytes(Words w, int first) {
  return (w >> first) & (((1 << Width) - 1) * 0x01010101);
}

// Each function bytes_<format> decodes one block of `lanes` stored rows, `stride` bytes apart, to
// vector v of as many groups as the block has.

inline void bytes_q8_0(const std::byte* block, index_t stride, SignedGroup* group, int v) {
  Words q[4];
  set_scale(*group, v, halves(load_word(block, stride)));
  for (int half = 0; half < 2; ++half) {
    load_words(block + 2 + 16 * half, stride, q);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      Words parts[signed_parts];
      split_signed(q[j], parts);
#pragma GCC unroll 2
      for (int i = 0; i < signed_parts; ++i) group->w[8 * i + 4 * half + j][v] = parts[i];
    }
  }
}

/// 16 bytes with numbers 0 to 15 in their lower halves and 16 to 31 in the upper ones. Bit i of
/// `fifth` is the fifth of number i.
template <bool Fifth>
[[gnu::always_inline]] inline void bytes_of_nibbles(const std::byte* nibbles, index_t stride,
                                                    Words fifth, PanelGroup<32>* group, int v) {
  Words q[4];
  load_words(nibbles, stride, q);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    Words low = bits_of_bytes<4>(q[j], 0), high = bits_of_bytes<4>(q[j], 4);
    if constexpr (Fifth) {
      // Copies of four bits, 7 bits apart: bit b of copy b is bit 8 b.
      constexpr int copies = 1 + (1 << 7) + (1 << 14) + (1 << 21);
      low |= bits_of_bytes<1>(bits<4>(fifth, 4 * j) * copies, 0) << 4;
      high |= bits_of_bytes<1>(bits<4>(fifth, 4 * j + 16) * copies, 0) << 4;
    }
    group->w[j][v] = low;
    group->w[4 + j][v] = high;
  }
}

inline void bytes_q4_0(const std::byte* block, index_t stride, PanelGroup<32>* group, int v) {
  set_scale(*group, v, halves(load_word(block, stride)));
  bytes_of_nibbles<false>(block + 2, stride, Words{}, group, v);
}

inline void bytes_q4_1(const std::byte* block, index_t stride, PanelGroup<32>* group, int v) {
  const Words head = load_word(block, stride);
  set_scale(*group, v, halves(head));
  group->m[v] = halves(head >> 16);
  bytes_of_nibbles<false>(block + 4, stride, Words{}, group, v);
}

inline void bytes_q5_0(const std::byte* block, index_t stride, PanelGroup<32>* group, int v) {
  set_scale(*group, v, halves(load_word(block, stride)));
  bytes_of_nibbles<true>(block + 6, stride, load_word(block + 2, stride), group, v);
}

inline void bytes_q5_1(const std::byte* block, index_t stride, PanelGroup<32>* group, int v) {
  const Words head = load_word(block, stride);
  set_scale(*group, v, halves(head));
  group->m[v] = halves(head >> 16);
  bytes_of_nibbles<true>(block + 8, stride, load_word(block + 4, stride), group, v);
}

/// The formats of 256 numbers in 8 groups of 32; Fifth says whether they have fifth bits, 32 bytes
/// in front of the others.
template <bool Fifth>
inline void bytes_of_groups(const std::byte* block, index_t stride, PanelGroup<32>* groups, int v) {
  constexpr index_t numbers = Fifth ? 48 : 16;
  Words head[4], fifth[4], q[4];
  load_words(block, stride, head);
  const Floats d = halves(head[0]), dmin = halves(head[0] >> 16);
  for (int g = 0; g < 8; ++g) set_scale(groups[g], v, scales_k(head, d, dmin, g));
  for (int half = 0; half < 2; ++half) {
    if constexpr (Fifth) load_words(block + 16 + 16 * half, stride, fifth);
    for (int pair = 0; pair < 4; ++pair) {
      load_words(block + numbers + 32 * pair + 16 * half, stride, q);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        Words low = bits_of_bytes<4>(q[j], 0), high = bits_of_bytes<4>(q[j], 4);
        if constexpr (Fifth) {
          low |= bits_of_bytes<1>(fifth[j], 2 * pair) << 4;
          high |= bits_of_bytes<1>(fifth[j], 2 * pair + 1) << 4;
        }
        groups[2 * pair].w[4 * half + j][v] = low;
        groups[2 * pair + 1].w[4 * half + j][v] = high;
      }
    }
  }
}

inline void bytes_q4_k(const std::byte* block, index_t stride, PanelGroup<32>* groups, int v) {
  bytes_of_groups<false>(block, stride, groups, v);
}
inline void bytes_q5_k(const std::byte* block, index_t stride, PanelGroup<32>* groups, int v) {
  bytes_of_groups<true>(block, stride, groups, v);
}

// Of 16 groups of 16; for g as here see panel_k.inl.

inline void bytes_q6_k(const std::byte* block, index_t stride, PanelGroup<16>* groups, int v) {
  Words scales[4], low[4], high[4];
  load_words(block + 192, stride, scales);
  const Floats d = halves(load_word(block + 206, stride) >> 16);  // to the last byte of the block
  for (int g = 0; g < 16; ++g) {
    const int half = g / 8, j = g / 2 % 4, c = g % 2;
    load_words(block + 64 * half + 32 * (j % 2) + 16 * c, stride, low);
    load_words(block + 128 + 32 * half + 16 * c, stride, high);
    set_scale(groups[g], v, d * signed_byte(scales[g / 4], g % 4));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      groups[g].w[i][v] =
          bits_of_bytes<4>(low[i], j / 2 * 4) | (bits_of_bytes<2>(high[i], 2 * j) << 4);
    }
  }
}

inline void bytes_q2_k(const std::byte* block, index_t stride, PanelGroup<16>* groups, int v) {
  Words scales[4], q[4];
  load_words(block, stride, scales);
  const Words tail = load_word(block + 80, stride);
  const Floats d = halves(tail), dmin = halves(tail >> 16);
  for (int g = 0; g < 16; ++g) {
    load_words(block + 16 + 32 * (g / 8) + 16 * (g % 2), stride, q);
    const Words factors = scales[g / 4] >> (8 * (g % 4));
    set_scale(groups[g], v,
              ScalesK{d * to_floats(bits<4>(factors, 0)), dmin * to_floats(bits<4>(factors, 4))});
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) groups[g].w[i][v] = bits_of_bytes<2>(q[i], g / 2 % 4 * 2);
  }
}

inline void bytes_q3_k(const std::byte* block, index_t stride, PanelGroup<16>* groups, int v) {
  Words scales[4], q[4], third[4];
  load_words(block + 92, stride, scales);
  const Floats d = halves(load_word(block + 106, stride) >> 16);  // to the last byte of the block
  for (int g = 0; g < 16; ++g) {
    load_words(block + 32 + 32 * (g / 8) + 16 * (g % 2), stride, q);
    load_words(block + 16 * (g % 2), stride, third);
    set_scale(groups[g], v, d * to_floats(scale_q3_k(scales, g)));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      groups[g].w[i][v] =
          bits_of_bytes<2>(q[i], g / 2 % 4 * 2) | (bits_of_bytes<1>(third[i], g / 2) << 2);
    }
  }
}

/// A panel of `inputs` columns, block after block.
template <auto bytes, int Numbers, int Most, Dtype dtype>
void load_int8_panel(const std::byte* w, index_t row_bytes, index_t inputs, std::byte* panel) {
  constexpr index_t numbers = traits(dtype).block;
  for (int v = 0; v < 2; ++v) {
    const std::byte* block = w + v * lanes * row_bytes;
    auto* group = reinterpret_cast<GroupOf<Numbers, Most>*>(panel);
    for (index_t k = 0; k < inputs; k += numbers) {
      bytes(block, row_bytes, group, v);
      block += traits(dtype).bytes;
      group += numbers / Numbers;
    }
  }
}
