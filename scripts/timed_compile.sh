#!/usr/bin/env bash
# A compiler launcher: runs the command and, where SPOKESHAVE_COMPILE_TIMES names a
# file, appends "SECONDS OUTPUT" (CPU time of the command) to it.
# ccache takes no compilation with a precompiled header otherwise; the compiler's own list
# of dependencies saves it a run of the preprocessor.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}
export CCACHE_DEPEND=${CCACHE_DEPEND:-1}
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
