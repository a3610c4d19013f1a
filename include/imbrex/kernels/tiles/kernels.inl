// An instruction set's entry of the table. Included behind the tiles' bodies inside each region.

/// A panel of `inputs` columns, a whole number of times Numbers, block after block.
template <auto columns, index_t Numbers, index_t Bytes>
void load_panel(const std::byte* w, index_t row_bytes, index_t inputs, float* panel) {
  for (index_t o = 0; o < panel_outputs; o += lanes) {
    const std::byte* block = w + o * row_bytes;
    for (index_t k = 0; k < inputs; k += Numbers, block += Bytes) {
      columns(block, row_bytes, column(panel, k) + o);
    }
  }
}

template <auto columns, Dtype dtype>
inline constexpr LoadPanel load_blocks =
    load_panel<columns, traits(dtype).block, traits(dtype).bytes>;

static_assert(gemm_rows <= gemm_most_rows && panel_outputs <= gemm_most_panel);
static_assert(gemm_rows <= attention_most_rows && attention_panel <= attention_most_panel);
static_assert(dot_rows <= most_dot_rows);

/// Formats without a dot product of their own are decoded first.
inline constexpr Kernels kernels = {
    set_name,
    {stored_dot<StoredF32>, stored_dot<StoredF16>, stored_dot<StoredBF16>, dot_q4_0, dot_q4_1,
     nullptr, nullptr, dot_q8_0, nullptr, nullptr, nullptr, nullptr, nullptr},
    dot_rows,
    {stored_dots<StoredF32>, stored_dots<StoredF16>, stored_dots<StoredBF16>},
    {gemm_rows,
     panel_outputs,
     FloatWord::numbers,
     copy_words<FloatWord>,
     multiply<FloatWord, gemm_rows>,
     {load_panel<columns_f32, 4, 16>, load_panel<columns_f16, 8, 16>,
      load_panel<columns_bf16, 8, 16>, load_blocks<columns_q4_0, Dtype::q4_0>,
      load_blocks<columns_q4_1, Dtype::q4_1>, load_blocks<columns_q5_0, Dtype::q5_0>,
      load_blocks<columns_q5_1, Dtype::q5_1>, load_blocks<columns_q8_0, Dtype::q8_0>,
      load_blocks<columns_q2_k, Dtype::q2_k>, load_blocks<columns_q3_k, Dtype::q3_k>,
      load_blocks<columns_q4_k, Dtype::q4_k>, load_blocks<columns_q5_k, Dtype::q5_k>,
      load_blocks<columns_q6_k, Dtype::q6_k>}},
    {gemm_rows,
     attention_panel,
     {pack_keys<Dtype::f32>, pack_keys<Dtype::f16>, pack_keys<Dtype::bf16>},
     {multiply_attention<Dtype::f32, gemm_rows>, multiply_attention<Dtype::f16, gemm_rows>,
      multiply_attention<Dtype::bf16, gemm_rows>},
     weigh_keys,
     merge_values,
     finish_values},
    elementwise,
    norm,
    softmax,
    rope,
    round_activations,
    rounded_kernels,
    int8_kernels,
    {},
    {},
    {}};
