// The inner loops of softmax. Written once over the simd vocabulary and included inside each
// instruction set's region and namespace: no includes, no guard, and nothing of the standard
// library is called.

/// Two vectors at a time: each waits for its last comparison.
inline float largest_number(const float* x, index_t n) {
  const Floats lowest = broadcast(-__builtin_inff());
  Floats even = lowest, odd = lowest;
  index_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    even = larger(load(x + i), even);
    odd = larger(load(x + i + lanes), odd);
  }
  float most = largest(larger(even, odd));
  for (; i < n; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

inline double exponentials(float* y, const float* x, index_t n, float peak) {
  const Floats base = broadcast(peak == -__builtin_inff() ? 0.0f : peak);
  Doubles low{}, high{};
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Floats e = exponential(load(x + i) - base);
    store(y + i, e);
    low = low + low_doubles(e);
    high = high + high_doubles(e);
  }
  double total = sum(low + high);
  if (i < n) store_part(y + i, exponential(load_part(x + i, n - i) - base), n - i);
  for (; i < n; ++i) total += static_cast<double>(y[i]);
  return total;
}

inline constexpr Softmax softmax = {largest_number, exponentials};
