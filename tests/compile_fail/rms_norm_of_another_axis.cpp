// error: norm(x): the last axis of x must be the norm's
// shows: axes_agree< | Hidden<1376> | Model<512>
#include "imbrex/layers/rms_norm.hpp"

using namespace imbrex;

void mistake(const RMSNorm<Model<512>>& norm) {
#ifdef SHOULD_FAIL
  norm(zeros<float>(Time<>(16), Hidden<1376>()));
#else
  norm(zeros<float>(Time<>(16), Model<512>()));
#endif
}
