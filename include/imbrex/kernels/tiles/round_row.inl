// Rows of x for gemm in integers, by sets with vectors of 16 numbers; others have
// round_row_of_blocks.inl. Included behind panel_int8.inl and round_activations.inl inside the
// regions that multiply bytes.

/// Makes of the sums of the groups' q what the micro-kernel takes: where its own sums start, or, of
/// formats with an offset, what that is multiplied by.
template <int Zero, bool Offset>
inline Words group_words(Floats d, Words sums) {
  if constexpr (Offset) return reinterpret_cast<Words>(d * to_floats(sums));
  return sum_start_bits - Zero * sums;
}

/// Rounds blocks, at most `lanes`, by the rule of reference/round_activations.hpp; to sums[h] the
/// sums of q of their halves. Scales are computed for all of them at once, and what is greatest in
/// a vector, and its sum, as well: one after the other that costs two to three times as much.
/// Returns false, and has rounded nothing, where a number is not finite.
inline bool round_blocks(const float* x, index_t blocks, Int8Row& row, Words (&sums)[2]) {
  Words of_block[2][lanes];
  for (index_t i = blocks; i < lanes; ++i) of_block[0][i] = of_block[1][i] = Words{};
#pragma GCC unroll 4
  for (index_t i = 0; i < blocks; ++i) {
    const Words low = reinterpret_cast<Words>(load(x + 32 * i)) & magnitude_bits,
                high = reinterpret_cast<Words>(load(x + 32 * i + 16)) & magnitude_bits;
    of_block[0][i] = greater_words(low, high);
  }
  const Words bits = greatest_of(of_block[0]);
  if (greatest(bits) >= infinity_bits) return false;
  const Floats most = as_floats(bits);
  const Words rounds = bits >= broadcast_word(least_rounded_bits);
  store(row.d, as_floats(reinterpret_cast<Words>(most / broadcast(127)) & rounds));
  float scales[lanes];
  store(scales, as_floats(reinterpret_cast<Words>(broadcast(127) / most) & rounds));
#pragma GCC unroll 4
  for (index_t i = 0; i < blocks; ++i) {
    const Floats scale = broadcast(scales[i]);
    const Words low = rounded_at_most_127(load(x + 32 * i) * scale),
                high = rounded_at_most_127(load(x + 32 * i + 16) * scale);
    store_int8s(row.q + 32 * i, low);
    store_int8s(row.q + 32 * i + 16, high);
    of_block[0][i] = low;
    of_block[1][i] = high;
  }
  sums[0] = sums_of(of_block[0]);
  sums[1] = sums_of(of_block[1]);
  return true;
}

/// Rounds `inputs` numbers, whole blocks of 32 and at most int8_inputs. Group: numbers that share a
/// scale in the weights' format.
template <int Group, int Zero, bool Offset>
void round_row(const float* x, index_t inputs, Int8Row& row) {
  static_assert(lanes == 16 && int8_inputs == 32 * lanes);
  Words sums[2] = {};
  if (!round_blocks(x, inputs / 32, row, sums)) {
    std::int32_t sum[lanes];
    round_activations(x, inputs, {row.q, row.d, sum});
    for (index_t i = 0; i < inputs / 32; ++i) sums[0][i] = sum_of_16(row.q + 32 * i);
    for (index_t i = 0; i < inputs / 32; ++i) sums[1][i] = sum_of_16(row.q + 32 * i + 16);
  }
  const Floats d = load(row.d);
  if constexpr (Group == 32) {
    store_words(row.group, group_words<Zero, Offset>(d, sums[0] + sums[1]));
  } else {
    const Words low = group_words<Zero, Offset>(d, sums[0]),
                high = group_words<Zero, Offset>(d, sums[1]);
    for (index_t i = 0; i < inputs / 32; ++i)
      row.group[2 * i] = low[i], row.group[2 * i + 1] = high[i];
  }
}
