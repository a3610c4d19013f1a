// VDPBF16PS in plain loops over the scalar vocabulary, as Intel's SDM (volume 2) has its operation:
// the product of a word's upper numbers is added to the sum by a fused multiply-add, then that of
// the lower ones; subnormal numbers are zeros as operands and as results.

inline Floats multiply_add_pairs(Floats a, Floats b, Floats c) {
  for (int i = 0; i < lanes; ++i) {
    const float lane_a = a[i], lane_b = b[i];
    bf16 x[2], w[2];
    __builtin_memcpy(x, &lane_a, sizeof x);
    __builtin_memcpy(w, &lane_b, sizeof w);
    float sum = flushed(c[i]);
    for (int j = 1; j >= 0; --j) {
      sum = flushed(__builtin_fmaf(flushed(to_float(x[j])), flushed(to_float(w[j])), sum));
    }
    c[i] = sum;
  }
  return c;
}
