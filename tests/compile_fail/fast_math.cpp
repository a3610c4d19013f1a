// error: imbrex needs IEEE arithmetic: compile without -ffast-math, -Ofast and their parts
// shows: version.hpp
#ifdef SHOULD_FAIL
#undef __FINITE_MATH_ONLY__
#define __FINITE_MATH_ONLY__ 1  // what -ffast-math says of itself
#endif
#include "imbrex/base/version.hpp"
