// error: norm.into(y, x): y must have the axes of x
// shows: axes_agree< | Hidden<1376> | Model<512>
#include "imbrex/layers/rms_norm.hpp"

using namespace imbrex;

void mistake(const RMSNorm<Model<512>>& norm) {
  auto x = zeros<float>(Time<>(16), Model<512>());
  auto h = zeros<float>(Time<>(16), Hidden<1376>());
#ifdef SHOULD_FAIL
  norm.into(h, x);
#else
  norm.into(x, x);
#endif
}
