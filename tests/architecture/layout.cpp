// Sizes and alignments of what units of a program may pass each other, as data: with -DOTHER under
// another name, for another instruction set. Else with a main() that compares the two.
#include <cstddef>
#include <cstdio>

#include "imbrex/generation.hpp"
#include "imbrex/imbrex.hpp"
#include "imbrex/text.hpp"

#if defined(OTHER)
#define NAME other_layout
#else
#define NAME layout
#endif

extern const std::size_t layout[], other_layout[];

template <class T>
inline constexpr std::size_t both = sizeof(T) * 256 + alignof(T);

using namespace imbrex;

extern const std::size_t NAME[] = {
    both<Tensor<float, Batch<>, Model<8>>>,
    both<Weight<Axes<Hidden<>>, Axes<Model<>>>>,
    both<Linear<Model<>, Hidden<>>>,
    both<Attention<Model<>, axes::Heads<>, KvHeads<>, HeadDim<>>>,
    both<Decoder<>>,
    both<KvCache>,
    both<Workspace>,
    both<Config>,
    both<GgufFile>,
    both<Tokenizer>,
    both<Session<>>,
    both<Random>,
    both<Error>,
};

#if !defined(OTHER)
int main() {
  for (std::size_t i = 0; i < sizeof layout / sizeof layout[0]; ++i) {
    const std::size_t alignment = layout[i] % 256;
    std::printf("%zu bytes, aligned to %zu\n", layout[i] / 256, alignment);
    if (layout[i] != other_layout[i] || alignment > alignof(std::max_align_t)) return 1;
  }
}
#endif
