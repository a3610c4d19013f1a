// Rows of x for gemm in integers, one block of 32 after the other: by sets of whose vectors a block
// has several; others have round_row.inl. Included behind panel_int8.inl and round_activations.inl
// inside the regions that multiply bytes.

/// Makes of the sum of a group's q what the micro-kernel takes: where its own sums start, or, of
/// formats with an offset, what that is multiplied by.
template <int Zero, bool Offset>
inline std::int32_t group_word(float d, std::int32_t sum) {
  if constexpr (!Offset) return sum_start_bits - Zero * sum;
  const float x_sum = d * static_cast<float>(sum);
  std::int32_t bits;
  __builtin_memcpy(&bits, &x_sum, sizeof bits);
  return bits;
}

/// Rounds `inputs` numbers, whole blocks of 32 and at most int8_inputs. Group: numbers that share a
/// scale in the weights' format.
template <int Group, int Zero, bool Offset>
void round_row(const float* x, index_t inputs, Int8Row& row) {
  std::int32_t sums[int8_inputs / 32];
  round_activations(x, inputs, {row.q, row.d, sums});
  for (index_t g = 0; g < inputs / Group; ++g) {
    const std::int32_t sum = Group == 32 ? sums[g] : sum_of_16(row.q + Group * g);
    row.group[g] = group_word<Zero, Offset>(row.d[g * Group / 32], sum);
  }
}
