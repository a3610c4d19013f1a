#include "imbrex/layers/random_weight.hpp"

#include <doctest/doctest.h>

#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

TEST_CASE("random_linear: the same numbers with sizes known to the compiler and given") {
  Random a(1), b(1);
  const auto fixed = random_linear<Model<6>, Axes<Heads<2>, HeadDim<4>>>(a, "q");
  const auto given = random_linear<Model<>, Axes<Heads<>, HeadDim<>>>(
      Shape<Heads<>, HeadDim<>>(Heads<>(2), HeadDim<>(4)), Shape<Model<>>(Model<>(6)), b, "q");
  CHECK(fixed.path() == "q");
  const Tensor<float, Time<>, Model<6>> x = normal(a, Time<>(3), Model<6>());
  CHECK(different_bits(elements(fixed(x)), elements(given(x))) == "");
}

TEST_CASE("random_weight: normal numbers with variance 1 / inputs") {
  Random random(2);
  const auto w = random_weight<Axes<Hidden<400>>, Axes<Model<100>>>({}, {}, random);
  const float* numbers = reinterpret_cast<const float*>(w.data());
  double sum = 0, squares = 0;
  for (index_t i = 0; i < 40000; ++i) {
    sum += static_cast<double>(numbers[i]);
    squares += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
  }
  // The standard errors are 0.1 / 200 of the mean and 0.01 sqrt(2) / 200 of the variance: 5 of
  // each.
  CHECK(std::abs(sum / 40000) < 5 * 0.1 / 200);
  CHECK(std::abs(squares / 40000 - 0.01) < 5 * 0.01 * 1.5 / 200);
}
