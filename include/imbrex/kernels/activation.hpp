// The non-linear functions of feed-forward layers, alone and as gates.
#pragma once

#include "imbrex/base/activation.hpp"
#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y = f(x); y may be x. Each function has its limits at -inf and inf, and keeps a NaN. `f` is one
/// of its type's names: layers and configurations refuse others. Throws ConfigError as active_isa
/// does.
inline void activate(Rows y, ConstRows x, Activation f) {
  const MapRow function = active_kernels().elementwise.activate[static_cast<int>(f)];
  for_each_row(y.rows, y.cols, [&](index_t i) { function(y.row(i), x.row(i), y.cols); });
}

/// y = f(gated) * up: SwiGLU with silu, GeGLU with gelu (Shazeer 2020); y may be gated or up.
inline void gate(Rows y, ConstRows gated, ConstRows up, Activation f) {
  const MapRows function = active_kernels().elementwise.gate[static_cast<int>(f)];
  for_each_row(y.rows, y.cols,
               [&](index_t i) { function(y.row(i), gated.row(i), up.row(i), y.cols); });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
