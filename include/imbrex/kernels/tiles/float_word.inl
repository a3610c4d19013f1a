// The words of gemm that are floats; gemm_pairs.inl has the other kind. Written over the simd
// vocabulary and included in front of multiply_panel.inl inside each instruction set's region.

/// Outputs of a panel.
inline constexpr index_t panel_outputs = 2 * lanes;

/// `lanes` numbers of a row that has n more, or as many as it has, and zeros.
[[gnu::always_inline]] inline Floats load_up_to(const float* p, index_t n) {
  return n >= lanes ? load(p) : load_part(p, n > 0 ? n : 0);
}

struct FloatWord {
  static constexpr index_t numbers = 1;

  /// The next `lanes` words of a row of x that has `left` numbers more.
  [[gnu::always_inline]] static void copy(const float* x, index_t left, float* to) {
    store(to, load_up_to(x, left));
  }
  /// sum + x w.
  [[gnu::always_inline]] static Floats add_product(Floats sum, Floats x, Floats w) {
    return multiply_add(x, w, sum);
  }
};
