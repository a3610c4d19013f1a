// The micro-kernel of gemm in integers: a few rows of x, rounded to int8, times a panel of weights.
// Included behind panel_int8.inl, and sum_bytes.inl or what a set has in its place, inside the
// regions that multiply bytes.
//
// A tile of y, R rows by two vectors of outputs, is summed up twice: the integer products of a
// group (sum_bytes.inl), then the scaled sums. A group of 32 inputs has 8 steps of four, and then
// for each of the 2 R sums a multiply-add that takes the weights' scale (and the start of the sum
// off) and one for that of x, the tile's sum: 80 % of the multiplier's time is for products of
// bytes where one instruction makes and adds them; 73 % where weights have an offset, and one more
// is needed. R is what the registers hold: 4 R, two of weights, one of x, the scales.

/// R rows. Summed by rising k, whatever R is: a row gives the same bits in any company.
template <int R, int Numbers, int Most, bool Offset>
void multiply_int8_panel(const Int8Product& p) {
  Floats low[R], high[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    low[r] = high[r] = broadcast(0);
    __builtin_prefetch(p.start + r * p.start_stride);
    __builtin_prefetch(p.start + r * p.start_stride + lanes);
  }
  const auto* group = reinterpret_cast<const GroupOf<Numbers, Most>*>(p.panel);
  for (index_t g = 0; g < p.inputs / Numbers; ++g, ++group) {
    Words low_sum[R], high_sum[R];
    sum_bytes<Numbers, Most, Offset>(*group, p.x, g, low_sum, high_sum);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Floats d = broadcast(p.x[r].d[g * Numbers / 32]);
      low[r] = multiply_add(multiply_add(as_floats(low_sum[r]), group->d[0], group->start[0]), d,
                            low[r]);
      high[r] = multiply_add(multiply_add(as_floats(high_sum[r]), group->d[1], group->start[1]), d,
                             high[r]);
      if constexpr (Offset) {
        float sum;
        __builtin_memcpy(&sum, &p.x[r].group[g], sizeof sum);
        low[r] = multiply_add(broadcast(sum), group->m[0], low[r]);
        high[r] = multiply_add(broadcast(sum), group->m[1], high[r]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    float* y = p.y + r * p.y_stride;
    const float* start = p.start + r * p.start_stride;
    store(y, load(start) + low[r]);
    store(y + lanes, load(start + lanes) + high[r]);
  }
}

/// The same for 1 to R rows.
template <int R, int Numbers, int Most, bool Offset>
void multiply_int8(const Int8Product& p) {
  if constexpr (R > 1) {
    if (p.rows < R) return multiply_int8<R - 1, Numbers, Most, Offset>(p);
  }
  multiply_int8_panel<R, Numbers, Most, Offset>(p);
}
