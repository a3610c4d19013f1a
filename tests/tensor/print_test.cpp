#include "imbrex/tensor/print.hpp"

#include <doctest/doctest.h>

#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

TEST_CASE("shapes are printed as in errors") {
  const auto x = zeros<float>(Batch<>(2), Time<>(16), Model<512>());
  CHECK(shape_text(x, "x") == "x[Batch=2, Time=16, Model=512]");
  CHECK(shape_text(x) == "[Batch=2, Time=16, Model=512]");
  CHECK(shape_text(Tensor<float>(Shape<>())) == "[]");
}

TEST_CASE("values are printed in rows") {
  const Tensor<float, Time<2>, Model<3>> x(Shape<Time<2>, Model<3>>(), {1, -2, 0.5f, 10, 0, 100});
  CHECK(to_string(x, "x") ==
        "x[Time=2, Model=3]\n"
        "[[   1.0000   -2.0000    0.5000]\n"
        " [  10.0000    0.0000  100.0000]]");
  CHECK(to_string(transpose(x), "x", {.decimals = 1}) ==
        "x[Model=3, Time=2]\n"
        "[[   1.0   10.0]\n"
        " [  -2.0    0.0]\n"
        " [   0.5  100.0]]");
  CHECK(to_string(Tensor<float>(Shape<>(), {2.0f})) == "[]\n   2.0000");
  CHECK(to_string(zeros<float>(Time<0>())) == "[Time=0]\n[]");
}

TEST_CASE("long axes are cut in the middle") {
  Tensor<float, Model<10>> x{Model<10>()};
  for (index_t i = 0; i < 10; ++i) x(i) = static_cast<float>(i);
  CHECK(to_string(x, "", {.decimals = 0, .edge = 2}) ==
        "[Model=10]\n[    0     1 ...     8     9]");
  CHECK(to_string(x, "", {.decimals = 0, .edge = 5}) ==
        "[Model=10]\n[    0     1     2     3     4     5     6     7     8     9]");
  CHECK(to_string(x, "", {.decimals = 0, .edge = 0}) == "[Model=10]\n[...]");
}

TEST_CASE("integers are printed as such, token ids in columns") {
  const Tensor<std::int32_t, Time<2>, Keys<3>> ids(Shape<Time<2>, Keys<3>>(),
                                                   {1, 128000, -7, 15043, 29892, 1234567});
  CHECK(to_string(ids, "ids") ==
        "ids[Time=2, Keys=3]\n"
        "[[     1 128000     -7]\n"
        " [ 15043  29892 1234567]]");
  const Tensor<index_t, Time<1>> position(Shape<Time<1>>(), {(index_t{1} << 53) + 1});
  CHECK(to_string(position) == "[Time=1]\n[9007199254740993]");
  CHECK(to_string(Tensor<double, Time<1>>(Shape<Time<1>>(), {0.1234567}), "", {.decimals = 7}) ==
        "[Time=1]\n[   0.1234567]");
}
