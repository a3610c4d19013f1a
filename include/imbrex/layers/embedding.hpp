// The embedding: a row of a table for each token.
#pragma once

#include "imbrex/base/token.hpp"
#include "imbrex/kernels/embedding.hpp"
#include "imbrex/layers/operand.hpp"
#include "imbrex/tensor/weight.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Throws TokenError where a token lies outside [0, vocab).
inline void check_tokens(const token_t* tokens, index_t count, index_t vocab) {
  for (index_t i = 0; i < count; ++i) {
    if (tokens[i] < 0 || tokens[i] >= vocab) {
      raise(TokenError("token " + std::to_string(tokens[i]) + " at position " + std::to_string(i) +
                       ": expected 0 to " + std::to_string(vocab - 1)));
    }
  }
}

/// Maps token ids [...] to [..., M]: y = table[id], that is one-hot(id) x table. V is the
/// vocabulary's axis, M the model's.
template <class V, class M>
class Embedding {
 public:
  using weight_type = Weight<Axes<V>, Axes<M>>;

  /// What `accepts` asks of a layer.
  using input_type = token_t;
  template <class List>
  static constexpr bool accepts_axes = names_differ<join<List, Axes<M>>>;

  /// Without a table: calling it is a ShapeError.
  Embedding() = default;
  /// With a table; `path` is what errors call the layer.
  explicit Embedding(weight_type table, std::string path = {})
      : table_(std::move(table)), path_(std::move(path)) {}

  /// Returns the rows of `ids`, a tensor of token_t. Throws TokenError, ShapeError.
  template <TensorLike X>
  auto operator()(const X& ids) const {
    constexpr bool tokens = std::is_same_v<std::remove_const_t<typename X::element_type>, token_t>;
    static_assert(tokens, "embedding(ids): ids must hold token_t");
    using All = join<axes_of<X>, Axes<M>>;
    static_assert(names_differ<All>, "embedding(ids): ids must not have the model's axis");
    using List = std::conditional_t<names_differ<All>, All, Axes<M>>;
    const auto v = ids.view();
    index_t sizes[list_size<All>] = {};
    v.shape().copy_sizes(sizes);
    sizes[list_size<List> - 1] = table_.cols();
    tensor_of<float, List> y(shape_of<List>::from_sizes(sizes));
    const kernels::Rows rows{y.data(), v.count(), table_.cols(), table_.cols()};
    if constexpr (tokens) apply(v.data(), v.is_contiguous(), ids_ref(v), rows);
    return y;
  }

  /// Writes the rows into `y`; allocates nothing. Throws before it writes.
  template <TensorLike Y, TensorLike X>
  void into(Y&& y, const X& ids) const {
    constexpr bool tokens = std::is_same_v<std::remove_const_t<typename X::element_type>, token_t>;
    static_assert(tokens, "embedding.into(y, ids): ids must hold token_t");
    static_assert(axes_agree<axes_of<Y>, join<axes_of<X>, Axes<M>>>,
                  "embedding.into(y, ids): y must have the axes of ids, then the model's");
    const auto to = MutableOperand::of(y);
    const auto v = ids.view();
    bool same = to.rank == v.rank + 1 && to.sizes[to.rank - 1] == table_.cols();
    for (index_t i = 0; same && i < v.rank; ++i) same = to.sizes[i] == v.size(i);
    const SizedIds shape = ids_ref(v);
    if (!same) {
      fail_layer(path_, "embedding.into(y, ids): y must have a row of the table for each token",
                 to.ref("y"), shape.ref());
    }
    if constexpr (tokens) apply(v.data(), v.is_contiguous(), shape, rows_into(to, 1, path_));
  }

  /// The table, and the path in errors.
  const weight_type& table() const { return table_; }
  const std::string& path() const { return path_; }

 private:
  /// The shape of ids, for errors.
  struct SizedIds {
    const char* const* names;
    index_t rank;
    index_t sizes[Operand<float>::max_rank];
    ShapeRef ref() const { return {"ids", names, sizes, rank}; }
  };
  template <class T, AxisType... As>
  static SizedIds ids_ref(const View<T, As...>& ids) {
    SizedIds shape{ids.shape().names(), sizeof...(As), {}};
    static_assert(sizeof...(As) < Operand<float>::max_rank,
                  "embedding takes ids of seven axes or fewer");
    ids.shape().copy_sizes(shape.sizes);
    return shape;
  }

  void apply(const token_t* ids, bool contiguous, const SizedIds& shape,
             const kernels::Rows& y) const {
    if (!contiguous) {
      fail_layer(path_, "embedding(ids): ids must be contiguous", shape.ref(), table_.ref("table"));
    }
    if (!table_) {
      fail_layer(path_, "embedding(ids): the layer has no table yet", shape.ref(),
                 table_.ref("table"));
    }
    check_tokens(ids, y.rows, table_.rows());
    kernels::embed(
        y, ids, {table_.data(), table_.dtype(), table_.rows(), table_.cols(), table_.row_bytes()});
  }

  weight_type table_;
  std::string path_;
};

}  // namespace imbrex::inline IMBREX_ABI
