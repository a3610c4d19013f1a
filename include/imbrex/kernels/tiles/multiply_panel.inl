// The micro-kernel of gemm: a few rows of x times a panel of weights. Written once over the simd
// vocabulary and included inside each instruction set's region and namespace: no includes, no
// guard, and nothing of the standard library is called.
//
// A tile of y, R rows by two vectors of outputs, stays in registers while k passes. A step of k
// loads 2 vectors of weights and R numbers of x for 2 R multiply-adds. At two of these and two
// loads a cycle the loads hide behind the arithmetic from R = 2 on, and from R = 4 on there are the
// 8 sums that a multiply-add of latency 4 wants; gemm_rows is what the registers hold beside the
// operands. That leaves load and store units idle most of the time: the copy of the next rows of x
// fills them.

/// Outputs of a panel.
inline constexpr index_t panel_outputs = 2 * lanes;

/// Part [k, k + lanes) of the copy of the next R rows.
template <int R>
[[gnu::always_inline]] inline void copy_next(const PanelProduct& p, index_t k) {
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    store(p.next_x + r * gemm_inputs + k, load(p.next + r * p.next_stride + k));
  }
}

/// R rows. Summed by rising k, from zero, whatever R is: a row gives the same bits in any company.
template <int R>
void multiply_panel(const PanelProduct& p) {
  Floats low[R], high[R];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    low[r] = high[r] = broadcast(0);
    __builtin_prefetch(p.start + r * p.start_stride);
    __builtin_prefetch(p.start + r * p.start_stride + lanes);
  }
  const float *x = p.x, *w = p.panel;
  for (index_t k = 0; k < p.inputs;) {
    if (p.next != nullptr) copy_next<R>(p, k);
    const index_t last = lesser(p.inputs, k + lanes);
    for (; k < last; ++k, ++x, w += panel_outputs) {
      const Floats w0 = load(w), w1 = load(w + lanes);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const Floats v = broadcast(x[r * gemm_inputs]);
        low[r] = multiply_add(v, w0, low[r]);
        high[r] = multiply_add(v, w1, high[r]);
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
template <int R>
void multiply(const PanelProduct& p) {
  if constexpr (R > 1) {
    if (p.rows < R) return multiply<R - 1>(p);
  }
  multiply_panel<R>(p);
}
