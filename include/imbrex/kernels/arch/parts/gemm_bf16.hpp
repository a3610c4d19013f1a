// What a set offers for many rows in bf16: rows of weights in bf16, packed rows of x, and the
// products of their tiles.
//
// A tile is 1 kB, 16 rows of 64 bytes. The weights are the left operand, 16 outputs by 32 inputs,
// as rows lie in memory; x is the right one, 16 rows of x by 32 inputs, transposed in pairs of
// inputs; what comes out is y transposed, 16 outputs by 16 rows of x.
#pragma once

#include <cstddef>

#include "imbrex/base/bf16.hpp"
#include "imbrex/base/dtype.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Outputs or rows of x of a tile, and inputs; numbers in bf16 of one, or floats.
inline constexpr index_t tile_rows = 16, tile_inputs = 32, tile_numbers = 512, tile_floats = 256;

/// Outputs of a panel of weights, and rows of x that meet them at once: two tiles by two, so that
/// four products want four operands, which take as long to load as to multiply.
inline constexpr index_t tile_pair = 2 * tile_rows;

/// Decodes `count` numbers of a stored row, whole blocks, and rounds them to bf16: to nearest,
/// halves to even, subnormal numbers to zeros.
using BfloatRow = void (*)(const std::byte* w, index_t count, bf16* to);

/// By Dtype; null for the formats that are multiplied in f32.
struct BfloatRows {
  BfloatRow by_dtype[dtype_count];
};

/// Packs rows of x, at most tile_rows: input k of row r, rounded as weights are, to
/// tiles[k / 32 * 2 tile_numbers + k % 32 / 2 * 32 + 2 r + k % 2]; zeros where a tile has no input
/// or row. Between tiles is room for those of the other half of a pair of them.
struct PackedTiles {
  const float* x;
  index_t stride, rows, inputs;
  bf16* tiles;
};
using PackTiles = void (*)(const PackedTiles& packed);

/// Stored rows that will be wanted, called for meanwhile: the first `bytes` of each.
struct NextRows {
  const std::byte* start;
  index_t row_bytes, rows, bytes;
};

/// The panel that will be multiplied next, decoded meanwhile, panel_slice numbers of a row at a
/// time: the first `inputs` of stored rows to rows of `to`, to_stride numbers apart.
struct NextPanel {
  BfloatRow decode;  ///< null: there is none
  const std::byte* w;
  index_t row_bytes, slice_bytes, rows, inputs;
  bf16* to;
  index_t to_stride;
};

/// A block of the largest formats: 100 to 250 instructions to decode. A processor has 512 under way
/// at once (Sapphire Rapids), so that products of tiles go on beside them.
inline constexpr index_t panel_slice = 256;

/// Products of a panel of tile_pair outputs with packed rows of x: sums, as tiles, of outputs
/// 16 i + .. with rows 32 p + 16 j + .. to sums + (4 p + 2 i + j) tile_floats, floats [16][16].
struct TilesProduct {
  float* sums;
  const std::byte* w;  ///< in bf16, rows row_bytes apart
  index_t row_bytes;
  const bf16* x;  ///< as PackTiles has them; pairs of tiles x_stride numbers apart
  index_t x_stride;
  index_t tiles;   ///< of rows of x, at least one
  index_t inputs;  ///< a positive multiple of tile_inputs
  bool more;       ///< whether they are added to the sums
  NextPanel next;
  NextRows ahead;  ///< may be none
};
using MultiplyTiles = void (*)(const TilesProduct& product);

/// y[r][o] = start[r][o] + sums[o][r], 16 by 16; strides in floats. `start` may be y.
struct AddedTile {
  float* y;
  index_t y_stride;
  const float* start;
  index_t start_stride;
  const float* sums;
};
using AddTile = void (*)(const AddedTile& tile);

/// The parts of gemm in bf16; all null where a set has none. `multiply` is called between
/// `configure` and `release`, on the same thread.
struct Bf16Gemm {
  BfloatRows rows;
  PackTiles pack;
  void (*configure)();
  MultiplyTiles multiply;
  void (*release)();
  AddTile add;
};

}  // namespace imbrex::kernels::inline IMBREX_ABI
