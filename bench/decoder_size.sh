#!/bin/bash
# What a further static decoder adds to a program: the text (code and constants) of an object file
# that loads one, two and three decoders of different static sizes and takes a token through each.
#
#   bench/decoder_size.sh [compiler]
set -euo pipefail
compiler=${1:-g++}
root=$(cd "$(dirname "$0")/.." && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
presets=(smollm2_135m llama2_7b qwen2_5_0_5b)

# text <n>: bytes with the first n of the presets
text() {
  {
    echo '#include "imbrex/checkpoint/load.hpp"'
    echo '#include "imbrex/model/presets.hpp"'
    for preset in "${presets[@]:0:$1}"; do
      cat <<END
float run_$preset(const char* path, imbrex::token_t token) {
  const auto decoder = imbrex::load<imbrex::presets::$preset.dims>(path);
  imbrex::Workspace workspace(decoder);
  imbrex::KvCache cache(decoder.config(), 1);
  return decoder.last_logits(workspace, cache, {&token, 1})(0);
}
END
    done
  } > "$directory/unit.cpp"
  "$compiler" -std=c++20 -O2 -c -I "$root/include" \
    "$directory/unit.cpp" -o "$directory/unit.o"
  size "$directory/unit.o" | awk 'NR == 2 { print $1 }'
}

before=0
printf '%-9s %9s  %s\n' decoders text difference
for n in 1 2 3; do
  bytes=$(text "$n")
  printf '%-9s %9d  %d\n' "$n" "$bytes" $((bytes - before))
  before=$bytes
done
