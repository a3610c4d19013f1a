// error: Weight<Out, In>(w): the axes of w must be Out and In
// shows: Hidden<1376> | Model<512> | Model<576>
#include "imbrex/tensor/weight.hpp"

using namespace imbrex;

void mistake(const Weight<Axes<Hidden<1376>>, Axes<Model<512>>>& w) {
#ifdef SHOULD_FAIL
  Weight<Axes<Hidden<>>, Axes<Model<576>>> other(w);
#else
  Weight<Axes<Hidden<>>, Axes<Model<512>>> other(w);
#endif
}
