#!/usr/bin/env bash
# install_package.sh VENV WHEEL_DIR: installs the built wheel, if it is not the one installed.
set -euo pipefail
venv=$1 wheel=$(ls "$2"/spokeshave-*.whl)
sum=$(sha256sum "$wheel" | cut -c1-64)
if [ "$(cat "$venv/.spokeshave" 2>/dev/null)" = "$sum" ]; then exit 0; fi
"$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --force-reinstall "$wheel"
echo "$sum" >"$venv/.spokeshave"
