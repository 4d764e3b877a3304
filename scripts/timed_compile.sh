#!/usr/bin/env bash
# A compiler launcher: runs the command and, where SPOKESHAVE_COMPILE_TIMES names a
# file, appends "SECONDS OUTPUT" (CPU time of the command) to it.
if [ -z "${SPOKESHAVE_COMPILE_TIMES:-}" ]; then exec "$@"; fi
output=
for ((i = 1; i < $#; i++)); do
  if [ "${!i}" = -o ]; then j=$((i + 1)) output=${!j}; fi
done
"$@"
status=$?
# /proc/self/stat of this shell: fields 16 and 17 are its children's user and
# system time, in ticks.
read -r -a stat <"/proc/$$/stat"
ticks=$((stat[15] + stat[16]))
printf '%d.%02d %s\n' $((ticks / 100)) $((ticks % 100)) "$output" >>"$SPOKESHAVE_COMPILE_TIMES"
exit $status
