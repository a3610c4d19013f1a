#!/bin/bash
# check.sh OUTPUT_DIR: writes the reference, and fails where a public name has no docstring. Exit code
# 77, which ctest lists as skipped, where Doxygen is not installed.
set -euo pipefail
output=$(realpath -m "$1")
cd "$(dirname "$(realpath "$0")")/.."
if ! command -v doxygen > /dev/null; then
  echo "skipped: doxygen is not installed"
  exit 77
fi
mkdir -p "$output"
abi=$(awk '$2 == "IMBREX_VERSION_MAJOR" { major = $3 }
           $2 == "IMBREX_VERSION_MINOR" { minor = $3 }
           END { print "v" major "_" minor }' include/imbrex/base/version.hpp)
{
  cat .doxygen/Doxyfile
  echo "OUTPUT_DIRECTORY = \"$output\""
  echo "PREDEFINED += IMBREX_ABI=$abi"
} | doxygen -
echo "every public name has a docstring: $output/html/index.html"
