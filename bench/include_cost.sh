#!/bin/bash
# What an #include costs, as a ratio to <Eigen/Dense> in the same run: the user's time of
# `-fsyntax-only`, the least of several rounds through all headers. Fails where one costs more than
# it may, with a tenth for other work on the machine.
#
#   bench/include_cost.sh [compiler] [rounds]
set -euo pipefail
compiler=${1:-g++} rounds=${2:-7}
root=$(cd "$(dirname "$0")/.." && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
TIMEFORMAT=%U
declare -A least=() limit=([imbrex/imbrex.hpp]=1.8 [imbrex/tensor.hpp]=0.5)

# seconds <header>
seconds() {
  echo "#include <$1>" > "$directory/unit.cpp"
  { time "$compiler" -std=c++20 -fsyntax-only -I "$root/include" -isystem /usr/include/eigen3 \
      "$directory/unit.cpp"; } 2>&1
}

headers=(Eigen/Dense $(cd "$root/include" && echo imbrex/*.hpp))
for ((round = 0; round < rounds; ++round)); do
  for header in "${headers[@]}"; do
    least[$header]=$({ echo "${least[$header]:-1000}"; seconds "$header"; } | sort -n | head -1)
  done
done

status=0
printf '%-28s %6s  %s\n' header seconds ratio
for header in "${headers[@]}"; do
  awk -v n="$header" -v s="${least[$header]}" -v e="${least[Eigen/Dense]}" \
      -v limit="${limit[$header]:-}" 'BEGIN {
    printf "%-28s %6.2f  %.2f%s\n", n, s, s / e, limit == "" ? "" : "  at most " limit
    exit limit != "" && s / e > 1.1 * limit
  }' || status=1
done
exit $status
