#include "imbrex/tensor/weight.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "tests/message_of.hpp"

using namespace imbrex;

namespace {

using Dynamic = Weight<Axes<Hidden<>>, Axes<Model<>>>;
using Static = Weight<Axes<Hidden<3>>, Axes<Model<64>>>;

}  // namespace

TEST_CASE("a weight knows its rows, columns and bytes in its dtype") {
  std::vector<std::byte> bytes(3 * 2 * 34);
  const Dynamic w(Hidden<>(3), Model<>(64), Dtype::q8_0, bytes.data(), 3 * 2 * 34, Owner());
  CHECK(bool(w));
  CHECK(w.rows() == 3);
  CHECK(w.cols() == 64);
  CHECK(w.row_bytes() == 2 * 34);
  CHECK(w.bytes() == 3 * 2 * 34);
  CHECK(w.data() == bytes.data());
  CHECK(to_string(w.ref("gate")) == "gate[Hidden=3, Model=64]");

  const Weight<Axes<Heads<2>, HeadDim<4>>, Axes<Model<8>>> q(
      Heads<2>(), HeadDim<4>(), Model<8>(), Dtype::bf16, bytes.data(), 2 * 4 * 8 * 2, Owner());
  CHECK(q.rows() == 8);
  CHECK(q.cols() == 8);
  CHECK_FALSE(bool(Dynamic()));
}

TEST_CASE("bytes that are not the shape's are an error") {
  std::vector<std::byte> bytes(1000);
  const auto weight = [&](index_t rows, index_t cols, Dtype dtype, index_t n) {
    return message_of<ShapeError>(
        [&] { Dynamic(Hidden<>(rows), Model<>(cols), dtype, bytes.data(), n, Owner()); });
  };
  CHECK(weight(3, 64, Dtype::q8_0, 203) ==
        "weight[Hidden=3, Model=64] in Q8_0: expected 204 bytes, got 203 bytes");
  CHECK(weight(3, 48, Dtype::q8_0, 204) ==
        "weight[Hidden=3, Model=48] in Q8_0: expected rows of whole blocks of 32 numbers, "
        "got rows of 48 numbers");
  CHECK(weight(3, 4, Dtype::f32, 12) ==
        "weight[Hidden=3, Model=4] in F32: expected 48 bytes, got 12 bytes");
}

TEST_CASE("a tensor becomes a weight, and lives as long as it is used") {
  Weight<Axes<Hidden<>>, Axes<Model<>>> kept;
  {
    auto x = full(2.0f, Hidden<>(3), Model<>(4));
    const float* data = x.data();
    const Dynamic w(std::move(x));
    CHECK(static_cast<const void*>(w.data()) == data);
    CHECK(w.bytes() == 3 * 4 * 4);
    kept = w;
  }
  float last = 0;
  std::memcpy(&last, kept.data() + kept.bytes() - 4, 4);
  CHECK(last == 2.0f);
}

TEST_CASE("static to dynamic sizes by itself; dynamic to static when asked, and checked") {
  const Dynamic w(zeros<float>(Hidden<>(3), Model<>(64)));
  const Static s(w);
  CHECK(s.data() == w.data());
  CHECK(Dynamic(s).rows() == 3);
  static_assert(std::is_convertible_v<Static, Dynamic> && !std::is_convertible_v<Dynamic, Static>);
  using Mixed = Weight<Axes<Hidden<>>, Axes<Model<64>>>;
  static_assert(std::is_convertible_v<Static, Mixed> && std::is_convertible_v<Mixed, Dynamic>);
  static_assert(!std::is_convertible_v<Mixed, Static>);
  const Dynamic loose = s;
  CHECK(loose.data() == w.data());
  CHECK(to_string(loose.ref("w")) == "w[Hidden=3, Model=64]");
  const Dynamic other(zeros<float>(Hidden<>(3), Model<>(65)));
  CHECK(message_of<ShapeError>([&] { const Static checked(other); }) ==
        "axis Model: expected size 64, got 65");
}

TEST_CASE("an empty weight stays one, between any sizes") {
  CHECK_FALSE(bool(Static(Dynamic())));
  const Dynamic loose = Static();
  CHECK_FALSE(bool(loose));
  CHECK(loose.rows() == 0);
  // One without rows keeps its columns: they are checked like others.
  const Dynamic no_rows(zeros<float>(Hidden<>(0), Model<>(64)));
  using NoRows = Weight<Axes<Hidden<0>>, Axes<Model<64>>>;
  CHECK(NoRows(no_rows).cols() == 64);
  CHECK(message_of<ShapeError>([&] { const Static checked(no_rows); }) ==
        "axis Hidden: expected size 3, got 0");
}

TEST_CASE("a weight in a format that there is not is an error") {
  std::vector<std::byte> bytes(1000);
  CHECK_THROWS_WITH_AS(Dynamic(Hidden<>(3), Model<>(64), Dtype(99), bytes.data(), 0, Owner()),
                       "dtype = 99: expected 0 to 12", ConfigError);
}
