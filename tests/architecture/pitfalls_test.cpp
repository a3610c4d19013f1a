// What docs/pitfalls.md warns of is so; and the table of formats in docs/numbers.md.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "imbrex/imbrex.hpp"
#include "tests/checkpoint/draft_model.hpp"
#include "tests/message_of.hpp"
#include "tests/support/text.hpp"

using namespace imbrex;

TEST_CASE("pitfalls: logits are a view into the workspace") {
  const std::vector<std::byte> file = tests::DraftModel().bytes();
  const Decoder<> decoder = load(GgufFile::parse(file, "draft.gguf"));
  Workspace workspace(decoder, 8);
  KvCache cache(decoder.config(), 8);
  const std::vector<token_t> prompt = {1, 2, 3}, next = {4};

  const auto logits = decoder.last_logits(workspace, cache, prompt);
  const std::vector<float> kept(logits.data(), logits.data() + logits.count());
  decoder.last_logits(workspace, cache, next);  // logits now sees those of `next`
  CHECK(logits(0) != kept[0]);
}

TEST_CASE("pitfalls: a view of a temporary") {
  static_assert(std::is_convertible_v<Tensor<float, Model<8>>&&, View<const float, Model<8>>>);
  static_assert(!outlives_the_call<Tensor<float, Model<8>>>);
}

TEST_CASE("pitfalls: what the compiler does not know it does not check") {
  static_assert(!accepts<Linear<Model<512>, Hidden<1376>>, Tensor<float, Model<576>>>);
  static_assert(accepts<Linear<Model<512>, Hidden<1376>>, Tensor<float, Model<>>>);
  Random random(1);
  const auto gate = random_linear<Model<4>, Hidden<8>>(random);
  CHECK(message_of<ShapeError>([&] { gate(zeros<float>(Model<>(5))); }) ==
        "linear(x): the last axis of x must be the layer's input axis: x[Model=5], "
        "weight[Hidden=8, Model=4]");
}

TEST_CASE("pitfalls: const views, copies, rows of blocks") {
  auto x = zeros<float>(Model<4>());
  const View<float, Model<4>> view = x;
  view(0) = 1;  // const is the view, as of a pointer: the elements are View<const float, ...>
  CHECK(x(0) == 1);

  auto copy = x;  // elements are copied
  CHECK(copy.data() != x.data());
  const Weight<Axes<Hidden<1>>, Axes<Model<4>>> w(zeros<float>(Hidden<1>(), Model<4>()));
  const auto same = w;  // bytes are shared
  CHECK(same.data() == w.data());

  const std::byte bytes[8] = {};
  CHECK(message_of<ShapeError>([&] {
          Weight<Axes<Hidden<>>, Axes<Model<>>>(Hidden<>(1), Model<>(100), Dtype::q4_0, bytes, 8,
                                                Owner());
        }) ==
        "weight[Hidden=1, Model=100] in Q4_0: expected rows of whole blocks of 32 numbers, got "
        "rows of 100 numbers");
}

TEST_CASE("pitfalls: threads are those of OpenMP, and there is one without it") {
  for (const int n : {1, 2, 3}) {
    set_threads(n);
    CHECK(threads() == (IMBREX_HAS_OPENMP ? n : 1));
  }
  set_threads(0);
}

TEST_CASE("docs/numbers.md: the table of formats is that of the library") {
  const std::filesystem::path root = std::filesystem::path(IMBREX_INCLUDE_DIR).parent_path();
  const std::string page = tests::contents(root / "docs/numbers.md");
  for (int i = 0; i < dtype_count; ++i) {
    const DtypeTraits& t = traits(static_cast<Dtype>(i));
    char row[80];
    std::snprintf(row, sizeof row, "| %s | %d | %d | %g |", t.name, static_cast<int>(t.block),
                  static_cast<int>(t.bytes),
                  8.0 * static_cast<double>(t.bytes) / static_cast<double>(t.block));
    CHECK_MESSAGE(page.find(row) != page.npos, "docs/numbers.md lacks the row " << row);
  }
}
