#!/bin/bash
# What an #include costs, as a ratio to <Eigen/Dense> in the same run: the user's time of
# `-fsyntax-only`, the least of several.
#
#   bench/include_cost.sh [compiler] [runs]
set -euo pipefail
compiler=${1:-g++} runs=${2:-7}
root=$(cd "$(dirname "$0")/.." && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
TIMEFORMAT=%U

# least <header>: seconds
least() {
  echo "#include <$1>" > "$directory/unit.cpp"
  for ((i = 0; i < runs; ++i)); do
    { time "$compiler" -std=c++20 -fsyntax-only -I "$root/include" -isystem /usr/include/eigen3 \
        "$directory/unit.cpp"; } 2>&1
  done | sort -n | head -1
}

eigen=$(least Eigen/Dense)
printf '%-28s %6s  %s\n' header seconds ratio
printf '%-28s %6.2f  1.00\n' Eigen/Dense "$eigen"
for header in "$root"/include/imbrex/*.hpp; do
  name=imbrex/$(basename "$header")
  seconds=$(least "$name")
  awk -v n="$name" -v s="$seconds" -v e="$eigen" 'BEGIN { printf "%-28s %6.2f  %.2f\n", n, s, s / e }'
done
