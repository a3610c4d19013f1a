#include "imbrex/layers/observer.hpp"

#include <doctest/doctest.h>

#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

using Small = Block<Model<16>, Heads<4>, KvHeads<2>, HeadDim<6>, Hidden<24>>;

Small small() {
  Random random(1);
  return random_block(Model<16>(), Heads<4>(), KvHeads<2>(), HeadDim<6>(), Hidden<24>(), random);
}

std::vector<std::string> steps_of(const Small& block) {
  Random random(2);
  std::vector<std::string> steps;
  block(normal(random, Time<>(5), Model<16>()),
        [&](const Step& step) { steps.push_back(step.shape_text()); });
  return steps;
}

}  // namespace

TEST_CASE("observer: the steps of a block, in order, with their shapes") {
  CHECK(steps_of(small()) ==
        std::vector<std::string>{
            "attn_norm[Time=5, Model=16]", "q[Time=5, Heads=4, HeadDim=6]",
            "k[Time=5, KvHeads=2, HeadDim=6]", "v[Time=5, KvHeads=2, HeadDim=6]",
            "q_turned[Time=5, Heads=4, HeadDim=6]", "k_turned[Time=5, KvHeads=2, HeadDim=6]",
            "attended[Time=5, Heads=4, HeadDim=6]", "attn_out[Time=5, Model=16]",
            "attn_residual[Time=5, Model=16]", "ffn_norm[Time=5, Model=16]",
            "ffn_gate[Time=5, Hidden=24]", "ffn_up[Time=5, Hidden=24]",
            "ffn_hidden[Time=5, Hidden=24]", "ffn_out[Time=5, Model=16]",
            "ffn_residual[Time=5, Model=16]"});
}

TEST_CASE("observer: no turning, no such steps") {
  Small block = small();
  block.attention.rope.reset();
  const auto steps = steps_of(block);
  CHECK(steps.size() == 13);
  for (const auto& step : steps) CHECK(step.find("turned") == std::string::npos);
}

TEST_CASE("observer: values are those of the step, and watching changes nothing") {
  const Small block = small();
  Random random(3);
  const auto x = normal(random, Batch<>(2), Time<>(5), Model<16>());
  std::vector<float> seen_q, seen_end;
  index_t steps = 0;
  const auto watched = block(x, [&](const Step& step) {
    ++steps;
    auto& to = std::string(step.name) == "q" ? seen_q : seen_end;
    if (&to == &seen_q || std::string(step.name) == "ffn_residual") {
      append_elements(step.value.data, step.value.sizes, step.value.strides, step.value.rank, to);
    }
  });
  CHECK(steps == 2 * 15);  // each sequence on its own
  CHECK(different_bits(seen_end, elements(watched)) == "");
  CHECK(different_bits(elements(watched), elements(block(x))) == "");
  std::vector<float> q;
  for (index_t b = 0; b < 2; ++b) {
    const auto part = elements(block.attention.q((*block.attention_norm)(slice<Batch>(x, b, 1))));
    q.insert(q.end(), part.begin(), part.end());
  }
  CHECK(different_bits(seen_q, q) == "");
}

TEST_CASE("observer: paths name the layer") {
  const auto x = zeros<float>(Time<>(2), Model<16>());
  const Step inside{3, "q", ConstOperand::of(x)}, outside{-1, "logits", ConstOperand::of(x)};
  CHECK(inside.path() == "blk.3.q");
  CHECK(inside.shape_text() == "blk.3.q[Time=2, Model=16]");
  CHECK(outside.shape_text() == "logits[Time=2, Model=16]");
  const Observer nobody;
  CHECK(!nobody);
  nobody.show(0, "q", x);
}
