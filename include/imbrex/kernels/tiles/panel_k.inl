// Panels of gemm from the formats with blocks of 256 numbers; see panel.inl, and quant/ for what
// lies where in a block. Included behind panel.inl inside each region.
//
// A half of a block, 128 numbers, is four or two rows of 32 that share bytes; parts of 16 bytes are
// loaded and all the numbers in them written.

/// A scale and an offset for each output.
struct ScalesK {
  Floats scale, offset;
};

/// scale_k of group g, times d and dmin. `head`: d and dmin, then the twelve bytes.
inline ScalesK scales_k(const Words (&head)[4], Floats d, Floats dmin, int g) {
  const int at = 8 * (g % 4);
  Words scale = bits<6>(head[1], at), offset = bits<6>(head[2], at);
  if (g >= 4) {
    scale = bits<4>(head[3], at) | (bits<2>(head[1], at + 6) << 4);
    offset = bits<4>(head[3], at + 4) | (bits<2>(head[2], at + 6) << 4);
  }
  return {d * to_floats(scale), dmin * to_floats(offset)};
}

inline Floats scaled(const ScalesK& s, Words q) { return s.scale * to_floats(q) - s.offset; }

/// BlockQ4_K: d, dmin, scales; four times 32 bytes for two groups.
inline void columns_q4_k(const std::byte* block, index_t stride, float* panel) {
  Words head[4], q[4];
  load_words(block, stride, head);
  const Floats d = halves(head[0]), dmin = halves(head[0] >> 16);
  for (int pair = 0; pair < 4; ++pair, panel = column(panel, 64)) {
    const ScalesK low = scales_k(head, d, dmin, 2 * pair),
                  high = scales_k(head, d, dmin, 2 * pair + 1);
    for (int part = 0; part < 32; part += 16) {
      load_words(block + 16 + 32 * pair + part, stride, q);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 4
        for (int b = 0; b < 4; ++b) {
          float* x = column(panel, part + 4 * j + b);
          store(x, scaled(low, bits<4>(q[j], 8 * b)));
          store(column(x, 32), scaled(high, bits<4>(q[j], 8 * b + 4)));
        }
      }
    }
  }
}

/// BlockQ5_K: d, dmin, scales; 32 bytes of fifth bits; four times 32 bytes for two groups.
inline void columns_q5_k(const std::byte* block, index_t stride, float* panel) {
  Words head[4], fifth[4], q[4];
  load_words(block, stride, head);
  const Floats d = halves(head[0]), dmin = halves(head[0] >> 16);
  for (int part = 0; part < 32; part += 16) {
    load_words(block + 16 + part, stride, fifth);
    for (int pair = 0; pair < 4; ++pair) {
      const ScalesK low = scales_k(head, d, dmin, 2 * pair),
                    high = scales_k(head, d, dmin, 2 * pair + 1);
      load_words(block + 48 + 32 * pair + part, stride, q);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 4
        for (int b = 0; b < 4; ++b) {
          const Words upper = fifth[j] >> (8 * b + 2 * pair);  // bits 0 and 1
          float* x = column(panel, 64 * pair + part + 4 * j + b);
          store(x, scaled(low, bits<4>(q[j], 8 * b) | (bits<1>(upper, 0) << 4)));
          store(column(x, 32), scaled(high, bits<4>(q[j], 8 * b + 4) | (bits<1>(upper, 1) << 4)));
        }
      }
    }
  }
}

/// BlockQ6_K: lower bits, upper bits, scales, d.
inline void columns_q6_k(const std::byte* block, index_t stride, float* panel) {
  Words scales[4], tail[4], low[4], high[4];
  load_words(block + 192, stride, scales);
  load_words(block + 194, stride, tail);  // to the last byte of the block
  const Floats d = halves(tail[3] >> 16);
  for (int g = 0; g < 16; ++g) {
    // Group g: half g / 8, row j of its four rows of 32, part c of that.
    const int half = g / 8, j = g / 2 % 4, c = g % 2;
    load_words(block + 64 * half + 32 * (j % 2) + 16 * c, stride, low);
    load_words(block + 128 + 32 * half + 16 * c, stride, high);
    const Floats scale = d * signed_byte(scales[g / 4], g % 4);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Words lower = low[i] >> (j / 2 * 4), upper = high[i] >> (2 * j);
#pragma GCC unroll 4
      for (int b = 0; b < 4; ++b) {
        const Words q = bits<4>(lower, 8 * b) | (bits<2>(upper, 8 * b) << 4);
        store(column(panel, 16 * g + 4 * i + b), scale * to_floats(q - 32));
      }
    }
  }
}

/// BlockQ2_K: scales and offsets, numbers, d, dmin.
inline void columns_q2_k(const std::byte* block, index_t stride, float* panel) {
  Words scales[4], tail[4], q[4];
  load_words(block, stride, scales);
  load_words(block + 68, stride, tail);  // to the last byte of the block
  const Floats d = halves(tail[3]), dmin = halves(tail[3] >> 16);
  for (int g = 0; g < 16; ++g) {
    load_words(block + 16 + 32 * (g / 8) + 16 * (g % 2), stride, q);
    const Words factors = scales[g / 4] >> (8 * (g % 4));
    const ScalesK s{d * to_floats(bits<4>(factors, 0)), dmin * to_floats(bits<4>(factors, 4))};
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Words numbers = q[i] >> (g / 2 % 4 * 2);
#pragma GCC unroll 4
      for (int b = 0; b < 4; ++b) {
        store(column(panel, 16 * g + 4 * i + b), scaled(s, bits<2>(numbers, 8 * b)));
      }
    }
  }
}

/// scale_q3_k of group g, for each output. `scales`: the twelve bytes are words 1 to 3.
inline Words scale_q3_k(const Words (&scales)[4], int g) {
  return (bits<4>(scales[1 + g % 8 / 4], 8 * (g % 4) + g / 8 * 4) |
          (bits<2>(scales[3], 8 * (g % 4) + g / 4 * 2) << 4)) -
         32;
}

/// BlockQ3_K: third bits, numbers, scales, d.
inline void columns_q3_k(const std::byte* block, index_t stride, float* panel) {
  Words scales[4], tail[4], q[4], third[4];
  load_words(block + 92, stride, scales);  // four bytes, and the twelve
  load_words(block + 94, stride, tail);    // to the last byte of the block
  const Floats d = halves(tail[3] >> 16);
  for (int g = 0; g < 16; ++g) {
    load_words(block + 32 + 32 * (g / 8) + 16 * (g % 2), stride, q);
    load_words(block + 16 * (g % 2), stride, third);
    const Floats scale = d * to_floats(scale_q3_k(scales, g));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Words lower = q[i] >> (g / 2 % 4 * 2), upper = third[i] >> (g / 2);
#pragma GCC unroll 4
      for (int b = 0; b < 4; ++b) {
        const Words number = bits<2>(lower, 8 * b) | (bits<1>(upper, 8 * b) << 2);
        store(column(panel, 16 * g + 4 * i + b), scale * to_floats(number - 4));
      }
    }
  }
}
