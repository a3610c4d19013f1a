#include "imbrex/model/config.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <type_traits>

#include "imbrex/model/config_check.hpp"

using namespace imbrex;

static_assert(std::is_trivially_copyable_v<Config>);

namespace {

constexpr Config tiny{.dims = {.layers = 2,
                               .vocab = 10,
                               .model = 8,
                               .heads = 4,
                               .kv_heads = 2,
                               .head_dim = 6,
                               .hidden = 5}};

/// Whether checking `c` is a constant expression.
template <const Config& c>
concept checks = requires { typename std::bool_constant<(check(c), true)>; };

/// What `check` says of `tiny` after `change`, or "" when it says nothing.
template <class Change>
std::string complaint(Change change) {
  Config config = tiny;
  change(config);
  try {
    check(config);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

constexpr Config dynamic{};
constexpr Config uneven{.dims = {2, 10, 8, 4, 3, 6, 5}};

template <Dims>
struct Typed {};

}  // namespace

static_assert(checks<tiny>);
static_assert(!checks<dynamic>);
static_assert(!checks<uneven>);
static_assert(std::is_same_v<Typed<tiny.dims>, Typed<Dims{2, 10, 8, 4, 2, 6, 5}>>);
static_assert(!std::is_same_v<Typed<tiny.dims>, Typed<Dims{}>>);

TEST_CASE("dims: partly known sizes take the sizes of a model, or say which does not fit") {
  CHECK(is_static(tiny.dims));
  CHECK_FALSE(is_static(Dims{}));
  Dims pattern{.model = 8, .head_dim = 6};
  CHECK_FALSE(is_static(pattern));
  CHECK(first_mismatch(Dims{}, tiny.dims) == nullptr);
  CHECK(first_mismatch(pattern, tiny.dims) == nullptr);
  pattern.kv_heads = 4;
  REQUIRE(first_mismatch(pattern, tiny.dims) != nullptr);
  CHECK(std::string(first_mismatch(pattern, tiny.dims)->name) == "kv_heads");
  CHECK(pattern.*first_mismatch(pattern, tiny.dims)->size == 4);
}

TEST_CASE("config: the defaults are Llama's") {
  const Config config{};
  CHECK(config.norm == NormKind::rms_norm);
  CHECK(config.norm_placement == NormPlacement::pre);
  CHECK(config.activation == Activation::silu);
  CHECK(config.feed_forward == FeedForwardKind::gated);
  CHECK(config.rope.pairs == RopePairs::interleaved);
  CHECK_FALSE(config.qkv_bias);
  CHECK_FALSE(config.tie_embeddings);
}

TEST_CASE("config: rules for layers") {
  Config config = tiny;
  CHECK(window(config, 0) == 0);
  config.window = 16;
  CHECK(window(config, 0) == 16);
  CHECK(window(config, 5) == 16);
  // Gemma 3: five windowed layers, then a global one.
  config.global_layers = {6};
  CHECK(window(config, 4) == 16);
  CHECK(window(config, 5) == 0);
  CHECK(window(config, 6) == 16);
  CHECK(config.global_layers.count(26) == 4);  // 5, 11, 17, 23
  CHECK(EveryNth{}.count(26) == 0);

  CHECK(rotates(config, 0));
  config.positions = Positions::none;
  CHECK_FALSE(rotates(config, 0));

  CHECK(rotary_dims(config) == 6);
  config.rope.rotary_dims = 4;
  CHECK(rotary_dims(config) == 4);
}

TEST_CASE("check: sizes") {
  CHECK(complaint([](Config&) {}) == "");
  CHECK(complaint([](Config& c) { c.dims.layers = 0; }) == "layers = 0: expected 1 or more");
  CHECK(complaint([](Config& c) { c.dims.vocab = dyn; }) == "vocab = dynamic: expected a size");
  CHECK(complaint([](Config& c) { c.dims.hidden = -2; }) == "hidden = -2: expected 1 or more");
  CHECK(complaint([](Config& c) { c.dims.kv_heads = 0; }) == "kv_heads = 0: expected 1 or more");
  CHECK(complaint([](Config& c) { c.dims.kv_heads = 3; }) ==
        "heads = 4: expected a multiple of kv_heads = 3");
  CHECK(complaint([](Config& c) { c.dims.kv_heads = 8; }) ==
        "heads = 4: expected a multiple of kv_heads = 8");
  CHECK(complaint([](Config& c) { c.context = 0; }) == "context = 0: expected 1 or more");
  CHECK(complaint([](Config& c) { c.window = -1; }) == "window = -1: expected 0 or more");
  CHECK(complaint([](Config& c) { c.norm_bias = true; }) ==
        "norm_bias = 1: expected 0 with RMSNorm, which has no bias");
}

TEST_CASE("check: RoPE") {
  CHECK(complaint([](Config& c) { c.dims.head_dim = 7; }) ==
        "rope.rotary_dims = 7: expected an even number from 2 to head_dim = 7");
  // An odd head is no harm where nothing turns, or where an even part of it does.
  CHECK(complaint([](Config& c) {
          c.dims.head_dim = 7;
          c.positions = Positions::learned;
        }) == "");
  CHECK(complaint([](Config& c) {
          c.dims.head_dim = 7;
          c.rope.rotary_dims = 4;
        }) == "");
  CHECK(complaint([](Config& c) { c.rope.rotary_dims = 8; }) ==
        "rope.rotary_dims = 8: expected an even number from 2 to head_dim = 6");
  CHECK(complaint([](Config& c) { c.rope.rotary_dims = -2; }) ==
        "rope.rotary_dims = -2: expected an even number from 2 to head_dim = 6");
  CHECK(complaint([](Config& c) { c.rope.theta = 0; }) ==
        "rope.theta = 0: expected a positive number");
  CHECK(complaint([](Config& c) { c.rope.skipped_layers.n = -4; }) ==
        "rope.skipped_layers = -4: expected 0 or more");
}

TEST_CASE("check: the scaling of RoPE, by its kind") {
  const auto with = [](RopeScaling scaling) {
    return complaint([scaling](Config& c) { c.rope.scaling = scaling; });
  };
  CHECK(with({.kind = RopeScalingKind::none, .factor = -1}) == "");  // not read
  CHECK(with({.kind = RopeScalingKind::linear, .factor = 4}) == "");
  CHECK(with({.kind = RopeScalingKind::linear, .factor = 0}) ==
        "rope.scaling.factor = 0: expected a positive number");
  CHECK(with({.kind = RopeScalingKind::llama3, .factor = 8}) ==
        "rope.scaling.original_context = 0: expected 1 or more");
  CHECK(with({.kind = RopeScalingKind::llama3, .factor = 8, .original_context = 8192}) == "");
  CHECK(with({.kind = RopeScalingKind::llama3,
              .factor = 8,
              .low_freq_factor = 4,
              .original_context = 8192}) ==
        "rope.scaling.high_freq_factor = 4: expected more than rope.scaling.low_freq_factor");
  CHECK(with({.kind = RopeScalingKind::yarn, .factor = 40, .original_context = 4096}) == "");
  CHECK(with({.kind = RopeScalingKind::yarn,
              .factor = 40,
              .original_context = 4096,
              .beta_slow = 32}) ==
        "rope.scaling.beta_fast = 32: expected more than rope.scaling.beta_slow");
}

TEST_CASE("check: numbers that are none, or out of range") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(complaint([&](Config& c) { c.norm_eps = 0; }) ==
        "norm_eps = 0: expected a positive number");
  CHECK(complaint([&](Config& c) { c.norm_eps = 1e-45; }) ==
        "norm_eps = 1e-45: expected a positive number within a float's range");
  CHECK(complaint([&](Config& c) { c.attention_scale = 1e300; }) ==
        "attention_scale = 1e+300: expected a positive number within a float's range");
  CHECK(complaint([&](Config& c) { c.norm_eps = nan; }) ==
        "norm_eps = nan: expected a positive number");
  CHECK(complaint([&](Config& c) { c.rope.theta = infinity; }) ==
        "rope.theta = inf: expected a positive number");
  CHECK(complaint([&](Config& c) { c.norm_weight_offset = nan; }) ==
        "norm_weight_offset = nan: expected a finite number");
  CHECK(complaint([&](Config& c) { c.attention_softcap = -50; }) ==
        "attention_softcap = -50: expected 0 or a positive number");
  CHECK(complaint([&](Config& c) { c.logit_softcap = nan; }) ==
        "logit_softcap = nan: expected 0 or a positive number");
  CHECK(complaint([&](Config& c) { c.attention_scale = -1; }) ==
        "attention_scale = -1: expected 0 or a positive number");
  CHECK(complaint([&](Config& c) { c.embedding_scale = 0; }) ==
        "embedding_scale = 0: expected a positive number");
}

TEST_CASE("check: the error carries key and value") {
  Config config = tiny;
  config.dims.layers = 0;
  try {
    check(config);
    FAIL("no error");
  } catch (const ConfigError& error) {
    CHECK(error.key() == "layers");
    CHECK(error.value() == "0");
  }
}

TEST_CASE("check: choices that there are not") {
  CHECK(complaint([](Config& c) { c.activation = Activation(4); }) ==
        "activation = 4: expected a choice, 0 to 3");
  CHECK(complaint([](Config& c) { c.norm = NormKind(2); }) ==
        "norm = 2: expected a choice, 0 to 1");
  CHECK(complaint([](Config& c) { c.norm_placement = NormPlacement(3); }) ==
        "norm_placement = 3: expected a choice, 0 to 2");
  CHECK(complaint([](Config& c) { c.qk_norm = QkNorm(255); }) ==
        "qk_norm = 255: expected a choice, 0 to 2");
  CHECK(complaint([](Config& c) { c.feed_forward = FeedForwardKind(2); }) ==
        "feed_forward = 2: expected a choice, 0 to 1");
  CHECK(complaint([](Config& c) { c.positions = Positions(3); }) ==
        "positions = 3: expected a choice, 0 to 2");
  CHECK(complaint([](Config& c) { c.rope.pairs = RopePairs(2); }) ==
        "rope.pairs = 2: expected a choice, 0 to 1");
  CHECK(complaint([](Config& c) { c.rope.scaling.kind = RopeScalingKind(4); }) ==
        "rope.scaling.kind = 4: expected a choice, 0 to 3");
}
