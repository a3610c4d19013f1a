// A program without exceptions and RTTI: what it asks for rightly it gets, what is wrong ends it.
#include <cstdio>

#include "imbrex/checkpoint.hpp"
#include "imbrex/layers.hpp"

int main() {
  using namespace imbrex;
  using Layer = Linear<Model<3>, Hidden<2>>;
  const Layer ones(Layer::weight_type(full(1.0f, Hidden<2>(), Model<3>())));
  std::printf("%g\n", static_cast<double>(ones(full(2.0f, Model<3>()))(1)));  // 2 + 2 + 2
  std::fflush(stdout);
  GgufFile::open("no such file");
  std::printf("what is wrong was passed over\n");
}
