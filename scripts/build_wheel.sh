#!/usr/bin/env bash
# build_wheel.sh BUILD_DIR WHEEL_DIR: packs the libraries of a finished build into a
# wheel, quickly: what `pip install .` does from nothing, without compiling again.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 wheels=$2
venv=$(scripts/make_venv.sh "$(scripts/find_pythons.sh)")
stamp=$wheels/.stamp
newest=$(find "$build" python bench pyproject.toml \( -name '*.so' -o -name spokeshave -type f -o -name '*.py' \
  -o -name pyproject.toml \) -newer "$stamp" -print -quit 2>/dev/null || echo build)
if [ -f "$stamp" ] && [ -z "$newest" ]; then exit 0; fi
rm -rf "$wheels" && mkdir -p "$wheels"
"$venv/bin/python" -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation \
  -C build-dir="$build" -w "$wheels" .
touch "$stamp"
ls "$wheels"/*.whl
