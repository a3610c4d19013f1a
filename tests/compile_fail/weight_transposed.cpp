// error: Weight<Out, In>(w): the axes of w must be Out and In
// shows: Hidden<1376> | Model<512>
#include "imbrex/tensor/weight.hpp"

using namespace imbrex;

void mistake(const Weight<Axes<Hidden<1376>>, Axes<Model<512>>>& w) {
#ifdef SHOULD_FAIL
  Weight<Axes<Model<512>>, Axes<Hidden<1376>>> other(w);
#else
  Weight<Axes<Hidden<1376>>, Axes<Model<512>>> other(w);
#endif
}
