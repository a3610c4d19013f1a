// Attention over three tokens with numbers small enough to follow with a pencil, every step
// printed.
#include <cmath>
#include <cstdio>

#include "imbrex/kernels/attention.hpp"
#include "imbrex/kernels/reference/attention.hpp"
#include "imbrex/kernels/reference/matmul.hpp"
#include "imbrex/kernels/reference/softmax.hpp"

using namespace imbrex;

namespace {

constexpr index_t tokens = 3, head_dim = 4;
constexpr const char* names[tokens] = {"cat", "chases", "dog"};

constexpr float q[tokens * head_dim] = {1, 0, 1, 0,   // cat
                                        1, 0, 0, 1,   // chases
                                        0, 2, 1, 0};  // dog
constexpr float k[tokens * head_dim] = {2, 0, 0, 2,   // cat
                                        0, 1, 1, 0,   // chases
                                        0, 2, 0, 2};  // dog
constexpr float v[tokens * head_dim] = {1, 0, 0, 1,   // cat
                                        0, 2, 0, 1,   // chases
                                        0, 0, 3, 1};  // dog

struct Output {
  float of[tokens * head_dim] = {};
};

/// softmax(q k^T / sqrt(d_k) + causal mask) v, as `run` computes it.
constexpr Output attend(void (*run)(const kernels::AttentionArgs&)) {
  Output out;
  run({.out = {out.of, tokens, 1, head_dim, head_dim, head_dim},
       .q = {q, tokens, 1, head_dim, head_dim, head_dim},
       .keys = k,
       .values = v,
       .kv_heads = 1,
       .key_count = tokens,
       .k_key_stride = head_dim,
       .v_key_stride = head_dim,
       .scale = 0.5f,
       .mask = Mask::causal()});
  return out;
}

// The compiler can do it as well: "chases" gives "cat" the weight e^2 / (e^2 + e^0) = 0.8808, and
// none to "dog", which comes later.
constexpr Output compiled = attend(kernels::reference::attention);
static_assert(compiled.of[4] > 0.88079f && compiled.of[4] < 0.88080f);
static_assert(compiled.of[6] == 0);

// The inner product of [1, 2] and [3, 4] is 1 * 3 + 2 * 4.
constexpr float product_of_two() {
  const float a[] = {1, 2}, b[] = {3, 4};
  float result = 0;
  kernels::reference::matmul({&result, 1, 1, 1}, {a, 1, 2, 2}, kernels::ConstRows{b, 1, 2, 2});
  return result;
}
static_assert(product_of_two() == 11);

void print(const char* title, const float* rows, index_t columns, const char* const* heads) {
  std::printf("\n%s\n%8s", title, "");
  for (index_t j = 0; j < columns; ++j) std::printf("%9s", heads[j]);
  std::printf("\n");
  for (index_t i = 0; i < tokens; ++i) {
    std::printf("%8s", names[i]);
    for (index_t j = 0; j < columns; ++j) {
      std::printf("%9.4f", static_cast<double>(rows[i * columns + j]));
    }
    std::printf("\n");
  }
}

}  // namespace

int main() {
  constexpr const char* numbers[] = {"1", "2", "3", "4"};
  std::printf("q = [1, 2], k = [3, 4]: q.k = %g\n", static_cast<double>(product_of_two()));
  print("queries q", q, head_dim, numbers);
  print("keys k", k, head_dim, numbers);
  print("values v", v, head_dim, numbers);

  float scores[tokens * tokens], weights[tokens * tokens], out[tokens * head_dim] = {};
  kernels::reference::matmul({scores, tokens, tokens, tokens}, {q, tokens, head_dim, head_dim},
                             kernels::ConstRows{k, tokens, head_dim, head_dim});
  print("scores q k^T: each row a query, each column a key", scores, tokens, names);

  for (float& score : scores) score /= std::sqrt(static_cast<float>(head_dim));
  print("scaled by 1 / sqrt(d_k) = 1/2", scores, tokens, names);

  for (index_t i = 0; i < tokens; ++i) {
    const KeyRange seen = Mask::causal().visible(i, tokens, tokens);
    for (index_t j = seen.last; j < tokens; ++j) scores[i * tokens + j] = -INFINITY;
  }
  print("masked: no token sees a later one", scores, tokens, names);

  kernels::reference::softmax({weights, tokens, tokens, tokens}, {scores, tokens, tokens, tokens});
  print("weights: softmax of each row", weights, tokens, names);
  for (index_t i = 0; i < tokens; ++i) {
    const float* row = weights + i * tokens;
    std::printf("  row %-6s sums to %.4f\n", names[i],
                static_cast<double>(row[0] + row[1] + row[2]));
  }
  std::printf(
      "  \"chases\" gives \"dog\" exactly %g: under a causal mask its weights on \"cat\"\n"
      "  and on itself are all there is, and sum to 1\n",
      static_cast<double>(weights[1 * tokens + 2]));

  for (index_t i = 0; i < tokens; ++i) {
    for (index_t j = 0; j < tokens; ++j) {
      for (index_t e = 0; e < head_dim; ++e) {
        out[i * head_dim + e] += weights[i * tokens + j] * v[j * head_dim + e];
      }
    }
  }
  print("output: the values, added up with these weights", out, head_dim, numbers);

  const Output tiled = attend(kernels::attention);
  float difference = 0;
  for (index_t i = 0; i < tokens * head_dim; ++i) {
    difference = std::fmax(difference, std::fabs(tiled.of[i] - out[i]));
    difference = std::fmax(difference, std::fabs(compiled.of[i] - out[i]));
  }
  const bool same = difference < 1e-6f;
  std::printf("\nthe library's kernel, and the compiler, give %s\n",
              same ? "the same" : "something else");
  return same ? 0 : 1;
}
