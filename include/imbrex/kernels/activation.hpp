// The non-linear functions of feed-forward layers, alone and as gates.
#pragma once

#include "imbrex/base/activation.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"
#include "imbrex/kernels/tiles/activation.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y = f(x); y may be x. Each function has its limits at -inf and inf, and keeps a NaN.
inline void activate(Rows y, ConstRows x, Activation f) {
  tiles::with_activation(f, [&](auto function) {
    for_each_row(y.rows, y.cols,
                 [&](index_t i) { tiles::map(y.cols, y.row(i), x.row(i), function); });
  });
}

/// y = f(gated) * up: SwiGLU with silu, GeGLU with gelu (Shazeer 2020); y may be gated or up.
inline void gate(Rows y, ConstRows gated, ConstRows up, Activation f) {
  tiles::with_activation(f, [&](auto function) {
    for_each_row(y.rows, y.cols, [&](index_t i) {
      tiles::map(y.cols, y.row(i), gated.row(i), up.row(i),
                 [&](tiles::Lanes g, tiles::Lanes u) { return function(g) * u; });
    });
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
