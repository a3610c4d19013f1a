// The product of a prompt's rows with a stored matrix, for each format: FLOP a second, to be held
// against the machine's FMA peak. Matrices are those of some models, another one each time
// (together more than the caches hold), as in a model's pass:
//
//     smollm2_k       [192, 576]       tinyllama_q     [2048, 2048]
//     smollm2_gate    [1536, 576]      tinyllama_gate  [5632, 2048]
//     smollm2_down    [576, 1536]      llama2_q        [4096, 4096]
//
// Formats whose blocks of 256 do not divide a row are left out there, as files do.
//
// Quantised formats are timed in f32, and, where the instruction set multiplies bytes, in int8:
// hold these against `vnni_int8` of bench_machine. So is BF16 where the processor gains by pairs of
// bf16, under the name of the same arithmetic (`bf16_pairs`). With IMBREX_ISA=amx all these are in
// bf16 tiles instead, under the same names, for `amx_bf16`. 16 rows of quantised formats are gemv's,
// in int8 on every set.
//
//   bench_matmul --benchmark_filter='tinyllama_gate/(F32|Q4_0)/'
#include "imbrex/kernels/matmul.hpp"
#include "bench/stored.hpp"

using namespace imbrex;

namespace {

struct Shape {
  const char* name;
  index_t outputs, inputs;
};

constexpr Shape shapes[] = {{"smollm2_k", 192, 576},        {"smollm2_gate", 1536, 576},
                            {"smollm2_down", 576, 1536},    {"tinyllama_q", 2048, 2048},
                            {"tinyllama_gate", 5632, 2048}, {"llama2_q", 4096, 4096}};

void time_matmul(benchmark::State& state, Dtype dtype, const Shape& shape, index_t rows,
                 Arithmetic arithmetic) {
  const Arithmetic before = active_arithmetic();
  use_arithmetic(arithmetic);
  bench::time_product(
      state, rows, bench::Matrices(dtype, shape.outputs, shape.inputs),
      [](kernels::Rows y, kernels::ConstRows x, const kernels::Matrix& w) {
        kernels::matmul(y, x, w);
      },
      arithmetic);
  use_arithmetic(before);
}

void add_all() {
  for (const Shape& shape : shapes) {
    for (int d = 0; d < dtype_count; ++d) {
      const Dtype dtype = static_cast<Dtype>(d);
      if (row_bytes(dtype, shape.inputs) < 0) continue;
      for (const index_t rows : {16, 64, 512}) {
        for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::int8}) {
          const bool in_int8 = arithmetic == Arithmetic::int8;
          if (in_int8 && kernels::many_rows(kernels::active_kernels(), Arithmetic::int8, dtype) ==
                             kernels::ManyRows::f32)
            continue;
          bench::add(
              std::string(shape.name) + "/" + name(dtype) + (in_int8 ? "/int8" : "") +
                  "/rows:" + std::to_string(rows),
              [=](benchmark::State& state) { time_matmul(state, dtype, shape, rows, arithmetic); });
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
