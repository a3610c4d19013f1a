// What docs/pytorch.md puts beside PyTorch, line by line, with the values that PyTorch gives: its
// definitions, worked by hand in the comments.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "imbrex/imbrex.hpp"
#include "imbrex/interop/eigen.hpp"
#include "imbrex/kernels.hpp"
#include "tests/message_of.hpp"

using namespace imbrex;

TEST_CASE("PyTorch: making tensors") {
  auto a = zeros<float>(Batch<>(2), Time<>(16), Model<512>());
  CHECK(shape_text(a) == "[Batch=2, Time=16, Model=512]");
  CHECK(a.count() == 16384);  // torch.zeros(2, 16, 512).numel()
  auto b = full(2.5f, Model<3>());
  CHECK(as_eigen(b).sum() == 7.5f);
  Tensor<float, Time<2>, Model<3>> c({}, {1, 2, 3, 4, 5, 6});
  CHECK(c(1, 0) == 4);

  Random random(0);
  for (index_t i = 0; i < a.count(); ++i) a.data()[i] = random.normal();
  const float mean = as_eigen(a).mean();
  CHECK(std::abs(mean) < 5.0f / 128);  // five deviations of a mean of 2^14 numbers
}

TEST_CASE("PyTorch: shapes, elements, copies") {
  auto x = zeros<float>(Batch<2>(), Time<6>(), Model<8>());
  for (index_t i = 0; i < x.count(); ++i) x.data()[i] = static_cast<float>(i);
  CHECK(dim<Time>(x) == 6);
  CHECK(x(1, 5, 7) == 95);
  CHECK(message_of<ShapeError>([&] { x.at(1, 6, 7); }) ==
        "at: the position lies outside its axis: [Time=6, position=6]");
  CHECK(x.view().stride(1) == 8);

  auto copy = x;         // x.clone()
  auto view = x.view();  // y = x
  x(0, 0, 0) = -1;
  CHECK(copy(0, 0, 0) == 0);
  CHECK(view(0, 0, 0) == -1);
}

TEST_CASE("PyTorch: views") {
  auto x = zeros<float>(Batch<2>(), Time<6>(), Model<8>());
  for (index_t i = 0; i < x.count(); ++i) x.data()[i] = static_cast<float>(i);
  auto middle = slice<Time>(x, 2, 3);
  CHECK(middle(0, 0, 0) == 16);  // x[:, 2:5][0, 0, 0]
  auto heads = split<Model>(x, Heads<2>(), HeadDim<4>());
  CHECK(heads(1, 5, 1, 3) == 95);
  auto flat = merge<Heads, HeadDim>(heads, Model<8>());
  CHECK(flat(1, 5, 7) == 95);
  auto by_head = permute<Batch, Heads, Time, HeadDim>(heads);
  CHECK(by_head(1, 1, 5, 3) == 95);
  CHECK_FALSE(by_head.is_contiguous());
  auto turned = transpose(x);
  CHECK(turned(1, 7, 5) == 95);
  auto keys = rename<Time, Keys>(x);
  CHECK(dim<Keys>(keys) == 6);
}

TEST_CASE("PyTorch: layers") {
  Random random(1);
  auto x = full(1.0f, Batch<2>(), Time<6>(), Model<8>());

  // nn.Linear: y = x W^T + b with W[out, in].
  Weight<Axes<Hidden<4>>, Axes<Model<8>>> w(full(0.5f, Hidden<4>(), Model<8>()));
  Linear<Model<8>, Hidden<4>> linear(w, full(1.0f, Hidden<4>()));
  CHECK(linear(x)(1, 5, 3) == 5);  // 8 * 0.5 + 1

  auto table = random_weight<Axes<Vocab<10>>, Axes<Model<8>>>({}, {}, random);
  Embedding<Vocab<10>, Model<8>> embedding(table);
  const Tensor<token_t, Batch<1>, Time<2>> ids({}, {7, 0});
  CHECK(shape_text(embedding(ids)) == "[Batch=1, Time=2, Model=8]");

  // x = 1: mean of squares 1, 1 / sqrt(1 + 3) = 0.5.
  RMSNorm<Model<8>> rms_norm(full(1.0f, Model<8>()), {.eps = 3.0f});
  CHECK(rms_norm(x)(0, 0, 0) == 0.5f);
  // x = 1 has no deviation: (1 - 1) / sqrt(0 + eps) * 1 + 2.
  LayerNorm<Model<8>> layer_norm(full(1.0f, Model<8>()), full(2.0f, Model<8>()), 1e-5f);
  CHECK(layer_norm(x)(0, 0, 0) == 2);
}

TEST_CASE("PyTorch: softmax and attention, and where causal means something else") {
  auto x = Tensor<float, Time<1>, Keys<3>>({}, {0, std::log(2.0f), std::log(5.0f)});
  kernels::softmax({x.data(), 1, 3, 3}, {x.data(), 1, 3, 3});  // e^x = 1, 2, 5
  CHECK(std::abs(x(0, 0) - 0.125f) < 1e-6f);
  CHECK(std::abs(x(0, 2) - 0.625f) < 1e-6f);

  // Two queries, three keys: the last query faces the last key here; in PyTorch the first one the
  // first (the upper left corner), where is_causal=True and the sizes differ.
  const Mask causal = Mask::causal();
  CHECK(causal.visible(0, 2, 3) == KeyRange{0, 2});
  CHECK(causal.visible(1, 2, 3) == KeyRange{0, 3});
  CHECK(causal.visible(1, 3, 3) == KeyRange{0, 2});  // equal sizes: the same in both
}

TEST_CASE("PyTorch: parameters and threads") {
  CHECK(count_parameters(presets::llama2_7b).total == 6'738'415'616);
  set_threads(2);
  CHECK(threads() == (IMBREX_HAS_OPENMP ? 2 : 1));
  set_threads(3);
  CHECK(threads() == (IMBREX_HAS_OPENMP ? 3 : 1));
  set_threads(0);
}

// --- The page
// -------------------------------------------------------------------------------------

namespace {

std::string without_spaces(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path.string());
  std::string text(std::istreambuf_iterator<char>(file), {});
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

}  // namespace

TEST_CASE("docs/pytorch.md: the code in the second column stands here or in another test") {
  const std::filesystem::path root = std::filesystem::path(IMBREX_INCLUDE_DIR).parent_path();
  std::string compiled;
  for (const char* folder : {"tests/interop", "tests/checkpoint", "tests/generation", "examples"}) {
    for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
      if (entry.path().extension() == ".cpp") compiled += without_spaces(entry.path());
    }
  }
  std::ifstream page(root / "docs/pytorch.md");
  int pieces = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ")) continue;
    line.erase(0, line.find(" | "));  // the first column is PyTorch's
    line.erase(line.find(" | ", 3) == line.npos ? line.size() : line.find(" | ", 3));
    for (std::size_t at = line.find('`'); at != line.npos;) {
      const std::size_t end = line.find('`', at + 1);
      std::string code = line.substr(at + 1, end - at - 1);
      std::erase(code, ' ');
      CHECK_MESSAGE(compiled.find(code) != compiled.npos, code);
      ++pieces;
      at = line.find('`', end + 1);
    }
  }
  CHECK(pieces > 20);
}
