// The entries of gemm in integers. Included behind multiply_int8.inl inside each region that
// multiplies bytes.

/// A format: its blocks' decoder, its numbers that share a scale, the largest of them, and what it
/// has to subtract from a number (Offset: nothing, as the format has an offset of its own).
template <auto bytes, Dtype dtype, int Numbers, int Most, int Zero, bool Offset = false>
inline constexpr Int8Format int8_format = {
    round_row<Numbers, Zero, Offset>, load_int8_panel<bytes, Numbers, Most, dtype>,
    multiply_int8<int8_rows, Numbers, most_that_counts(Most), Offset>};

static_assert(int8_rows <= int8_most_rows && panel_outputs <= int8_most_outputs);
static_assert(sizeof(GroupOf<32, signed_most>) * int8_inputs / 32 <= int8_panel_bytes &&
              sizeof(PanelGroup<16>) * int8_inputs / 16 <= int8_panel_bytes);

inline constexpr Int8Gemm int8_kernels = {
    int8_rows,
    panel_outputs,
    {{},
     {},
     {},
     int8_format<bytes_q4_0, Dtype::q4_0, 32, 15, 8>,
     int8_format<bytes_q4_1, Dtype::q4_1, 32, 15, 0, true>,
     int8_format<bytes_q5_0, Dtype::q5_0, 32, 31, 16>,
     int8_format<bytes_q5_1, Dtype::q5_1, 32, 31, 0, true>,
     int8_format<bytes_q8_0, Dtype::q8_0, 32, signed_most, split_zero>,
     int8_format<bytes_q2_k, Dtype::q2_k, 16, 3, 0, true>,
     int8_format<bytes_q3_k, Dtype::q3_k, 16, 7, 4>,
     int8_format<bytes_q4_k, Dtype::q4_k, 32, 15, 0, true>,
     int8_format<bytes_q5_k, Dtype::q5_k, 32, 31, 0, true>,
     int8_format<bytes_q6_k, Dtype::q6_k, 16, 63, 32>}};
