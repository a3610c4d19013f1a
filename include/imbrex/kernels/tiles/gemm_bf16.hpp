// A block of the product of many rows with a stored weight matrix, in bf16 tiles: x is packed for
// all blocks before; weights are decoded panel by panel, each while the one before it is
// multiplied; the sums stay in the layout of tiles until they are complete.
//
// What stays in which cache, of 48 kB and 2 MB (Sapphire Rapids): a panel of bf16_chunk inputs is
// 32 kB of the first level. The chunk of packed x that all panels of a block pass over is at most
// 512 kB, the block's sums are at most as much, and both stay in the second level. Two panels and
// the sums lie on the stack, 577 kB; nothing is allocated.
#pragma once

#include <cstring>

#include "imbrex/kernels/arch/parts/gemm_bf16.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/tiles/gemm.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

/// Rows of x that share a decoded panel. For 32 weights a product of tiles takes a cycle with each
/// 16 rows, so 32 with 512; decoding them, some 10.
inline constexpr index_t bf16_rows = 512;

/// Outputs of a block at most. Each block reads x anew from beyond the second level, a tile of 1 kB
/// for 16 products (256 cycles), so 4 bytes a cycle; twice the outputs would halve that, and take 1
/// MB of the stack.
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
  alignas(64) bf16 panels[2][tile_pair * bf16_chunk];
};

/// Part of a chunk for a panel: inputs [k, k + inputs) of the run, and whether its weights are
/// multiplied where they lie. Without inputs it is none.
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

/// The piece that comes behind this one: more inputs, else the next panel, else the next chunk.
inline Bf16Piece piece_behind(const Bf16Block& b, const Bf16Piece& now) {
  index_t o = now.o, k = now.k + now.inputs;
  if (now.inputs > 0 && k == b.x.chunk_end(now.k)) {
    o = o + tile_pair < b.outputs ? o + tile_pair : 0;
    if (o > 0) k = b.x.chunk_start(now.k);
  }
  return now.inputs > 0 && k < b.x.inputs ? piece_at(b, o, k) : Bf16Piece{};
}

/// Outputs of a piece, and their stored rows from its first input on.
inline index_t piece_outputs(const Bf16Block& b, const Bf16Piece& piece) {
  return lesser(tile_pair, b.outputs - piece.o);
}
inline const std::byte* stored(const Bf16Block& b, const Bf16Piece& piece) {
  return b.w.row(b.o + piece.o) + row_bytes(b.w.dtype, b.k + piece.k);
}

/// The stored rows to call for while `next` is decoded: those behind it, or its own where it is
/// not.
inline NextRows rows_ahead(const Bf16Block& b, const Bf16Piece& next) {
  const Bf16Piece piece = next.direct ? next : piece_behind(b, next);
  if (piece.inputs == 0) return {};
  return {stored(b, piece), b.w.row_bytes, piece_outputs(b, piece),
          row_bytes(b.w.dtype, piece.inputs)};
}

/// What has to be decoded for a piece, to a panel that has zeros already where it lacks outputs, or
/// inputs up to a whole tile.
inline NextPanel next_panel(const Bf16Gemm& gemm, const Bf16Block& b, const Bf16Piece& piece,
                            bf16* panel) {
  if (piece.inputs == 0 || piece.direct) return {};
  const index_t outputs = piece_outputs(b, piece);
  const index_t width = ceil_div(piece.inputs, tile_inputs) * tile_inputs;
  for (index_t i = 0; i < tile_pair; ++i) {
    const index_t there = i < outputs ? piece.inputs : 0;
    std::memset(panel + i * bf16_chunk + there, 0,
                static_cast<std::size_t>(width - there) * sizeof(bf16));
  }
  const BfloatRow decode = gemm.rows.by_dtype[static_cast<int>(b.w.dtype)];
  return {decode,  stored(b, piece), b.w.row_bytes, row_bytes(b.w.dtype, panel_slice),
          outputs, piece.inputs,     panel,         bf16_chunk};
}

/// Adds to the sums of a panel what a piece gives, and decodes the one behind it meanwhile.
inline void multiply_piece(const Bf16Gemm& gemm, const Bf16Block& b, const Bf16Piece& piece,
                           const bf16* panel, float* sums, bf16* other) {
  const Bf16Piece next = piece_behind(b, piece);
  const auto* decoded = reinterpret_cast<const std::byte*>(panel);
  gemm.multiply(
      {sums + piece.o * tile_pair * b.x.pairs(), piece.direct ? stored(b, piece) : decoded,
       piece.direct ? b.w.row_bytes : bf16_chunk * 2, b.x.at(piece.k), b.x.stride(piece.k),
       ceil_div(b.x.rows, tile_rows), ceil_div(piece.inputs, tile_inputs) * tile_inputs,
       piece.k > 0, next_panel(gemm, b, next, other), rows_ahead(b, next)});
}

/// All sums of the block, piece after piece. Only the first panel is waited for.
inline void multiply_block(const Bf16Gemm& gemm, const Bf16Block& b, Bf16Buffers& buffers) {
  bf16 *panel = buffers.panels[0], *other = buffers.panels[1];
  Bf16Piece piece = piece_at(b, 0, 0);
  const NextPanel first = next_panel(gemm, b, piece, panel);
  for (index_t i = 0; i < first.rows; ++i) {
    first.decode(first.w + i * first.row_bytes, first.inputs, panel + i * bf16_chunk);
  }
  while (piece.inputs > 0) {
    multiply_piece(gemm, b, piece, panel, buffers.sums, other);
    piece = piece_behind(b, piece);
    bf16* const decoded = other;
    other = panel, panel = decoded;
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
