#!/usr/bin/env bash
# Installs the system packages that Spokeshave builds and runs with (Debian 12).
# Does nothing where all are there; needs root or sudo otherwise.
set -euo pipefail
packages=(
  llvm-19-dev libmlir-19-dev mlir-19-tools llvm-19-tools   # the compiler's libraries; lit, FileCheck
  clang-19 lld-19 libclang-rt-19-dev clang-format-19       # building, sanitizers, fuzzing, formatting
  cmake ninja-build ccache make git
  libgtest-dev libmpfr-dev nlohmann-json3-dev libcli11-dev # tests; MPFR is also the oracle's arithmetic
  liblapack-dev libopenblas-dev                            # decompositions of large matrices
  zlib1g-dev libzstd-dev                                   # LLVM's own link dependencies
  python3 python3-venv
)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "system packages: all ${#packages[@]} present"
  exit 0
fi
echo "system packages: installing ${missing[*]}"
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "error: need root or sudo to install: ${missing[*]}" >&2; exit 1; }
  sudo=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -q
"${sudo[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}"
