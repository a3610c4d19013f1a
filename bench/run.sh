#!/bin/bash
# Every benchmark program of a build, one table after the other; exits with 1 where an answer of one
# was wrong.
#
#   bench/run.sh build/bench                                0.05 s for each benchmark
#   bench/run.sh build/bench --benchmark_min_time=1         options go to every program
#   PROGRAMS="gemv matmul" bench/run.sh build/bench         these alone
set -uo pipefail
directory=${1:?usage: bench/run.sh BUILD/bench [options of Google Benchmark]}
shift
if [[ -n ${PROGRAMS:-} ]]; then
  read -ra names <<< "$PROGRAMS"
else
  names=("$directory"/bench_*)
  names=("${names[@]##*/bench_}")
fi
failed=0
for name in "${names[@]}"; do
  printf '\n=== %s\n' "$name"
  "$directory/bench_$name" --benchmark_min_time=0.05 "$@" || { failed=1; echo "failed: $name"; }
done
exit $failed
