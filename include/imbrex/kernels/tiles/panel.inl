// Panels of gemm: weights of any format as floats, in the order in which the micro-kernel takes
// them. Written once over the simd vocabulary and included inside each instruction set's region and
// namespace: no includes, no guard, and nothing of the standard library is called.
//
// A panel is panel[k][o]: for each input the weights of all its outputs side by side, while a
// stored row has the inputs of one output side by side. So blocks are transposed on the way, and in
// 32-bit words before they are decoded: a word has 4 to 8 quantised numbers, so there is that much
// less to transpose, and scales become vectors over outputs. Each function columns_<format> decodes
// one block of `lanes` stored rows, `stride` bytes apart. The numbers are those of
// quant/decode.hpp, bit for bit: products of scale and integer are exact.

inline Floats as_floats(Words w) { return reinterpret_cast<Floats>(w); }
inline Floats to_floats(Words w) { return __builtin_convertvector(w, Floats); }

/// Byte i, with its sign.
inline Floats signed_byte(Words w, int i) { return to_floats((w << (24 - 8 * i)) >> 24); }

/// Width bits from bit `first` on.
template <int Width>
inline Words bits(Words w, int first) {
  return (w >> first) & ((1 << Width) - 1);
}

/// Column k of a panel.
inline float* column(float* panel, index_t k) { return panel + k * panel_outputs; }

inline void columns_f32(const std::byte* w, index_t stride, float* panel) {
  Words v[4];
  load_words(w, stride, v);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) store(column(panel, j), as_floats(v[j]));
}

inline void columns_f16(const std::byte* w, index_t stride, float* panel) {
  Words v[4];
  load_words(w, stride, v);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    store(column(panel, 2 * j), halves(v[j]));
    store(column(panel, 2 * j + 1), halves(v[j] >> 16));
  }
}

inline void columns_bf16(const std::byte* w, index_t stride, float* panel) {
  Words v[4];
  load_words(w, stride, v);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    store(column(panel, 2 * j), as_floats(v[j] << 16));
    store(column(panel, 2 * j + 1), as_floats((v[j] >> 16) << 16));
  }
}

/// BlockQ8_0: d, then 32 bytes.
inline void columns_q8_0(const std::byte* block, index_t stride, float* panel) {
  Words head[4], q[4];
  load_words(block, stride, head);
  const Floats d = halves(head[0]);
  for (index_t i = 0; i < 32; i += 16) {
    load_words(block + 2 + i, stride, q);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 4
      for (int b = 0; b < 4; ++b) store(column(panel, i + 4 * j + b), d * signed_byte(q[j], b));
    }
  }
}

// The formats of 4 and 5 bits: what number i is, from its lower four bits.

struct NumberQ4_0 {
  Floats d;
  Floats from(Words q, int) const { return d * to_floats(q - 8); }
};
struct NumberQ4_1 {
  Floats d, m;
  Floats from(Words q, int) const { return d * to_floats(q) + m; }
};
struct NumberQ5_0 {
  Floats d;
  Words fifth;
  Floats from(Words q, int i) const { return d * to_floats((q | (bits<1>(fifth, i) << 4)) - 16); }
};
struct NumberQ5_1 {
  Floats d, m;
  Words fifth;
  Floats from(Words q, int i) const { return d * to_floats(q | (bits<1>(fifth, i) << 4)) + m; }
};

/// 16 bytes with numbers 0 to 15 in their lower halves and 16 to 31 in the upper ones.
template <class Number>
[[gnu::always_inline]] inline void columns_of_nibbles(const std::byte* nibbles, index_t stride,
                                                      const Number& number, float* panel) {
  Words q[4];
  load_words(nibbles, stride, q);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 4
    for (int b = 0; b < 4; ++b) {
      const int i = 4 * j + b;
      store(column(panel, i), number.from(bits<4>(q[j], 8 * b), i));
      store(column(panel, i + 16), number.from(bits<4>(q[j], 8 * b + 4), i + 16));
    }
  }
}

/// BlockQ4_0: d, nibbles.
inline void columns_q4_0(const std::byte* block, index_t stride, float* panel) {
  Words head[4];
  load_words(block, stride, head);
  columns_of_nibbles(block + 2, stride, NumberQ4_0{halves(head[0])}, panel);
}

/// BlockQ4_1: d and m, nibbles.
inline void columns_q4_1(const std::byte* block, index_t stride, float* panel) {
  Words head[4];
  load_words(block, stride, head);
  const NumberQ4_1 number{halves(head[0]), halves(head[0] >> 16)};
  columns_of_nibbles(block + 4, stride, number, panel);
}

/// BlockQ5_0: d, fifth bits, nibbles.
inline void columns_q5_0(const std::byte* block, index_t stride, float* panel) {
  Words head[4], fifth[4];
  load_words(block, stride, head);
  load_words(block + 2, stride, fifth);
  columns_of_nibbles(block + 6, stride, NumberQ5_0{halves(head[0]), fifth[0]}, panel);
}

/// BlockQ5_1: d and m, fifth bits, nibbles.
inline void columns_q5_1(const std::byte* block, index_t stride, float* panel) {
  Words head[4];
  load_words(block, stride, head);
  const NumberQ5_1 number{halves(head[0]), halves(head[0] >> 16), head[1]};
  columns_of_nibbles(block + 8, stride, number, panel);
}
