// Every dot product of the table, of every instruction set that the machine has.
#include "imbrex/kernels/arch/table.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "imbrex/kernels/arch/sets.hpp"
#include "imbrex/kernels/quant/decode.hpp"
#include "imbrex/kernels/quant/encode.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/instruction_sets.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::Dot, kernels::Kernels;

// Known to the compiler: nothing of the table is made while a program starts.
constinit const Kernels copies[] = {
#if defined(__x86_64__)
    kernels::arch::avx2::kernels,        kernels::arch::avx512::kernels,
    kernels::arch::avx512_vnni::kernels, kernels::arch::avx512_bf16::kernels,
    kernels::arch::amx::kernels,
#elif defined(__aarch64__)
    kernels::arch::neon::kernels, kernels::arch::neon_dotprod::kernels,
#endif
    kernels::arch::scalar::kernels};

namespace {

constexpr Dtype dotted[] = {Dtype::f32,  Dtype::f16,  Dtype::bf16,
                            Dtype::q4_0, Dtype::q4_1, Dtype::q8_0};

/// A stored row and a row of x, both against pages that may not be read.
class Rows {
 public:
  Rows(Dtype dtype, const std::vector<float>& w, const std::vector<float>& x)
      : dtype_(dtype),
        n_(static_cast<index_t>(w.size())),
        w_(static_cast<std::size_t>(row_bytes(dtype, n_))),
        x_(x.size() * sizeof(float)),
        decoded_(w.size()) {
    kernels::encode(dtype, w.data(), n_, w_.data());
    kernels::decode(dtype, w_.data(), n_, decoded_.data());
    if (n_ > 0) std::memcpy(x_.data(), x.data(), x.size() * sizeof(float));
  }

  const std::byte* w() const { return w_.data(); }
  float* x() const { return reinterpret_cast<float*>(x_.data()); }
  const std::vector<float>& decoded() const { return decoded_; }

  float by(const Kernels& kernels) const {
    return kernels.dot[static_cast<int>(dtype_)](w(), x(), n_);
  }

  /// The sum of w[i] x[i] by a plain loop over the decoded weights, in double.
  double expected() const {
    double sum = 0;
    for (std::size_t i = 0; i < decoded_.size(); ++i) sum += double{decoded_[i]} * double{x()[i]};
    return sum;
  }
  double magnitude() const {
    double sum = 0;
    for (std::size_t i = 0; i < decoded_.size(); ++i) {
      sum += std::abs(double{decoded_[i]} * double{x()[i]});
    }
    return sum;
  }

 private:
  Dtype dtype_;
  index_t n_;
  GuardedBytes w_, x_;
  std::vector<float> decoded_;
};

/// The lengths to try: for numbers one by one every length up to two of the widest main loops and
/// one more (4 sums of 16 lanes), and longer ones; for blocks 1 to 9 of them, and many.
std::vector<index_t> lengths(Dtype dtype) {
  std::vector<index_t> result;
  if (traits(dtype).block == 1) {
    for (index_t n = 0; n <= 2 * 4 * 16 + 1; ++n) result.push_back(n);
    for (const index_t n : {255, 577, 4099}) result.push_back(n);
  } else {
    for (index_t blocks = 0; blocks <= 9; ++blocks) result.push_back(32 * blocks);
    for (const index_t blocks : {18, 43, 128}) result.push_back(32 * blocks);
  }
  return result;
}

/// Roundings that a term may go through, times 2^-24 sum |w x| the bound of the error. Numbers one
/// by one: a product, then the additions of one of at least 8 interleaved sums (2 sums of 4 lanes
/// in the worst set and format) with up to 3 vectors and one part more at its end. Blocks:
/// likewise, or within the block and then one a block. Then at most 2 + 4 additions of sums and
/// lanes.
double roundings(index_t n) { return static_cast<double>(n) / 8 + 1 + 4 + 6; }

}  // namespace

TEST_CASE("the table has an entry for every set, by the name that IMBREX_ISA asks for") {
  for (const Isa isa : available_sets()) {
    CHECK(std::string(kernels::kernels_of(isa).name) == name(isa));
    for (const Isa other : available_sets()) {
      if (isa == other) continue;
      for (const Dtype dtype : dotted) {
        const bool same = kernels::kernels_of(isa).dot[static_cast<int>(dtype)] ==
                          kernels::kernels_of(other).dot[static_cast<int>(dtype)];
        const auto is_avx512 = [](Isa i) { return i == Isa::avx512 || i == Isa::amx; };
        CHECK(same == (is_avx512(isa) && is_avx512(other)));  // amx adds products of tiles
      }
    }
  }
  CHECK(std::string(copies[std::size(copies) - 1].name) == "scalar");
}

TEST_CASE("dot: formats have their own function, or none") {
  for (const Isa isa : available_sets()) {
    for (int d = 0; d < dtype_count; ++d) {
      bool own = false;
      for (const Dtype dtype : dotted) own = own || d == static_cast<int>(dtype);
      CHECK((kernels::kernels_of(isa).dot[d] != nullptr) == own);
    }
  }
}

// x = (0, .., 1, .., 0) picks one weight: all but one term are zero, so that the sum is exactly
// that weight, scaled as the format's decoder scales it. No weight is lost, none taken twice or
// misplaced.
TEST_CASE("dot: with a unit vector it is the decoded weight, exactly") {
  for (const Isa isa : available_sets()) {
    const Kernels& kernels = kernels::kernels_of(isa);
    for (const Dtype dtype : dotted) {
      for (const index_t n : lengths(dtype)) {
        if (n > 300) continue;
        const Rows rows(dtype, uniform(n, 1 + static_cast<std::uint64_t>(n)),
                        std::vector<float>(static_cast<std::size_t>(n)));
        CAPTURE(kernels.name);
        CAPTURE(std::string(name(dtype)));
        CAPTURE(n);
        index_t wrong = 0;
        for (index_t i = 0; i < n; ++i) {
          rows.x()[i] = 1;
          if (rows.by(kernels) != rows.decoded()[static_cast<std::size_t>(i)]) ++wrong;
          rows.x()[i] = 0;
        }
        CHECK(wrong == 0);
        CHECK(rows.by(kernels) == 0);
      }
    }
  }
}

// Sums of small integers are exact in every order.
TEST_CASE("dot: integers come out exactly at every length") {
  Random random(2);
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::q8_0}) {
    for (const index_t n : lengths(dtype)) {
      std::vector<float> w(static_cast<std::size_t>(n)), x = w;
      for (std::size_t i = 0; i < w.size(); ++i) {
        // The first of each block is 127: then Q8_0's scale is 1.
        w[i] = i % 32 == 0 ? 127.0f : static_cast<float>(random() % 255) - 127;
        x[i] = static_cast<float>(random() % 9) - 4;
      }
      const Rows rows(dtype, w, x);
      CHECK(rows.decoded() == w);
      for (const Isa isa : available_sets()) {
        CAPTURE(std::string(name(isa)));
        CAPTURE(std::string(name(dtype)));
        CAPTURE(n);
        CHECK(double{rows.by(kernels::kernels_of(isa))} == rows.expected());
      }
    }
  }
}

TEST_CASE("dot: random numbers, within the bound of the sum's length") {
  for (const Dtype dtype : dotted) {
    for (const index_t n : lengths(dtype)) {
      const Rows rows(dtype, uniform(n, 3), uniform(n, 4 + static_cast<std::uint64_t>(n)));
      const double allowed = roundings(n) * unit_roundoff * rows.magnitude();
      for (const Isa isa : available_sets()) {
        CAPTURE(std::string(name(isa)));
        CAPTURE(std::string(name(dtype)));
        CAPTURE(n);
        const double got = double{rows.by(kernels::kernels_of(isa))};
        CAPTURE(got);
        CAPTURE(rows.expected());
        CAPTURE(allowed);
        CHECK(std::abs(got - rows.expected()) <= allowed);
      }
    }
  }
}

TEST_CASE("dot: the bits do not depend on where the row lies") {
  for (const Dtype dtype : dotted) {
    const index_t n = traits(dtype).block == 1 ? 101 : 96;
    const Rows rows(dtype, uniform(n, 5), uniform(n, 6));
    const std::size_t bytes = static_cast<std::size_t>(row_bytes(dtype, n));
    for (const Isa isa : available_sets()) {
      const Kernels& kernels = kernels::kernels_of(isa);
      for (std::size_t offset = 0; offset < 65; ++offset) {
        std::vector<std::byte> moved(offset + bytes);
        std::memcpy(moved.data() + offset, rows.w(), bytes);
        const float got = kernels.dot[static_cast<int>(dtype)](moved.data() + offset, rows.x(), n);
        CHECK(different_bits({got}, {rows.by(kernels)}) == "");
      }
    }
  }
}

TEST_CASE("dot: infinities and NaN come through, also in the last part") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Isa isa : available_sets()) {
    const Kernels& kernels = kernels::kernels_of(isa);
    for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
      for (const index_t n : {1, 7, 17, 129}) {
        std::vector<float> w(static_cast<std::size_t>(n), 1.0f), x = w;
        w.back() = infinity;
        CHECK(Rows(dtype, w, x).by(kernels) == infinity);
        w.back() = std::numeric_limits<float>::quiet_NaN();
        CHECK(std::isnan(Rows(dtype, w, x).by(kernels)));
        w.back() = 1;
        x.back() = -infinity;
        CHECK(Rows(dtype, w, x).by(kernels) == -infinity);
      }
    }
  }
}

// A panel has the weights of Gemm::outputs rows as their decoder has them. Stored rows end at a
// page that may not be read, and the panel at one that may not be written; rows lie at odd
// addresses.
TEST_CASE("panels: the decoded weights, transposed, bit for bit, of every format on every set") {
  for (const Isa isa : available_sets()) {
    const kernels::Gemm& gemm = kernels::kernels_of(isa).gemm;
    for (int d = 0; d < dtype_count; ++d) {
      const Dtype dtype = static_cast<Dtype>(d);
      for (const index_t inputs : {8, 24, 32, 64, 200, 256}) {
        if (inputs % traits(dtype).block != 0) continue;
        const index_t bytes = row_bytes(dtype, inputs), distance = bytes + 3;
        const index_t size = (gemm.outputs - 1) * distance + bytes;
        const GuardedBytes stored(static_cast<std::size_t>(size));
        const std::size_t numbers = static_cast<std::size_t>(inputs * gemm.outputs);
        const GuardedBytes panel(numbers * sizeof(float));
        Random random(7);
        for (index_t i = 0; i < size; ++i) {
          stored.data()[i] = static_cast<std::byte>(random() & 0xBFu);  // halves are finite
        }
        gemm.load[d](stored.data(), distance, inputs, reinterpret_cast<float*>(panel.data()));
        std::vector<float> row(static_cast<std::size_t>(inputs)), expected(numbers), got(numbers);
        for (index_t o = 0; o < gemm.outputs; ++o) {
          kernels::decode(dtype, stored.data() + o * distance, inputs, row.data());
          for (index_t k = 0; k < inputs; ++k) {
            expected[static_cast<std::size_t>(k * gemm.outputs + o)] =
                row[static_cast<std::size_t>(k)];
          }
        }
        std::memcpy(got.data(), panel.data(), numbers * sizeof(float));
        CAPTURE(std::string(name(isa)));
        CAPTURE(std::string(name(dtype)));
        CAPTURE(inputs);
        CHECK(different_bits(got, expected) == "");
      }
    }
  }
}

TEST_CASE("panels: infinities, NaN, zeros and subnormals of halves come through") {
  for (const Isa isa : available_sets()) {
    const kernels::Gemm& gemm = kernels::kernels_of(isa).gemm;
    for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
      const std::uint16_t odd[8] = {0x7C00, 0xFC00, 0x7E00, 0x0000, 0x8000, 0x0001, 0x83FF, 0x7F80};
      std::vector<std::uint16_t> stored;
      for (index_t o = 0; o < gemm.outputs; ++o) stored.insert(stored.end(), odd, odd + 8);
      std::vector<float> panel(static_cast<std::size_t>(8 * gemm.outputs));
      const auto* bytes = reinterpret_cast<const std::byte*>(stored.data());
      gemm.load[static_cast<int>(dtype)](bytes, 16, 8, panel.data());
      std::vector<float> expected;
      for (const std::uint16_t bits : odd) {
        const float v = dtype == Dtype::f16 ? to_float(f16{bits}) : to_float(bf16{bits});
        expected.insert(expected.end(), static_cast<std::size_t>(gemm.outputs), v);
      }
      CHECK(different_bits(panel, expected) == "");
    }
  }
}
