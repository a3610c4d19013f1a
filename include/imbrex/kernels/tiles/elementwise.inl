// Operations that take each number of a row by itself: non-linear functions, alone and as gates,
// sums, scales and caps. Written once over the simd vocabulary and included inside each instruction
// set's region and namespace: no includes, no guard, and nothing of the standard library is called.

/// y[i] = f(x[i], ...), a vector at a time; y may be any x. An element's value does not depend on
/// where in the row it stands.
template <class F, class... X>
[[gnu::always_inline]] inline void map(index_t n, float* y, F f, const X*... x) {
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) store(y + i, f(load(x + i)...));
  if (i < n) store_part(y + i, f(load_part(x + i, n - i)...), n - i);
}

/// x s, where s is a sigmoid that has reached 0 long before x = -128: there it is -128 s, so that
/// -inf gives its limit 0 and not -inf * 0.
[[gnu::always_inline]] inline Floats weigh(Floats x, Floats s) {
  return larger(broadcast(-128.0f), x) * s;
}

struct Silu {
  [[gnu::always_inline]] Floats operator()(Floats x) const { return weigh(x, sigmoid(x)); }
};

/// x Phi(x), and Phi(-t) = e^(-t^2/2) q(w) with w = 1 / (1 + 0.35 t) for t >= 0. q is the
/// polynomial of degree 9 without a constant term whose largest relative error up to t = 14.2,
/// beyond which Phi is 0 in floats, is least: 2^-24. For x > 0 it is 1 - Phi(-x) that x is
/// multiplied with: what cancels is small.
struct Gelu {
  [[gnu::always_inline]] Floats operator()(Floats x) const {
    const Floats t = larger(x, -x);
    const Floats w = 1.0f / multiply_add(t, broadcast(0.35f), broadcast(1.0f));
    Floats q = multiply_add(broadcast(-2.915156340e-2f), w, broadcast(0.1439995981f));
    q = multiply_add(q, w, broadcast(-0.2557730201f));
    q = multiply_add(q, w, broadcast(0.1592427137f));
    q = multiply_add(q, w, broadcast(-2.315812621e-2f));
    q = multiply_add(q, w, broadcast(0.1055289669f));
    q = multiply_add(q, w, broadcast(0.1198274113f));
    q = multiply_add(q, w, broadcast(0.1398626454f));
    q = multiply_add(q, w, broadcast(0.1396213583f));
    const Floats tail = exponential(-0.5f * t * t) * (q * w);
    return weigh(x, x < 0.0f ? tail : 1.0f - tail);
  }
};

/// (x/2) (1 + tanh u) = x sigmoid(2u) with u = sqrt(2/pi) (x + 0.044715 x^3): the second form does
/// not cancel for negative x.
struct GeluTanh {
  [[gnu::always_inline]] Floats operator()(Floats x) const {
    const Floats cube = multiply_add(0.044715f * x * x, x, x);
    return weigh(x, sigmoid(1.595769122f * cube));
  }
};

struct Relu {
  [[gnu::always_inline]] Floats operator()(Floats x) const { return larger(broadcast(0), x); }
};

/// f(g) u.
template <class F>
struct Gate {
  [[gnu::always_inline]] Floats operator()(Floats g, Floats u) const { return u * F{}(g); }
};

struct Sum {
  [[gnu::always_inline]] Floats operator()(Floats a, Floats b) const { return a + b; }
};

struct Scaled {
  float factor;
  [[gnu::always_inline]] Floats operator()(Floats x) const { return x * factor; }
};

struct SoftCap {
  float cap;
  [[gnu::always_inline]] Floats operator()(Floats x) const {
    return cap * hyperbolic_tangent(x / cap);
  }
};

template <class F>
void map_row(float* y, const float* x, index_t n) {
  map(n, y, F{}, x);
}

template <class F>
void map_rows(float* y, const float* a, const float* b, index_t n) {
  map(n, y, F{}, a, b);
}

template <class F>
void map_row_by(float* y, const float* x, index_t n, float by) {
  map(n, y, F{by}, x);
}

inline constexpr Elementwise elementwise = {
    {map_row<Silu>, map_row<Gelu>, map_row<GeluTanh>, map_row<Relu>},
    {map_rows<Gate<Silu>>, map_rows<Gate<Gelu>>, map_rows<Gate<GeluTanh>>, map_rows<Gate<Relu>>},
    map_rows<Sum>,
    map_row_by<Scaled>,
    map_row_by<SoftCap>};
