// exp and tanh of vectors, as attention needs them. Written once over the simd vocabulary and
// included inside each instruction set's region and namespace: no includes, no guard, and nothing
// of the standard library is called.

/// e^x for x <= 0 with a relative error below 2^-22, 1 for 0, 0 below e^-104 (in sets without an
/// instruction for it from e^-86 on) and for -inf; a NaN stays one.
///
/// x = n ln 2 + r with |r| <= ln 2 / 2: n is rounded by adding 1.5 2^23, beyond which floats are
/// whole, and n ln 2 is taken off in two parts. e^r is 1 + c1 r + ... + c5 r^5, with the c that
/// make the largest relative error least: 9.2e-8, or 2^-23.4.
[[gnu::always_inline]] inline Floats exponential(Floats x) {
  x = larger(broadcast(-104.0f), x);
  const Floats whole = broadcast(0x1.8p23f);
  const Floats n = multiply_add(x, broadcast(1.44269504f), whole) - whole;
  Floats r = multiply_add(n, broadcast(-0.693359375f), x);
  r = multiply_add(n, broadcast(2.12194440e-4f), r);
  Floats p = multiply_add(broadcast(8.290288166e-3f), r, broadcast(4.189802226e-2f));
  p = multiply_add(p, r, broadcast(0.1666763710f));
  p = multiply_add(p, r, broadcast(0.4999914885f));
  p = multiply_add(p, r, broadcast(0.9999997068f));
  p = multiply_add(p, r, broadcast(1.0f));
  return times_power_of_two(p, n);
}

/// tanh x: (1 - e) / (1 + e) with e = e^-2|x|, the sign put back; below |x| = 0.35, where 1 - e
/// cancels, its Taylor series to x^11 (the next term is below 2e-8 of the first).
inline Floats hyperbolic_tangent(Floats x) {
  const Floats magnitude = larger(x, -x);
  const Floats e = exponential(-2.0f * magnitude);
  const Floats large = (1.0f - e) / (1.0f + e);
  const Floats s = x * x;
  Floats p = s * (-1382.0f / 155925) + (62.0f / 2835);
  p = p * s + (-17.0f / 315);
  p = p * s + (2.0f / 15);
  p = p * s + (-1.0f / 3);
  const Floats series = x * s * p + x;
  const Floats signed_large = x < 0.0f ? -large : large;
  return magnitude < 0.35f ? series : signed_large;
}
