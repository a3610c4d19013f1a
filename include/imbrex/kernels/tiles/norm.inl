// The inner loops of norms. Written once over the simd vocabulary and included inside each
// instruction set's region and namespace: no includes, no guard, and nothing of the standard
// library is called.

/// sum + the number, its square, or its squared distance from the centre.
struct Number {
  template <class T>
  [[gnu::always_inline]] T operator()(T x, T sum) const {
    return sum + x;
  }
};
struct Square {
  [[gnu::always_inline]] Doubles operator()(Doubles x, Doubles sum) const {
    return multiply_add(x, x, sum);
  }
  [[gnu::always_inline]] double operator()(double x, double sum) const { return sum + x * x; }
};
struct SquaredDistance {
  double centre;
  [[gnu::always_inline]] Doubles operator()(Doubles x, Doubles sum) const {
    const Doubles distance = x - centre;
    return multiply_add(distance, distance, sum);
  }
  [[gnu::always_inline]] double operator()(double x, double sum) const {
    return sum + (x - centre) * (x - centre);
  }
};

/// The sum of a term of each number, in double: in four vectors, as many as hide an addition's
/// latency.
template <class Add>
[[gnu::always_inline]] inline double sum_in_double(const float* x, index_t n, Add add) {
  Doubles sums[4] = {};
  index_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const Floats a = load(x + i), b = load(x + i + lanes);
    sums[0] = add(low_doubles(a), sums[0]);
    sums[1] = add(high_doubles(a), sums[1]);
    sums[2] = add(low_doubles(b), sums[2]);
    sums[3] = add(high_doubles(b), sums[3]);
  }
  double total = sum((sums[0] + sums[2]) + (sums[1] + sums[3]));
  for (; i < n; ++i) total = add(static_cast<double>(x[i]), total);
  return total;
}

inline double sum_of_numbers(const float* x, index_t n) { return sum_in_double(x, n, Number{}); }

inline double sum_of_squares(const float* x, index_t n, double centre) {
  if (centre == 0) return sum_in_double(x, n, Square{});  // RMSNorm's
  return sum_in_double(x, n, SquaredDistance{centre});
}

struct Normed {
  float centre, factor, offset;
  [[gnu::always_inline]] Floats operator()(Floats x, Floats weight) const {
    return (x - centre) * factor * (weight + offset);
  }
  [[gnu::always_inline]] Floats operator()(Floats x, Floats weight, Floats bias) const {
    return multiply_add((x - centre) * factor, weight + offset, bias);
  }
};

inline void apply_norm(const NormedRow& row) {
  const Normed normed{row.centre, row.factor, row.offset};
  if (row.bias == nullptr) return map(row.n, row.y, normed, row.x, row.weight);
  map(row.n, row.y, normed, row.x, row.weight, row.bias);
}

inline constexpr Norm norm = {sum_of_numbers, sum_of_squares, apply_norm};
