// The message of the error that a function throws.
#pragma once

#include <string>

/// what() of the E that f() throws; a text no error has where it throws nothing. Other exceptions
/// pass through, and fail the test.
template <class E, class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}
