#!/usr/bin/env bash
# run_tests.sh [--quick] BUILD_DIR [WHEEL_DIR]
# Unit tests, lit, and programs through JAX: on every supported JAX that a Python
# here can run, loudly naming the one that it cannot. The closing line counts all.
set -uo pipefail
cd "$(dirname "$0")/.."
quick=
if [ "$1" = --quick ]; then quick=1; shift; fi
build=$1 wheels=${2:-}
passed=0 failed=0 skipped=0
count() { # adds the numbers that a runner printed to the totals
  passed=$((passed + ${1:-0})) failed=$((failed + ${2:-0})) skipped=$((skipped + ${3:-0}))
}
field() { grep -oE "[0-9]+ $1" <<<"$2" | tail -n 1 | cut -d' ' -f1; }

echo "== unit tests"
log=$(ctest --test-dir "$build" --output-on-failure -j "$(nproc)" -LE lit ${quick:+-LE "lit|slow"} 2>&1) || true
echo "$log" | tail -n 15
# "100% tests passed, 0 tests failed out of 4"; newer ctests leave the middle out.
total=$(sed -nE 's/.*tests passed.* out of ([0-9]+).*/\1/p' <<<"$log" | tail -n 1)
unit_failed=$(sed -nE 's/.* ([0-9]+) tests? failed out of.*/\1/p' <<<"$log" | tail -n 1)
if [ -n "$total" ]; then
  count $((total - ${unit_failed:-0})) "${unit_failed:-0}" 0
else
  count 0 1 0
fi

echo "== lit"
log=$(cmake --build "$build" --target check-lit 2>&1) || true
echo "$log" | tail -n 15
lit_passed=$(sed -nE 's/ *Passed *: *([0-9]+).*/\1/p' <<<"$log")
lit_failed=$(sed -nE 's/ *(Failed|Unresolved|Timed Out) *: *([0-9]+).*/\2/p' <<<"$log" | paste -sd+ | bc 2>/dev/null)
if [ -n "$lit_passed" ]; then count "$lit_passed" "${lit_failed:-0}" 0; else count 0 1 0; fi

run_pytest() { # PYTHON arguments... -> runs and counts
  local python=$1 log; shift
  log=$("$python" -m pytest --durations=5 "$@" 2>&1)
  local status=$?
  echo "$log" | tail -n 25
  local last; last=$(tail -n 1 <<<"$log")
  count "$(field passed "$last")" "$(field failed "$last")" "$(field skipped "$last")"
  if [ $status -ne 0 ] && [ -z "$(field failed "$last")" ]; then failed=$((failed + 1)); fi
}

venv=$(scripts/make_venv.sh "$(scripts/find_pythons.sh)")
echo "== kernels alone"
KERNEL_RUN=$PWD/$build/tests/kernel-run JAX_PLATFORMS=cpu \
  run_pytest "$venv/bin/python" tests/kernel/test_kernels.py -k "not avx2 and not x86"
if [ -z "$quick" ]; then
  KERNEL_RUN=$PWD/$build/tests/kernel-run JAX_PLATFORMS=cpu \
    run_pytest "$venv/bin/python" tests/kernel/test_elementwise.py tests/kernel/test_math.py -k "not avx2 and not x86"
fi

if [ -n "$quick" ]; then
  echo "== programs through JAX, quick ($venv)"
  SPOKESHAVE_LIBRARY=$PWD/$build/runtime/pjrt/libspokeshave_pjrt.so PYTHONPATH=$PWD/python:$PWD/tests/plugin \
    run_pytest "$venv/bin/python" tests/e2e -m quick
else
  mapfile -t pythons < <(scripts/find_pythons.sh --all)
  seen=
  for python in "${pythons[@]}"; do
    venv=$(scripts/make_venv.sh "$python") && scripts/install_package.sh "$venv" "$wheels" || { count 0 1 0; continue; }
    version=$("$venv/bin/python" -c 'import jax; print(jax.__version__)')
    seen="$seen $version"
    echo "== programs through JAX $version ($venv)"
    SPOKESHAVE_BUILD=$PWD/$build run_pytest "$venv/bin/python" tests/e2e
  done
  for wanted in 0.10.2 0.12.0.1; do
    case " $seen " in
      *" $wanted "*) ;;
      *) echo "!!"; echo "!! SKIPPED: JAX $wanted was not tested: no Python here can run it"; echo "!!"; skipped=$((skipped + 1)) ;;
    esac
  done
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
