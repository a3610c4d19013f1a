// What the quantised formats have in common. A row of numbers is stored as blocks; each format's
// block is a struct whose members lie as its bytes do in a file (the layouts are ggml's, see
// github.com/ggml-org/ggml, src/ggml-common.h), and has a function decode_block beside it.
//
// Blocks in a file may start at any address. They are copied into a struct before they are looked
// at: the copy is aligned, and no write through a float* can alias it, so the loops vectorise.
// Members are copied one by one: a copy of the whole block goes to the stack in pieces that its
// vector loads then straddle, which no processor forwards (three times slower, measured on Q8_0).
//
// A scale has 11 significant bits, its integer factors together at most 12: products are exact in
// float. Each number is rounded at most once, by the subtraction or addition of an offset,
// and so comes out the same with fused multiply-add and without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "imbrex/base/dtype.hpp"
#include "imbrex/base/f16.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Copies the members of a block from `bytes`, which may have any alignment.
template <class... Members>
void load_members(const std::byte* bytes, Members&... members) {
  ((std::memcpy(&members, bytes, sizeof(members)), bytes += sizeof(members)), ...);
}

/// Whether a struct has the size that its format says.
template <class Block>
inline constexpr bool block_fits_dtype =
    sizeof(Block) == static_cast<std::size_t>(traits(Block::dtype).bytes);

}  // namespace imbrex::kernels::inline IMBREX_ABI
