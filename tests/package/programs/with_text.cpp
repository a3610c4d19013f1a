// imbrex::text: PCRE2 is found, and linked.
#include <cstdio>
#include <vector>

#include "imbrex/text.hpp"

int main() {
  std::vector<imbrex::index_t> lengths;
  imbrex::SplitPattern({"\\p{L}+"}).split("ab cde", lengths);
  std::printf("%zu pieces\n", lengths.size());
  return lengths == std::vector<imbrex::index_t>{2, 1, 3} ? 0 : 1;
}
