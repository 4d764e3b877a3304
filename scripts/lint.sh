#!/usr/bin/env bash
# Formatting, Python lint and the direction of includes. --fix mends what it can.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$(scripts/make_venv.sh "$(scripts/find_pythons.sh)")
mapfile -t sources < <(git ls-files '*.h' '*.cpp')
if [ "${1:-}" = --fix ]; then
  clang-format-19 -i "${sources[@]}"
  "$venv/bin/ruff" format -q
  "$venv/bin/ruff" check -q --fix
else
  clang-format-19 --dry-run -Werror "${sources[@]}"
  "$venv/bin/ruff" format -q --check
  "$venv/bin/ruff" check -q
fi
"$venv/bin/python" scripts/check_includes.py
echo "lint: clean"
