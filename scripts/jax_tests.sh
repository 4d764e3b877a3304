#!/usr/bin/env bash
# jax_tests.sh CHECKOUT [NAME...] [OPTION...]
# JAX's own tests on Spokeshave: the files of CHECKOUT/tests, by default lax_test, with one
# generated case each. CHECKOUT is JAX's repository at the tag of the JAX that $PYTHON has
# (default: python3),
# which also needs absl-py, hypothesis and mpmath. Options are those of jax_tests.py: --sample 150, --only REGEX, --json FILE, ...
# SPOKESHAVE_LIBRARY names a plugin that is not installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -d "${1:-}/tests" ] || { sed -n '2,7s/^# //p' "$0"; exit 2; }
checkout=$1; shift
case "${1:---}" in -*) set -- lax_test "$@" ;; esac
python=${PYTHON:-python3}
if [ -n "${SPOKESHAVE_LIBRARY:-}" ]; then
  export PYTHONPATH=$here/../python:$here/../tests/plugin${PYTHONPATH:+:$PYTHONPATH}
fi
export JAX_PLATFORMS=${JAX_PLATFORMS:-spokeshave,cpu} JAX_NUM_GENERATED_CASES=${JAX_NUM_GENERATED_CASES:-1}
exec "$python" "$here/jax_tests.py" "$checkout" "$@"
