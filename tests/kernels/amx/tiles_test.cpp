// The vocabulary of tiles: emulated on every machine, and the processor's where it has AMX. Both
// are held to numbers worked by hand from the operation of TDPBF16PS.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "imbrex/base/bf16.hpp"
#include "imbrex/base/isa.hpp"
#include "imbrex/base/random.hpp"

using namespace imbrex;

namespace {

namespace emulated {
#include "tests/kernels/amx/emulated_tiles.inl"
#include "tests/kernels/amx/tile_product.inl"
}  // namespace emulated

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("amx-tile,amx-bf16"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("amx-tile,amx-bf16")
#endif
namespace processor {
#include "imbrex/kernels/arch/amx/tiles.inl"
#include "tests/kernels/amx/tile_product.inl"
}  // namespace processor
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

using TileProduct = void (*)(const bf16* a, const bf16* b, float* c);

std::vector<TileProduct> tile_products() {
  std::vector<TileProduct> products{emulated::tile_product};
#if defined(__x86_64__)
  if (available(Isa::amx)) products.push_back(processor::tile_product);
#endif
  return products;
}

/// c + a b for one a[16][32], b[32][16] and c[16][16], given as numbers that bf16 has.
struct Tiles {
  float a[16][32] = {}, b[32][16] = {}, c[16][16] = {};

  void multiply(TileProduct product) {
    alignas(64) bf16 left[16][32], right[16][16][2];
    for (int i = 0; i < 16; ++i) {
      for (int k = 0; k < 32; ++k) {
        left[i][k] = to_bf16(a[i][k]);
        right[k / 2][i][k % 2] = to_bf16(b[k][i]);
      }
    }
    product(left[0], right[0][0], c[0]);
  }
};

/// What a row of a, a column of b and a start give. Where they are finite, the other elements,
/// which have zeros for one of them or both, are zeros.
float element(TileProduct product, const std::vector<float>& a, const std::vector<float>& b,
              float start) {
  Tiles tiles;
  bool finite = true;
  for (std::size_t k = 0; k < a.size(); ++k) {
    tiles.a[11][k] = a[k], tiles.b[k][6] = b[k];
    finite = finite && std::isfinite(a[k]) && std::isfinite(b[k]);
  }
  tiles.c[11][6] = start;
  tiles.multiply(product);
  int others = 0;
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) others += tiles.c[i][j] != 0 && (i != 11 || j != 6) ? 1 : 0;
  }
  if (finite) CHECK(others == 0);
  return tiles.c[11][6];
}

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("amx tiles: a product of whole numbers is exact") {
  for (const TileProduct product : tile_products()) {
    Random random(1);
    Tiles tiles;
    const auto number = [&] { return static_cast<float>(random() % 17) - 8; };
    for (auto& row : tiles.a) {
      for (float& v : row) v = number();
    }
    for (auto& row : tiles.b) {
      for (float& v : row) v = number();
    }
    for (auto& row : tiles.c) {
      for (float& v : row) v = number();
    }
    float want[16][16];
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 16; ++j) {
        want[i][j] = tiles.c[i][j];
        for (int k = 0; k < 32; ++k) want[i][j] += tiles.a[i][k] * tiles.b[k][j];
      }
    }
    tiles.multiply(product);
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 16; ++j) CHECK(tiles.c[i][j] == want[i][j]);
    }
  }
}

// 2^24 + 1 is no float, and rounds to 2^24, as 2^24 + 3 does to 2^24 + 4. Sums of even k: 2^24 and
// -2^24, of odd k: 1. One after the other that would be 0.
TEST_CASE("amx tiles: sums of even and odd k, each rounded to nearest, halves to even") {
  for (const TileProduct product : tile_products()) {
    CHECK(element(product, {0x1p24f, 1, -0x1p24f}, {1, 1, 1}, 0) == 1);
    CHECK(element(product, {0x1p24f, 0, 1, 0, 1}, {1, 1, 1, 1, 1}, 0) == 0x1p24f);
    CHECK(element(product, {1}, {1}, 0x1p24f) == 0x1p24f);
    CHECK(element(product, {3}, {1}, 0x1p24f) == 0x1p24f + 4);
    CHECK(element(product, {1, 2}, {1, 1}, 0x1p24f) == 0x1p24f + 4);  // not 2^24 + 2
  }
}

// The smallest number that is not subnormal is 2^-126.
TEST_CASE("amx tiles: subnormal numbers are zeros, as operands, sums and results") {
  for (const TileProduct product : tile_products()) {
    CHECK(element(product, {0x1p-63f}, {0x1p-63f}, 0) == 0x1p-126f);
    CHECK(element(product, {0x1p-63f}, {0x1p-64f}, 0) == 0);
    CHECK(element(product, {0x1p-127f}, {0x1p100f}, 0) == 0);
    CHECK(element(product, {1}, {0x1p-130f}, 0) == 0);
    CHECK(element(product, {0}, {1}, 0x1p-127f) == 0);
    CHECK(element(product, {-0x1p-63f}, {0x1p-63f}, 0x1.8p-126f) == 0);  // 2^-127
  }
}

TEST_CASE("amx tiles: infinities and NaN") {
  for (const TileProduct product : tile_products()) {
    CHECK(element(product, {infinity, 1}, {2, 1}, 5) == infinity);
    CHECK(element(product, {-1}, {infinity}, 5) == -infinity);
    CHECK(element(product, {0x1p127f, 0x1p127f}, {2, 0}, 0) == infinity);
    CHECK(std::isnan(element(product, {infinity}, {0}, 0)));
    CHECK(std::isnan(element(product, {infinity, -infinity}, {1, 1}, 0)));
    CHECK(std::isnan(element(product, {std::nanf("")}, {1}, 0)));
  }
}

TEST_CASE("amx tiles: use without configuration is noticed by the emulation") {
  CHECK(emulated::misuses == 0);
  float c[256];
  emulated::store_tile<0>(c, 64);
  CHECK(emulated::misuses == 1);
  emulated::misuses = 0;
}
