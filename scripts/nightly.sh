#!/usr/bin/env bash
# nightly.sh BUILD_DIR: what takes too long for every change. Writes build/nightly/HASH.txt,
# whose first line is the commit that was tested; exits with 1 if anything failed.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$1
hash=$(git rev-parse HEAD)$(git diff --quiet HEAD || echo -dirty)
mkdir -p build/nightly
report=build/nightly/$hash.txt
failed=0
step() { # NAME COMMAND... -> runs it, keeps its last lines
  local name=$1 start=$SECONDS status; shift
  "$@" >"build/nightly/log.txt" 2>&1
  status=$?
  [ $status -eq 0 ] || failed=1
  { echo "== $name: exit $status, $((SECONDS - start)) s"; tail -n 15 build/nightly/log.txt; } | tee -a "$report"
}
echo "commit $hash" >"$report"
python=$(scripts/make_venv.sh "$(scripts/find_pythons.sh)")/bin/python
export KERNEL_RUN=$PWD/$build/tests/kernel-run
step "kernels on every instruction set" env JAX_PLATFORMS=cpu "$python" -m pytest -q tests/kernel
step "memory is flat over 10,000 compiles" env SPOKESHAVE_FLAT_COMPILES=10000 \
  "$python" -m pytest -q tests/e2e/test_bad_input.py -k flat
cmake --preset "asan+ubsan" -DSPOKESHAVE_FUZZ=ON >/dev/null
step "bytecode fuzzing, ten minutes" bash -c '
  cmake --build "build/asan+ubsan" --target fuzz-bytecode &&
  mkdir -p build/nightly/corpus && cp input/bytecode/test/Inputs/*.mlirbc build/nightly/corpus/ &&
  find "build/asan+ubsan" -name fuzz-bytecode -type f -exec {} -max_total_time=600 build/nightly/corpus \;'
step "fuzzing of chip files, two minutes" bash -c '
  cmake --build "build/asan+ubsan" --target fuzz-chip &&
  mkdir -p build/nightly/chips && cp machine/chips/*.json build/nightly/chips/ &&
  find "build/asan+ubsan" -name fuzz-chip -type f -exec {} -max_total_time=120 build/nightly/chips \;'
echo "report: $report"
exit $failed
