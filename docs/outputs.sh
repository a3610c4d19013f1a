#!/bin/bash
# outputs.sh write|check EXAMPLES_DIR [MODEL.gguf]: what programs print, as quoted in README and docs/.
#
# A quotation is a comment with the command and a ```text block behind it:
#
#   <!-- output: parameter_count llama-2-7b -->      the whole output, and any picture it writes
#   <!-- output, varies: prefill_and_decode $MODEL -->    times and the like: written, never compared
#
# Commands are run in docs/, where a picture named pictures/x.svg lands. `write` puts in what they
# print now; `check` compares and exits 1 where something is stale. A command with $MODEL is left
# out without the third argument; where that names no file, the exit code is 77.
set -euo pipefail
mode=$1 examples=$(realpath "$2") model=${3:-}
[[ -z $model || -e $model ]] || { echo "skipped: there is no $model"; exit 77; }
docs=$(dirname "$(realpath "$0")")
export PATH="$examples:$PATH" MODEL=$model
# Rounded activations make a last digit a matter of the machine's instruction set.
export IMBREX_ARITHMETIC=f32
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/pictures" "$scratch/out"
stale=0 count=0

# Puts the output of command $1 into $scratch/out/$2, run where its pictures may be kept.
run() {
  local where=$scratch
  [[ $mode == write ]] && where=$docs && mkdir -p "$docs/pictures"
  (cd "$where" && bash -c "$1" > "$scratch/out/$2" < /dev/null) || { echo "failed: $1" >&2; exit 1; }
}

for page in "$docs"/../README.md "$docs"/*.md; do
  # Every command of the page is run first; then one pass puts the outputs in.
  n=0
  while IFS= read -r line; do
    n=$((n + 1))
    [[ $line == '<!-- output'* ]] || continue
    [[ $line =~ ^'<!-- output'(', varies')?': '(.*)' -->'$ ]] ||
      { echo "$page:$n: not of the form <!-- output: COMMAND -->: $line" >&2; exit 1; }
    varies=${BASH_REMATCH[1]} command=${BASH_REMATCH[2]}
    [[ $command == *'$MODEL'* && -z $model ]] && continue
    [[ $mode == check && -n $varies ]] && continue
    run "$command" "$n"
    count=$((count + 1))
  done < "$page"
  awk -v dir="$scratch/out" '
    function put(file,   text) { while ((getline text < file) > 0) print text; close(file) }
    /^<!-- output/ { pending = dir "/" NR }
    skipping && /^```$/ { skipping = 0 }
    !skipping { print }
    /^```text$/ && pending != "" {
      if ((getline text < pending) >= 0) { close(pending); put(pending); skipping = 1 }
      pending = ""
    }' "$page" > "$scratch/page"
  rm -f "$scratch"/out/*
  cmp -s "$page" "$scratch/page" && continue
  if [[ $mode == write ]]; then
    cat "$scratch/page" > "$page"
  else
    diff -u --label "$page" --label "what its commands print" "$page" "$scratch/page" || stale=1
  fi
done

if [[ $mode == check ]]; then
  for picture in "$scratch"/pictures/*; do
    [[ -e $picture ]] || continue
    cmp "$picture" "$docs/pictures/$(basename "$picture")" || stale=1
  done
fi
((count > 0)) || { echo "no quoted output found" >&2; exit 1; }
echo "$count quoted outputs: $([[ $mode == write ]] && echo written || { ((stale)) && echo stale || echo current; })"
exit $stale
