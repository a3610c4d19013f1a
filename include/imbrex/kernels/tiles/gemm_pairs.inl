// Products of many rows with BF16 weights in pairs: words of a panel have two inputs of an output,
// those of x the same two inputs of a row, and a multiply-add takes both. Included behind
// multiply_panel.inl inside the regions that multiply such pairs.
//
// A stored row has these words already. So a panel is loaded as that of a matrix of floats would
// be, half as many: transposed, and nothing else.

/// Words that are pairs of numbers in bf16.
struct PairWord {
  static constexpr index_t numbers = 2;

  [[gnu::always_inline]] static void copy(const float* x, index_t left, float* to) {
    store_bfloats(reinterpret_cast<bf16*>(to), load_up_to(x, left),
                  load_up_to(x + lanes, left - lanes));
  }
  [[gnu::always_inline]] static Floats add_product(Floats sum, Floats x, Floats w) {
    return multiply_add_pairs(x, w, sum);
  }
};

inline void load_pairs(const std::byte* w, index_t row_bytes, index_t inputs, float* panel) {
  load_panel<columns_f32, 4, 16>(w, row_bytes, inputs / PairWord::numbers, panel);
}

/// F16 weights would lose 3 bits as bf16, F32 weights 16; quantised ones are multiplied in
/// integers.
inline constexpr Gemm gemm_pairs = {gemm_rows,
                                    panel_outputs,
                                    PairWord::numbers,
                                    copy_words<PairWord>,
                                    multiply<PairWord, gemm_rows>,
                                    {nullptr, nullptr, load_pairs}};
