#include "imbrex/layers/embedding.hpp"

#include <doctest/doctest.h>

#include "imbrex/kernels/quant/encode.hpp"
#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

constexpr index_t vocab = 5, width = 7;
using Table = Tensor<float, Vocab<vocab>, Model<width>>;

Table random_table() {
  Random random(1);
  return normal(random, Vocab<vocab>(), Model<width>());
}

Embedding<Vocab<vocab>, Model<width>> embedding_of(const Table& table) {
  return Embedding<Vocab<vocab>, Model<width>>(
      Weight<Axes<Vocab<vocab>>, Axes<Model<width>>>(table), "token_embd");
}

}  // namespace

TEST_CASE("embedding is the product of a one-hot row with the table") {
  const Table table = random_table();
  Tensor<float, Model<width>, Vocab<vocab>> transposed{Model<width>(), Vocab<vocab>()};
  for (index_t i = 0; i < vocab; ++i) {
    for (index_t j = 0; j < width; ++j) transposed(j, i) = table(i, j);
  }
  const Linear<Vocab<vocab>, Model<width>> matrix(
      Weight<Axes<Model<width>>, Axes<Vocab<vocab>>>(std::move(transposed)));
  const token_t tokens[] = {0, 4, 2, 2, 1, 3};
  Tensor<token_t, Batch<>, Time<>> ids(Batch<>(2), Time<>(3));
  auto one_hot = zeros<float>(Batch<>(2), Time<>(3), Vocab<vocab>());
  for (index_t i = 0; i < 6; ++i) {
    ids.data()[i] = tokens[i];
    one_hot.data()[i * vocab + tokens[i]] = 1;
  }
  const auto y = embedding_of(table)(ids);
  static_assert(std::is_same_v<decltype(y), const Tensor<float, Batch<>, Time<>, Model<width>>>);
  CHECK(elements(y) == elements(matrix(one_hot)));  // 1 x + 0 + ... + 0 is exact
}

TEST_CASE("embedding: a scalar id, no ids at all") {
  const Table table = random_table();
  Tensor<token_t> id{Shape<>()};
  *id.data() = 3;
  const auto y = embedding_of(table)(id);
  static_assert(std::is_same_v<decltype(y), const Tensor<float, Model<width>>>);
  for (index_t j = 0; j < width; ++j) CHECK(y(j) == table(3, j));
  CHECK(embedding_of(table)(zeros<token_t>(Time<>(0))).count() == 0);
}

TEST_CASE("embedding: quantised rows are decoded") {
  Random random(2);
  const auto table = normal(random, Vocab<vocab>(), Model<64>());
  const index_t row = row_bytes(Dtype::q8_0, 64);
  Buffer<std::byte> stored(vocab * row);
  kernels::encode(Dtype::q8_0, table.data(), table.count(), stored.data());
  std::vector<float> want(64);
  kernels::decode(Dtype::q8_0, stored.data() + 3 * row, 64, want.data());
  const std::byte* data = stored.data();
  const Embedding<Vocab<>, Model<>> embedding(Weight<Axes<Vocab<>>, Axes<Model<>>>(
      Vocab<>(vocab), Model<>(64), Dtype::q8_0, data, vocab * row, Owner::of(std::move(stored))));
  const Tensor<token_t, Time<1>> ids(Shape<Time<1>>(), {3});
  CHECK(different_bits(elements(embedding(ids)), want) == "");
}

TEST_CASE("embedding: a token outside the vocabulary is a TokenError, and nothing is written") {
  const auto embedding = embedding_of(random_table());
  for (const token_t wrong : {5, -1, 2147483647}) {
    const Tensor<token_t, Time<3>> ids(Shape<Time<3>>(), {0, 4, wrong});
    const std::string text = "token " + std::to_string(wrong) + " at position 2: expected 0 to 4";
    CHECK(error_of<TokenError>([&] { embedding(ids); }) == text);
    auto y = full(7.0f, Time<3>(), Model<width>());
    CHECK(error_of<TokenError>([&] { embedding.into(y, ids); }) == text);
    for (const float value : elements(y)) CHECK(value == 7);
  }
}

TEST_CASE("embedding: run-time shapes") {
  const Table table = random_table();
  const Embedding<Vocab<>, Model<>> embedding(
      Weight<Axes<Vocab<>>, Axes<Model<>>>(embedding_of(table).table()), "token_embd");
  const auto ids = zeros<token_t>(Batch<>(2), Time<>(3));
  auto turned = zeros<float>(Batch<>(3), Time<>(2), Model<>(width));  // as many rows, other axes
  CHECK(error_of([&] { embedding.into(turned, ids); }) ==
        "token_embd: embedding.into(y, ids): y must have a row of the table for each token: "
        "y[Batch=3, Time=2, Model=7], ids[Batch=2, Time=3]");
  auto narrow = zeros<float>(Batch<>(2), Time<>(3), Model<>(width - 1));
  CHECK(error_of([&] { embedding.into(narrow, ids); }) != "nothing thrown");
  CHECK(error_of([&] { embedding(transpose(ids)); }) ==
        "token_embd: embedding(ids): ids must be contiguous: ids[Time=3, Batch=2], "
        "table[Vocab=5, Model=7]");
  CHECK(error_of([&] { Embedding<Vocab<>, Model<>>()(ids); }) ==
        "embedding(ids): the layer has no table yet: ids[Batch=2, Time=3], "
        "table[Vocab=0, Model=0]");
  auto wide = full(-99.0f, Batch<>(2), Time<>(3), Model<>(width + 2));
  embedding.into(slice<Model>(wide, 1, width), ids);
  for (index_t j = 0; j < width; ++j) CHECK(wide(1, 2, j + 1) == table(0, j));
  CHECK(wide(0, 0, 0) == -99);
  CHECK(wide(1, 2, width + 1) == -99);
}
