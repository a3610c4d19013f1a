// The inner loops of RoPE. Written once over the simd vocabulary and included inside each
// instruction set's region and namespace: no includes, no guard, and nothing of the standard
// library is called.

struct SineCosine {
  Doubles sine, cosine;
};

/// Of |x| < 2^24, to about 2^-45: x = n pi/2 + r with |r| <= pi/4 (and a last digit), both by their
/// Taylor series to r^14, and n mod 4 says which is which and what its sign is. n is rounded by
/// adding 1.5 2^52, beyond which doubles are whole: its lowest bits are then the sum's. pi/2 is
/// taken off in three parts, the first two with 29 bits, whose products with n are exact.
[[gnu::always_inline]] inline SineCosine sine_cosine(Doubles x) {
  const Doubles whole = broadcast_double(0x1.8p52);
  const Doubles shifted = multiply_add(x, broadcast_double(0.6366197723675814), whole);
  const Doubles n = shifted - whole;
  Doubles r = multiply_add(n, broadcast_double(-0x1.921fb54p+0), x);
  r = multiply_add(n, broadcast_double(-0x1.10b4611p-30), r);
  r = multiply_add(n, broadcast_double(-0x1.4c4c6628b80dcp-59), r);
  const Doubles s = r * r;
  Doubles sine = broadcast_double(1.0 / 6227020800);
  sine = multiply_add(sine, s, broadcast_double(-1.0 / 39916800));
  sine = multiply_add(sine, s, broadcast_double(1.0 / 362880));
  sine = multiply_add(sine, s, broadcast_double(-1.0 / 5040));
  sine = multiply_add(sine, s, broadcast_double(1.0 / 120));
  sine = multiply_add(sine, s, broadcast_double(-1.0 / 6));
  sine = multiply_add(sine * s, r, r);
  Doubles cosine = broadcast_double(-1.0 / 87178291200);
  cosine = multiply_add(cosine, s, broadcast_double(1.0 / 479001600));
  cosine = multiply_add(cosine, s, broadcast_double(-1.0 / 3628800));
  cosine = multiply_add(cosine, s, broadcast_double(1.0 / 40320));
  cosine = multiply_add(cosine, s, broadcast_double(-1.0 / 720));
  cosine = multiply_add(cosine, s, broadcast_double(1.0 / 24));
  cosine = multiply_add(cosine, s, broadcast_double(-0.5));
  cosine = multiply_add(cosine, s, broadcast_double(1));
  const Longs quarter = reinterpret_cast<Longs>(shifted);
  const Longs odd = -(quarter & 1);
  const Longs a = reinterpret_cast<Longs>(sine), b = reinterpret_cast<Longs>(cosine);
  const Longs other = (a ^ b) & odd;  // exchanges the two
  const Longs sine_sign = (quarter & 2) << 62, cosine_sign = ((quarter + 1) & 2) << 62;
  return {reinterpret_cast<Doubles>(a ^ other ^ sine_sign),
          reinterpret_cast<Doubles>(b ^ other ^ cosine_sign)};
}

template <RopePairs pairs>
void find_turns(Turns& turns, double position, const float* frequencies, index_t count,
                float magnitude) {
  for (index_t k = 0; k < count; k += lanes) {
    const Floats f =
        k + lanes <= count ? load(frequencies + k) : load_part(frequencies + k, count - k);
    const SineCosine low = sine_cosine(low_doubles(f) * position),
                     high = sine_cosine(high_doubles(f) * position);
    const Floats cosine = to_floats(low.cosine, high.cosine) * magnitude,
                 sine = to_floats(low.sine, high.sine) * magnitude;
    if constexpr (pairs == RopePairs::half) {
      store(turns.cosines + k, cosine);
      store(turns.sines + k, sine);
    } else {
      store_interleaved(turns.cosines + 2 * k, cosine, cosine);
      store_interleaved(turns.sines + 2 * k, -sine, sine);
    }
  }
}

/// Pairs (i, i + count).
inline void turn_halves(const TurnedHeads& h, const Turns& turns) {
  for (index_t head = 0; head < h.heads; ++head) {
    float *x = h.x + head * h.head_stride, *y = x + h.second;
    const float *cosines = turns.cosines, *sines = turns.sines;
    index_t k = 0;
    for (; k + lanes <= h.count; k += lanes) {
      const Floats a = load(x + k), b = load(y + k), c = load(cosines + k), s = load(sines + k);
      store(x + k, multiply_add(a, c, -(b * s)));
      store(y + k, multiply_add(b, c, a * s));
    }
    if (k == h.count) continue;
    const index_t n = h.count - k;
    const Floats a = load_part(x + k, n), b = load_part(y + k, n);
    const Floats c = load(cosines + k), s = load(sines + k);
    store_part(x + k, multiply_add(a, c, -(b * s)), n);
    store_part(y + k, multiply_add(b, c, a * s), n);
  }
}

/// Pairs (2i, 2i + 1).
struct TurnedPair {
  [[gnu::always_inline]] Floats operator()(Floats x, Floats cosine, Floats sine) const {
    return multiply_add(x, cosine, swap_pairs(x) * sine);
  }
};
inline void turn_interleaved(const TurnedHeads& h, const Turns& turns) {
  for (index_t head = 0; head < h.heads; ++head) {
    float* x = h.x + head * h.head_stride;
    map(2 * h.count, x, TurnedPair{}, x, turns.cosines, turns.sines);
  }
}

inline constexpr Rope rope = {{find_turns<RopePairs::interleaved>, find_turns<RopePairs::half>},
                              {turn_interleaved, turn_halves}};
