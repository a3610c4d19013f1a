// Tensors and views as Eigen's, and back: the same elements, at the same addresses.
#include "imbrex/interop/eigen.hpp"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "imbrex/base/token.hpp"
#include "imbrex/layers/linear.hpp"
#include "imbrex/tensor.hpp"
#include "tests/message_of.hpp"

using namespace imbrex;

namespace {

/// 0, 1, 2, ... in memory order.
template <class T = float, class... As>
Tensor<T, As...> counted(As... axes_of) {
  Tensor<T, As...> x(axes_of...);
  for (index_t i = 0; i < x.count(); ++i) x.data()[i] = static_cast<T>(i);
  return x;
}

template <class M>
using scalar_of = std::remove_pointer_t<decltype(std::declval<M&>().data())>;

}  // namespace

TEST_CASE("as_eigen: a matrix is itself, row-major, and not a copy") {
  auto x = counted(Time<>(2), Model<3>());
  auto m = as_eigen(x);
  static_assert(std::is_same_v<decltype(m), Eigen::Map<Eigen::Matrix<float, -1, -1, 1>>>);
  REQUIRE(m.rows() == 2);
  REQUIRE(m.cols() == 3);
  CHECK(m.data() == x.data());
  CHECK(m(1, 0) == 3);
  m(1, 2) = 50;
  CHECK(x(1, 2) == 50);
  m *= 2.0f;
  CHECK(x(0, 1) == 2);
}

TEST_CASE("as_eigen: one axis is a column vector") {
  auto v = counted(Model<3>());
  static_assert(decltype(as_eigen(v))::ColsAtCompileTime == 1);
  CHECK(as_eigen(v).squaredNorm() == 5);  // 0 + 1 + 4
  const auto x = counted(Time<>(4), Model<3>());
  View<const float, Time<>> column(x.data() + 1, Shape<Time<>>(Time<>(4)),
                                   std::vector<index_t>{3}.data());
  CHECK(as_eigen(column).sum() == 1 + 4 + 7 + 10);
}

TEST_CASE("as_eigen: const where the elements are") {
  auto x = zeros<float>(Time<>(2), Model<3>());
  const auto& fixed = x;
  static_assert(std::is_same_v<scalar_of<decltype(as_eigen(x))>, float>);
  static_assert(std::is_same_v<scalar_of<decltype(as_eigen(fixed))>, const float>);
  static_assert(std::is_same_v<scalar_of<decltype(as_eigen(x.view()))>, float>);
  static_assert(std::is_same_v<scalar_of<decltype(as_eigen(fixed.view()))>, const float>);
  const View<float, Time<>, Model<3>> view = x;  // a const view of elements that are not
  static_assert(std::is_same_v<scalar_of<decltype(as_eigen(view))>, float>);
  CHECK(as_eigen(view).data() == x.data());
}

TEST_CASE("as_eigen: any element that Eigen computes with") {
  auto ids = counted<token_t>(Batch<>(2), Time<>(3));
  CHECK(as_eigen(ids).sum() == 15);
  auto exact = counted<double>(Time<>(3), Model<2>());
  CHECK(as_eigen(exact)(2, 1) == 5.0);
}

TEST_CASE("as_eigen: any strides, negative ones too") {
  auto x = counted(Time<>(3), Heads<2>(), HeadDim<4>());
  auto head = slice<Heads>(x, 1, 1);
  auto turned = permute<HeadDim, Time, Heads>(head);  // [4, 3, 1], strides 1, 8, 4
  auto rows = merge<Time, Heads>(turned, Keys<>(3));  // [4, 3], strides 1, 8
  auto m = as_eigen(rows);
  REQUIRE(m.rows() == 4);
  REQUIRE(m.cols() == 3);
  for (int d = 0; d < 4; ++d) {
    for (int t = 0; t < 3; ++t) CHECK(m(d, t) == static_cast<float>(8 * t + 4 + d));
  }

  const index_t backwards[] = {-8, 1};
  View<float, Time<>, Model<8>> last_first(x.data() + 16, Shape<Time<>, Model<8>>(Time<>(3), {}),
                                           backwards);
  CHECK(as_eigen(last_first)(0, 0) == 16);
  CHECK(as_eigen(last_first).row(2).sum() == 28);  // 0 + ... + 7
}

TEST_CASE("as_eigen: the axes before the last are the rows, where they lie as such") {
  auto x = counted(Batch<>(2), Time<>(3), Model<4>());
  auto m = as_eigen(x);
  REQUIRE(m.rows() == 6);
  REQUIRE(m.cols() == 4);
  CHECK(m(4, 2) == x(1, 1, 2));

  // Rows of every second position are evenly spaced only within a sequence of their own.
  auto heads = counted(Batch<>(2), Time<>(3), Heads<2>(), HeadDim<4>());
  auto first_head = slice<Heads>(heads, 0, 1);  // [2, 3, 1, 4]: steps 24, 8, -, 1: even
  auto even = as_eigen(first_head);
  REQUIRE(even.rows() == 6);
  CHECK(even(4, 3) == heads(1, 1, 0, 3));

  auto early = slice<Time>(x, 0, 2);  // [2, 2, 4]: steps 12, 4: not even
  CHECK(message_of<ShapeError>([&] { as_eigen(early); }) ==
        "as_eigen(x): the axes before the last must lie evenly, as rows of a matrix: "
        "x[Batch=2, Time=2, Model=4], strides[Batch=12, Time=4, Model=1]");
  auto of_one = slice<Batch>(early, 1, 1);
  CHECK(as_eigen(of_one)(1, 0) == x(1, 1, 0));
}

TEST_CASE("as_eigen: sizes of zero") {
  auto none = zeros<float>(Batch<>(2), Keys<>(0), Model<4>());
  CHECK(as_eigen(none).rows() == 0);
  CHECK(as_eigen(none).cols() == 4);
  auto thin = zeros<float>(Time<>(3), Model<>(0));
  CHECK(as_eigen(thin).rows() == 3);
  CHECK(as_eigen(thin).cols() == 0);
  auto nothing = slice<Keys>(none, 0, 0);
  CHECK(as_eigen(nothing).size() == 0);
}

TEST_CASE("as_eigen: a tensor whose elements were moved away is an error") {
  auto x = zeros<float>(Time<>(2), Model<3>());
  auto y = std::move(x);
  CHECK(message_of<ShapeError>([&] { as_eigen(x); }) ==
        "tensor: its elements were moved away: [Time=2, Model=3]");
  CHECK(as_eigen(y).size() == 6);
}

TEST_CASE("as_view: a matrix of either storage order, without a copy") {
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> row_major(2, 3);
  row_major << 0, 1, 2, 3, 4, 5;
  Eigen::MatrixXf column_major = row_major;
  auto r = as_view<Time<>, Model<3>>(row_major);
  auto c = as_view<Time<>, Model<3>>(column_major);
  static_assert(std::is_same_v<decltype(r), View<float, Time<>, Model<3>>>);
  CHECK(r.data() == row_major.data());
  CHECK(c.data() == column_major.data());
  CHECK(r.is_contiguous());
  CHECK(c.stride(0) == 1);
  CHECK(c.stride(1) == 2);
  for (int t = 0; t < 2; ++t) {
    for (int d = 0; d < 3; ++d) {
      CHECK(r(t, d) == static_cast<float>(3 * t + d));
      CHECK(c(t, d) == static_cast<float>(3 * t + d));
    }
  }
  c(1, 0) = 30;
  CHECK(column_major(1, 0) == 30);
}

TEST_CASE("as_view: maps, refs, blocks, transposes, arrays and vectors") {
  std::vector<double> memory{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::Map<Eigen::MatrixXd, 0, Strides> map(memory.data(), 2, 3, Strides(4, 2));
  auto of_map = as_view<Time<>, Keys<>>(map);  // column-major: rows step by 2, columns by 4
  CHECK(of_map(1, 2) == 10);
  auto of_temporary_map = as_view<Keys<>>(Eigen::Map<Eigen::VectorXd>(memory.data(), 12));
  CHECK(of_temporary_map(11) == 11);
  auto of_const = as_view<Keys<>>(Eigen::Map<const Eigen::VectorXd>(memory.data(), 12));
  static_assert(std::is_same_v<decltype(of_const), View<const double, Keys<>>>);

  Eigen::Matrix<int, 3, 4, Eigen::RowMajor> m;
  m << 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11;
  auto block = as_view<Time<2>, Keys<3>>(m.block<2, 3>(1, 1));
  CHECK(block(0, 0) == 5);
  CHECK(block(1, 2) == 11);
  auto transposed = as_view<Keys<4>, Time<3>>(m.transpose());
  CHECK(transposed(3, 1) == 7);
  auto column = as_view<Time<3>>(m.col(2));
  CHECK(column(2) == 10);
  CHECK(column.stride(0) == 4);
  auto row = as_view<Keys<>>(m.row(1));
  CHECK(row(3) == 7);
  CHECK(row.size(0) == 4);

  Eigen::Ref<Eigen::Matrix<int, 3, 4, Eigen::RowMajor>> ref(m);
  CHECK(as_view<Time<>, Keys<>>(ref).data() == m.data());
  const Eigen::Matrix<int, 3, 4, Eigen::RowMajor>& fixed = m;
  static_assert(
      std::is_same_v<decltype(as_view<Time<>, Keys<>>(fixed)), View<const int, Time<>, Keys<>>>);
  Eigen::ArrayXf array = Eigen::ArrayXf::LinSpaced(5, 0, 4);
  CHECK(as_view<Model<>>(array)(4) == 4);
  Eigen::MatrixXf none(0, 3);
  CHECK(as_view<Time<>, Model<>>(none).count() == 0);
}

TEST_CASE("as_view: sizes are checked") {
  Eigen::MatrixXf m = Eigen::MatrixXf::Zero(2, 3);
  CHECK(message_of<ShapeError>([&] { as_view<Time<>, Model<4>>(m); }) ==
        "axis Model: expected size 4, got 3");
  CHECK(as_view(m, Time<>(2), Model<3>()).size(1) == 3);
  CHECK(message_of<ShapeError>([&] { as_view(m, Time<>(3), Model<>(2)); }) ==
        "as_view(m, axes...): the axes must have m's sizes: m[Time=2, Model=3], "
        "axes[Time=3, Model=2]");
}

TEST_CASE("there and back are the same elements; layers take what Eigen holds") {
  auto x = counted(Time<>(2), Model<3>());
  auto again = as_view<Time<>, Model<3>>(as_eigen(x));
  CHECK(again.data() == x.data());
  CHECK(again.is_contiguous());

  // y = x W^T, by the layer and by Eigen, in small whole numbers: no rounding anywhere.
  auto w = counted(Hidden<4>(), Model<3>());
  Eigen::MatrixXf rows(2, 3);  // column-major: the layer packs its rows
  rows << 1, 2, 3, -4, 5, 6;
  const Linear<Model<3>, Hidden<4>> layer{Weight<Axes<Hidden<4>>, Axes<Model<3>>>(w)};
  auto y = layer(as_view<Time<>, Model<3>>(rows));
  CHECK(as_eigen(y) == rows * as_eigen(w).transpose());
  CHECK(y(1, 3) == -4 * 9 + 5 * 10 + 6 * 11);
}

TEST_CASE("as_eigen and as_view: the example of the documentation") {
  auto x = zeros<float>(Time<>(16), Model<512>());
  as_eigen(x).setRandom();  // a row-major Eigen::Map of x's elements
  Eigen::MatrixXf gram = as_eigen(x) * as_eigen(x).transpose();

  auto scores = as_view<Time<>, Keys<>>(gram);  // a view of gram's elements
  scores(0, 15) = 0;
  CHECK(gram(0, 15) == 0);
  CHECK(scores.size(1) == 16);
}
