// A block of the product of many rows with a stored weight matrix, in bf16 tiles: x is packed for
// all blocks before, weights are decoded panel by panel, and the sums stay in the layout of tiles
// until they are complete.
//
// What stays in which cache, of 48 kB and 2 MB (Sapphire Rapids): a panel of bf16_chunk inputs is
// 32 kB of the first level. The chunk of packed x that all panels of a block pass over is at most
// 512 kB, the block's sums are at most as much, and both stay in the second level. Panel and sums
// lie on the stack, 545 kB; nothing is allocated.
#pragma once

#include <cstring>

#include "imbrex/kernels/arch/parts/gemm_bf16.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/tiles/gemm.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

/// Rows of x that share a decoded panel: decoding costs some 10 cycles for 32 weights, multiplying
/// them by 512 rows 512.
inline constexpr index_t bf16_rows = 512;

/// Outputs of a block at most: with twice as many the sums are 1 MB, and x is read from beyond the
/// second level half as often; as measured that gives 2 to 4 %, and is not worth the stack.
inline constexpr index_t bf16_outputs = 256;

/// Inputs of a panel.
inline constexpr index_t bf16_chunk = 512;

/// Inputs of packed x: of bf16_rows rows 4 MB.
inline constexpr index_t bf16_run = 4096;

/// Up to this many rows are few: they wait for weights, from memory or from their decoder. A panel
/// then passes over all inputs of a run, so that stored rows are read from end to end, and BF16
/// weights are multiplied where they lie: they meet one or two pairs of tiles of x, the second time
/// from second-level cache (256 kB of them, and 512 kB of x), and a copy would cost as much.
inline constexpr index_t bf16_few_rows = 64;

/// Packed rows of x: input k of row r is in chunk k / chunk, in there in pair r / 32.
struct PackedX {
  bf16* tiles;
  index_t rows, inputs;

  constexpr bool few() const { return rows <= bf16_few_rows; }
  constexpr index_t pairs() const { return ceil_div(rows, tile_pair); }

  /// The chunk that input k belongs to.
  constexpr index_t chunk_start(index_t k) const { return few() ? 0 : k / bf16_chunk * bf16_chunk; }
  constexpr index_t chunk_end(index_t k) const {
    return few() ? inputs : lesser(inputs, chunk_start(k) + bf16_chunk);
  }
  /// Numbers from pair to pair in it: those of its tiles.
  constexpr index_t stride(index_t k) const {
    return ceil_div(chunk_end(k) - chunk_start(k), tile_inputs) * 2 * tile_numbers;
  }
  /// The first pair's tiles from input k on, a multiple of tile_inputs.
  constexpr bf16* at(index_t k) const {
    const index_t start = chunk_start(k);
    return tiles + 2 * tile_numbers * (start / tile_inputs * pairs() + (k - start) / tile_inputs);
  }
};

/// Packs rows [16 tile, 16 tile + 16) of x, as many as there are.
inline void pack_rows(const Bf16Gemm& gemm, ConstRows x, index_t tile, const PackedX& to) {
  const index_t t = tile * tile_rows;
  for (index_t k = 0; k < to.inputs; k = to.chunk_end(k)) {
    bf16* at = to.at(k) + tile / 2 * to.stride(k) + tile % 2 * tile_numbers;
    gemm.pack({x.row(t) + k, x.stride, lesser(tile_rows, to.rows - t), to.chunk_end(k) - k, at});
  }
}

/// A block of the product: outputs [o, o + outputs) of all packed rows; inputs [k, k + x.inputs) of
/// the matrix are packed.
struct Bf16Block {
  Rows y;
  PackedX x;
  Matrix w;
  index_t k, o, outputs;
};

/// What a block needs of the stack.
struct Bf16Buffers {
  alignas(64) float sums[bf16_rows * bf16_outputs];
  alignas(64) bf16 panel[tile_pair * bf16_chunk];
};

/// Part of a chunk for a panel: inputs [k, k + inputs) of the run, and whether its weights are
/// multiplied where they lie.
struct Bf16Piece {
  index_t o, k, inputs;
  bool direct;
};

/// What is multiplied at once from input k on for the panel from output o on: a panel, or of BF16,
/// where few rows share them, all whole tiles as they lie.
inline Bf16Piece piece_at(const Bf16Block& b, index_t o, index_t k) {
  const index_t left = b.x.chunk_end(k) - k;
  const bool direct =
      b.x.few() && b.w.dtype == Dtype::bf16 && o + tile_pair <= b.outputs && left >= tile_inputs;
  return {o, k, direct ? left / tile_inputs * tile_inputs : lesser(bf16_chunk, left), direct};
}

/// The stored rows of the piece that comes behind this one: more inputs, else the next panel, else
/// the next chunk.
inline NextRows next_rows(const Bf16Block& b, const Bf16Piece& now) {
  index_t o = now.o, k = now.k + now.inputs;
  if (k == b.x.chunk_end(now.k)) {
    o = o + tile_pair < b.outputs ? o + tile_pair : 0;
    if (o > 0) k = b.x.chunk_start(now.k);
  }
  if (k == b.x.inputs) return {};
  return {b.w.row(b.o + o) + row_bytes(b.w.dtype, b.k + k), b.w.row_bytes,
          lesser(tile_pair, b.outputs - o), row_bytes(b.w.dtype, piece_at(b, o, k).inputs)};
}

/// The panel of a piece; zeros for outputs that are not there, and for inputs, up to a whole tile.
inline void load_bf16_panel(const Bf16Gemm& gemm, const Bf16Block& b, const Bf16Piece& piece,
                            bf16* panel) {
  const index_t width = ceil_div(piece.inputs, tile_inputs) * tile_inputs;
  const std::byte* w = b.w.row(b.o + piece.o) + row_bytes(b.w.dtype, b.k + piece.k);
  for (index_t i = 0; i < tile_pair; ++i, panel += bf16_chunk, w += b.w.row_bytes) {
    const index_t count = piece.o + i < b.outputs ? piece.inputs : 0;
    if (count > 0) gemm.rows.by_dtype[static_cast<int>(b.w.dtype)](w, count, panel);
    std::memset(panel + count, 0, static_cast<std::size_t>(width - count) * sizeof(bf16));
  }
}

/// Adds to the sums of a panel what a piece gives.
inline void multiply_piece(const Bf16Gemm& gemm, const Bf16Block& b, const Bf16Piece& piece,
                           Bf16Buffers& buffers) {
  const std::byte* w = b.w.row(b.o + piece.o) + row_bytes(b.w.dtype, b.k + piece.k);
  index_t w_stride = b.w.row_bytes;
  if (!piece.direct) {
    load_bf16_panel(gemm, b, piece, buffers.panel);
    w = reinterpret_cast<const std::byte*>(buffers.panel), w_stride = bf16_chunk * 2;
  }
  gemm.multiply({buffers.sums + piece.o * tile_pair * b.x.pairs(), w, w_stride, b.x.at(piece.k),
                 b.x.stride(piece.k), ceil_div(b.x.rows, tile_rows),
                 ceil_div(piece.inputs, tile_inputs) * tile_inputs, piece.k > 0,
                 next_rows(b, piece)});
}

/// All sums of the block.
inline void multiply_block(const Bf16Gemm& gemm, const Bf16Block& b, Bf16Buffers& buffers) {
  for (index_t chunk = 0; chunk < b.x.inputs; chunk = b.x.chunk_end(chunk)) {
    for (index_t o = 0; o < b.outputs; o += tile_pair) {
      for (index_t k = chunk; k < b.x.chunk_end(chunk);) {
        const Bf16Piece piece = piece_at(b, o, k);
        multiply_piece(gemm, b, piece, buffers);
        k += piece.inputs;
      }
    }
  }
}

/// y = start + sums for a tile; of one at the edge only what belongs to y is read and written.
inline void add_bf16_tile(const Bf16Gemm& gemm, Rows y, ConstRows start, const float* sums) {
  if (y.rows == tile_rows && y.cols == tile_rows) {
    return gemm.add({y.data, y.stride, start.data, start.stride, sums});
  }
  float edge[tile_floats] = {};
  const Rows tile{edge, y.rows, y.cols, tile_rows};
  copy_rows(tile, start);
  gemm.add({edge, tile_rows, edge, tile_rows, sums});
  copy_rows(y, tile);
}

/// y = start + all sums of the block, whose rows and outputs y and start have.
inline void add_sums(const Bf16Gemm& gemm, index_t pairs, Rows y, ConstRows start,
                     const float* sums) {
  for (index_t o = 0; o < y.cols; o += tile_rows) {
    for (index_t t = 0; t < y.rows; t += tile_rows) {
      const index_t rows = lesser(tile_rows, y.rows - t), outputs = lesser(tile_rows, y.cols - o);
      // Panel o / 32, pair t / 32, tile (o / 16 % 2, t / 16 % 2).
      const index_t tile =
          4 * (o / tile_pair * pairs + t / tile_pair) + 2 * (o / tile_rows % 2) + t / tile_rows % 2;
      add_bf16_tile(gemm, {y.row(t) + o, rows, outputs, y.stride}, part(start, t, rows, o, outputs),
                    sums + tile * tile_floats);
    }
  }
}

/// The block: y = start + the product, where `start` is the bias (null: zeros), or y itself where
/// a run of inputs came before.
inline void gemm_bf16(const Bf16Gemm& gemm, const Bf16Block& b, const float* bias) {
  float first[bf16_outputs] = {};
  if (bias != nullptr) copy_rows({first, 1, b.outputs, 0}, {bias + b.o, 1, b.outputs, 0});
  const Rows y{b.y.row(0) + b.o, b.x.rows, b.outputs, b.y.stride};
  const ConstRows start = b.k == 0 ? ConstRows{first, b.x.rows, b.outputs, 0} : y;
  if (b.x.inputs == 0) return copy_rows(y, start);
  Bf16Buffers buffers;
  gemm.configure();
  multiply_block(gemm, b, buffers);
  gemm.release();
  add_sums(gemm, b.x.pairs(), y, start, buffers.sums);
}

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
