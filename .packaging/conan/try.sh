#!/bin/bash
# Makes the Conan package from this checkout and builds its test package, with Debian's PCRE2,
# nlohmann-json and Eigen in place of ConanCenter's. Needs Conan 2; its home is a temporary one.
set -euo pipefail
cd "$(dirname "$0")"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export CONAN_HOME=$home PYTHONDONTWRITEBYTECODE=1
version_of() { dpkg-query -f '${Version}' -W "$1" | sed 's/^[0-9]*://; s/[-+~].*//'; }

conan profile detect
for library in eigen/libeigen3-dev pcre2/libpcre2-dev nlohmann_json/nlohmann-json3-dev; do
  conan create system_library --name "${library%/*}" --version "$(version_of "${library#*/}")" \
        --no-remote --test-folder=
done
conan create . -s compiler.cppstd=20 --no-remote -c "tools.cmake.cmake_layout:test_folder=$home/test"
