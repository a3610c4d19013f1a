// exp and its kin of vectors. Written once over the simd vocabulary and included inside each
// instruction set's region and namespace: no includes, no guard, and nothing of the standard
// library is called.

/// x = n ln 2 + r for a whole n, with |r| <= ln 2 / 2, from which e^x is 2^n e^r. n is rounded by
/// adding 1.5 2^23, beyond which floats are whole, and n ln 2 is taken off in two parts, the first
/// of which is exact (Cody and Waite 1980).
struct Reduced {
  Floats n, r;
};
[[gnu::always_inline]] inline Reduced reduce(Floats x) {
  const Floats whole = broadcast(0x1.8p23f);
  const Floats n = multiply_add(x, broadcast(1.44269504f), whole) - whole;
  const Floats r = multiply_add(n, broadcast(-0.693359375f), x);
  return {n, multiply_add(n, broadcast(2.12194440e-4f), r)};
}

/// e^x with a relative error below 2^-23, down to the subnormals and up to infinity; 1 for 0, and a
/// NaN stays one. e^r is 1 + r + c2 r^2 + ... + c6 r^6, with the c that make the largest relative
/// error least: 2^-28.
[[gnu::always_inline]] inline Floats exponential(Floats x) {
  x = larger(broadcast(-105.0f), x);                       // e^-105 rounds to 0,
  const Reduced z = reduce(smaller(broadcast(90.0f), x));  // e^90 to infinity
  Floats p = multiply_add(broadcast(1.381452765e-3f), z.r, broadcast(8.368746358e-3f));
  p = multiply_add(p, z.r, broadcast(4.166839113e-2f));
  p = multiply_add(p, z.r, broadcast(0.1666652039f));
  p = multiply_add(p, z.r, broadcast(0.4999999343f));
  p = multiply_add(p, z.r, broadcast(1.0f));
  p = multiply_add(p, z.r, broadcast(1.0f));
  return times_power_of_two(p, z.n);
}

/// The same for x <= 0, as attention weighs keys, whose time it is a part of: with a relative error
/// below 2^-22, and 0 below e^-104 (in sets without an instruction for it from e^-86 on). e^r is 1
/// + c1 r + ... + c5 r^5, with a largest relative error of 9.2e-8, or 2^-23.4.
[[gnu::always_inline]] inline Floats exponential_weight(Floats x) {
  const Reduced z = reduce(larger(broadcast(-104.0f), x));
  Floats p = multiply_add(broadcast(8.290288166e-3f), z.r, broadcast(4.189802226e-2f));
  p = multiply_add(p, z.r, broadcast(0.1666763710f));
  p = multiply_add(p, z.r, broadcast(0.4999914885f));
  p = multiply_add(p, z.r, broadcast(0.9999997068f));
  p = multiply_add(p, z.r, broadcast(1.0f));
  return times_small_power_of_two(p, z.n);
}

/// 1 / (1 + e^-x).
[[gnu::always_inline]] inline Floats sigmoid(Floats x) { return 1.0f / (1.0f + exponential(-x)); }

/// tanh x to 4 * 2^-24 of itself: (1 - e) / (1 + e) with e = e^-2|x|, the sign put back; below |x|
/// = 0.35, where 1 - e cancels, its Taylor series to x^11 (the next term is below 2e-8 of the
/// first).
[[gnu::always_inline]] inline Floats hyperbolic_tangent(Floats x) {
  const Floats magnitude = larger(x, -x);
  const Floats e = exponential(-2.0f * magnitude);
  const Floats large = (1.0f - e) / (1.0f + e);
  const Floats s = x * x;
  Floats p = multiply_add(s, broadcast(-1382.0f / 155925), broadcast(62.0f / 2835));
  p = multiply_add(p, s, broadcast(-17.0f / 315));
  p = multiply_add(p, s, broadcast(2.0f / 15));
  p = multiply_add(p, s, broadcast(-1.0f / 3));
  const Floats series = multiply_add(x * s, p, x);
  const Floats signed_large = x < 0.0f ? -large : large;
  return magnitude < 0.35f ? series : signed_large;
}
