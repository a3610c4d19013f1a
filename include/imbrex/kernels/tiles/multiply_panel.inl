// The micro-kernel of gemm: a few rows of x times a panel of weights. Written once over the simd
// vocabulary and included inside each instruction set's region and namespace: no includes, no
// guard, and nothing of the standard library is called. Word says what words are (float_word.inl).
//
// A tile of y, R rows by two vectors of outputs, stays in registers while k passes. A step of k
// loads 2 vectors of weights and R words of x for 2 R multiply-adds. At two of these and two
// loads a cycle the loads hide behind the arithmetic from R = 2 on, and from R = 4 on there are the
// 8 sums that a multiply-add of latency 4 wants; gemm_rows is what the registers hold beside the
// operands. That leaves load and store units idle most of the time: the copy of the next rows of x
// fills them.

/// Rows of x side by side.
template <class Word>
void copy_words(const CopiedRows& c) {
  for (index_t r = 0; r < c.rows; ++r) {
    const float* x = c.x + r * c.stride;
    float* to = c.to + r * gemm_words;
    for (index_t k = 0; k < c.inputs; k += lanes * Word::numbers, to += lanes) {
      Word::copy(x + k, c.inputs - k, to);
    }
  }
}

/// Words [k, k + lanes) of the copy of the next R rows.
template <class Word, int R>
[[gnu::always_inline]] inline void copy_next(const PanelProduct& p, index_t k) {
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    Word::copy(p.next + r * p.next_stride + k * Word::numbers, lanes * Word::numbers,
               p.next_x + r * gemm_words + k);
  }
}

/// R rows. Summed by rising k, from zero, whatever R is: a row gives the same bits in any company.
template <class Word, int R>
void multiply_panel(const PanelProduct& p) {
  Floats low[R], high[R];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    low[r] = high[r] = broadcast(0);
    __builtin_prefetch(p.start + r * p.start_stride);
    __builtin_prefetch(p.start + r * p.start_stride + lanes);
  }
  const float *x = p.x, *w = p.panel;
  for (index_t k = 0; k < p.words;) {
    if (p.next != nullptr) copy_next<Word, R>(p, k);
    const index_t last = lesser(p.words, k + lanes);
    for (; k < last; ++k, ++x, w += panel_outputs) {
      const Floats w0 = load(w), w1 = load(w + lanes);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const Floats v = broadcast(x[r * gemm_words]);
        low[r] = Word::add_product(low[r], v, w0);
        high[r] = Word::add_product(high[r], v, w1);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    float* y = p.y + r * p.y_stride;
    const float* start = p.start + r * p.start_stride;
    store(y, load(start) + low[r]);
    store(y + lanes, load(start + lanes) + high[r]);
  }
}

/// The same for 1 to R rows.
template <class Word, int R>
void multiply(const PanelProduct& p) {
  if constexpr (R > 1) {
    if (p.rows < R) return multiply<Word, R - 1>(p);
  }
  multiply_panel<Word, R>(p);
}
