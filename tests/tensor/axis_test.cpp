#include "imbrex/tensor/axis.hpp"

#include <doctest/doctest.h>

#include <string>

#include "imbrex/tensor/agree.hpp"
#include "imbrex/tensor/axis_list.hpp"
#include "imbrex/tensor/tensor.hpp"
#include "imbrex/tensor/tensor_like.hpp"

using namespace imbrex;

namespace user {
/// An axis of the user's own, in one line.
template <index_t N = dyn>
struct Experts : Axis<N> {
  using Axis<N>::Axis;
  static constexpr const char* name = "Experts";
};
/// The same name in text, but another axis.
template <index_t N = dyn>
struct Model : Axis<N> {
  using Axis<N>::Axis;
  static constexpr const char* name = "Model";
};
}  // namespace user

namespace {

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

using List = Axes<Batch<>, Time<16>, imbrex::Model<512>>;

}  // namespace

TEST_CASE("an axis has a size, stored only where the compiler does not know it") {
  CHECK(Time<>(16).size() == 16);
  CHECK(Time<16>().size() == 16);
  static_assert(sizeof(Time<>) == sizeof(index_t));
  static_assert(std::is_empty_v<Time<16>>);
  static_assert(AxisType<Time<>> && AxisType<user::Experts<8>> && !AxisType<int>);
  static_assert(!std::is_convertible_v<index_t, Time<>>, "a bare number is no axis");
  CHECK(user::Experts<>::name == std::string("Experts"));
}

TEST_CASE("names are types: equal text is not enough") {
  static_assert(same_name<Time<1>, Time<2>> && !same_name<Time<1>, Keys<1>>);
  static_assert(!same_name<user::Model<4>, imbrex::Model<4>>);
  static_assert(named<Time, Time<3>> && !named<Time, Keys<3>>);
}

TEST_CASE("axes agree by name, and by size where both are known") {
  static_assert(axes_agree<Time<3>, Time<3>>);
  static_assert(axes_agree<Time<3>, Time<>> && axes_agree<Time<>, Time<3>>);
  static_assert(!axes_agree<Time<3>, Time<4>> && !axes_agree<Time<3>, Keys<3>>);
  static_assert(axes_agree<Axes<Time<3>, Keys<>>, Axes<Time<>, Keys<5>>>);
  static_assert(!axes_agree<Axes<Time<3>>, Axes<Time<3>, Keys<5>>>);
  static_assert(!axes_agree<Axes<Time<3>, Keys<5>>, Axes<Keys<5>, Time<3>>>);
  static_assert(axes_agree<Axes<>, Axes<>>);
  static_assert(axes_agree<Axes<Axes<Time<3>>, Axes<>>, Axes<Axes<Time<>>, Axes<>>>);
  static_assert(!axes_agree<Axes<Axes<Time<3>>, Axes<>>, Axes<Axes<>, Axes<Time<3>>>>);

  static_assert(axes_end_with<List, Axes<imbrex::Model<>>>);
  static_assert(axes_end_with<List, Axes<Time<16>, imbrex::Model<512>>>);
  static_assert(axes_end_with<List, Axes<>> && axes_end_with<List, List>);
  static_assert(!axes_end_with<List, Axes<Time<16>>> && !axes_end_with<Axes<>, List>);

  static_assert(heads_divide<Heads<9>, KvHeads<3>> && !heads_divide<Heads<9>, KvHeads<4>>);
  static_assert(heads_divide<Heads<>, KvHeads<4>> && !heads_divide<Heads<9>, KvHeads<0>>);

  static_assert(sizes_multiply<Heads<8>, HeadDim<64>, imbrex::Model<512>>);
  static_assert(!sizes_multiply<Heads<9>, HeadDim<64>, imbrex::Model<512>>);
  static_assert(sizes_multiply<Heads<>, HeadDim<64>, imbrex::Model<500>>);
  static_assert(!sizes_multiply<Heads<(index_t{1} << 62)>, HeadDim<4>, imbrex::Model<0>>);
}

TEST_CASE("lists of axes") {
  static_assert(same<join<Axes<Time<>>, Axes<>, Axes<Keys<2>>>, Axes<Time<>, Keys<2>>>);
  static_assert(same<join<>, Axes<>>);
  static_assert(list_size<List> == 3 && list_size<Axes<>> == 0);
  static_assert(find_axis<Time, List> == 1 && find_axis<Keys, List> == -1);
  static_assert(find_axis<Time, Axes<>> == -1);
  static_assert(has_axis<Time, List> && !has_axis<Keys, List>);
  static_assert(has_neighbours<Batch, Time, List> && !has_neighbours<Time, Batch, List>);
  static_assert(!has_neighbours<Keys, Batch, List> && !has_neighbours<Batch, Batch, List>);
  static_assert(names_differ<List> && !names_differ<Axes<Time<1>, Keys<1>, Time<2>>>);
  static_assert(names_all<List, Time, Batch, imbrex::Model> && !names_all<List, Time, Batch>);
  static_assert(!names_all<List, Time, Time, Batch> && !names_all<List, Time, Batch, Keys>);
  static_assert(same<axis_at<2, List>, imbrex::Model<512>>);
  static_assert(same<axis_named<Time, List>, Time<16>> && same<axis_named<Keys, List>, Keys<>>);
  static_assert(same<replace_axis<Time, Axes<Heads<2>, HeadDim<8>>, List>,
                     Axes<Batch<>, Heads<2>, HeadDim<8>, imbrex::Model<512>>>);
  static_assert(same<replace_axis<Keys, Axes<Heads<2>>, List>, List>);
  static_assert(same<drop_last<List, 1>, Axes<Batch<>, Time<16>>>);
  static_assert(same<drop_last<List, 0>, List>);

  using X = Tensor<float, Batch<>, Time<16>, imbrex::Model<512>>;
  static_assert(TensorLike<X> && TensorLike<const X&> && !TensorLike<int>);
  static_assert(same<axes_of<const X&>, List> && same<last_axis<X>, imbrex::Model<512>>);
  static_assert(same<replace_last<X, Hidden<7>>, Axes<Batch<>, Time<16>, Hidden<7>>>);
  static_assert(same<replace_tail<X, 2, Axes<Vocab<7>>>, Axes<Batch<>, Vocab<7>>>);
}
