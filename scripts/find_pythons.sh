#!/usr/bin/env bash
# Prints the Pythons to work with, one path a line, the newest first.
#
#   find_pythons.sh          the newest working Python of at least 3.11
#   find_pythons.sh --all    the newest for each supported JAX: one >= 3.12, and 3.11
#
# PYTHON=... overrides the first. A Python works if it can make virtual
# environments; pyenv's versions are looked at too.
set -euo pipefail
works() { # PATH -> prints "MINOR PATH" for a CPython 3.11 to 3.14 that can make environments
  "$1" -c 'import sys, ensurepip, ctypes, ssl, venv
assert sys.implementation.name == "cpython" and (3, 11) <= sys.version_info[:2] <= (3, 14)
print(sys.version_info[1], sys.executable)' 2>/dev/null
}
found=()
if [ -n "${PYTHON:-}" ]; then
  path=$(command -v "$PYTHON") && line=$(works "$path") ||
    { echo "error: PYTHON=$PYTHON is not a working CPython 3.11 to 3.14" >&2; exit 1; }
  found+=("$line")
fi
candidates=()
for minor in 14 13 12 11; do
  candidates+=(/usr/bin/python3.$minor /usr/local/bin/python3.$minor)
  candidates+=("${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.$minor.*/bin/python3)
done
for path in "${candidates[@]}"; do
  if [ -x "$path" ] && line=$(works "$path"); then found+=("$line"); fi
done
[ ${#found[@]} -gt 0 ] || { echo "error: no working Python of at least 3.11 (Debian: python3, python3-venv)" >&2; exit 1; }
first=${found[0]}
if [ "${1:-}" != --all ]; then
  echo "${first#* }"
  exit 0
fi
newest="" oldest=""
for line in "${found[@]}"; do
  minor=${line%% *}
  if [ "$minor" -ge 12 ]; then newest=${newest:-${line#* }}; else oldest=${oldest:-${line#* }}; fi
done
if [ -n "$newest" ]; then echo "$newest"; fi
if [ -n "$oldest" ]; then echo "$oldest"; fi
