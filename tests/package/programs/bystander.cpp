// A program of the same project that does not use imbrex notices nothing of it.
#if __has_include("imbrex/imbrex.hpp") || __has_include(<Eigen/Core>)
#error "include directories leak"
#endif
#if defined(_OPENMP)
#error "OpenMP leaks"
#endif
#if __cplusplus > 201703L
#error "the language standard leaks"
#endif
#if defined(__OPTIMIZE__) || defined(NDEBUG)
#error "the build type leaks"
#endif

int main() {}
