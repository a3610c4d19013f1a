// Attention over three tokens with numbers small enough to follow with a pencil: the operands, and
// the results as the compiler computes them.
#pragma once

#include "imbrex/kernels/reference/attention.hpp"
#include "imbrex/kernels/reference/matmul.hpp"

namespace examples::cat_chases_dog {

using imbrex::index_t;

inline constexpr index_t tokens = 3, head_dim = 4;
inline constexpr const char* names[tokens] = {"cat", "chases", "dog"};

inline constexpr float q[tokens * head_dim] = {1, 0, 1, 0,   // cat
                                               1, 0, 0, 1,   // chases
                                               0, 2, 1, 0};  // dog
inline constexpr float k[tokens * head_dim] = {2, 0, 0, 2,   // cat
                                               0, 1, 1, 0,   // chases
                                               0, 2, 0, 2};  // dog
inline constexpr float v[tokens * head_dim] = {1, 0, 0, 1,   // cat
                                               0, 2, 0, 1,   // chases
                                               0, 0, 3, 1};  // dog
inline constexpr float identity[tokens * tokens] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/// A row of `Columns` numbers for each token.
template <index_t Columns>
struct Rows {
  float of[tokens * Columns] = {};

  constexpr float operator()(index_t row, index_t column) const {
    return of[row * Columns + column];
  }
};

/// softmax(q k^T / sqrt(d_k) + causal mask) values, as `run` computes it.
template <index_t Columns>
constexpr Rows<Columns> attend(void (*run)(const imbrex::kernels::AttentionArgs&),
                               const float (&values)[tokens * Columns]) {
  Rows<Columns> out;
  run({.out = {out.of, tokens, 1, Columns, Columns, Columns},
       .q = {q, tokens, 1, head_dim, head_dim, head_dim},
       .keys = k,
       .values = values,
       .kv_heads = 1,
       .key_count = tokens,
       .k_key_stride = head_dim,
       .v_key_stride = Columns,
       .scale = 0.5f,
       .mask = imbrex::Mask::causal()});
  return out;
}

/// The result, and the weights: with the identity for values they are the result.
inline constexpr Rows<head_dim> output = attend<head_dim>(imbrex::kernels::reference::attention, v);
inline constexpr Rows<tokens> weights =
    attend<tokens>(imbrex::kernels::reference::attention, identity);

constexpr bool about(float a, double b) { return a - b < 5e-5 && b - a < 5e-5; }

// By hand. "cat" sees itself alone. "chases" has scores 4 and 0, halved 2 and 0, and weights
// e^2 / (e^2 + 1) and 1 / (e^2 + 1). "dog" has 0, 3 and 4, halved 0, 1.5 and 2: 1, 4.4817 and
// 7.3891 over their sum, 12.8707.
static_assert(weights(0, 0) == 1 && weights(0, 1) == 0 && weights(0, 2) == 0);
static_assert(about(weights(1, 0), 0.8808) && about(weights(1, 1), 0.1192) && weights(1, 2) == 0);
static_assert(about(weights(2, 0), 0.0777) && about(weights(2, 1), 0.3482) &&
              about(weights(2, 2), 0.5741));

static_assert(output(0, 0) == 1 && output(0, 1) == 0 && output(0, 2) == 0 && output(0, 3) == 1);
static_assert(about(output(1, 0), 0.8808) && about(output(1, 1), 2 * 0.1192) && output(1, 2) == 0 &&
              about(output(1, 3), 1));
static_assert(about(output(2, 0), 0.0777) && about(output(2, 1), 2 * 0.3482) &&
              about(output(2, 2), 3 * 0.5741) && about(output(2, 3), 1));

/// The inner product of [1, 2] and [3, 4]: 1 * 3 + 2 * 4.
constexpr float product_of_two() {
  const float a[] = {1, 2}, b[] = {3, 4};
  float result = 0;
  imbrex::kernels::reference::matmul({&result, 1, 1, 1}, {a, 1, 2, 2},
                                     imbrex::kernels::ConstRows{b, 1, 2, 2});
  return result;
}
static_assert(product_of_two() == 11);

}  // namespace examples::cat_chases_dog
