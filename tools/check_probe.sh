#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: check_probe.sh liblowtide_probe.so probe.imports
#
# The probe imports only what the list names, nothing younger than glibc 2.17, needs libc alone,
# and its code and data stay under 192 KiB (debug information not counted): the walker
# has a row for each CPython and for each C type whose fields it names.
set -eu
imports=$(objdump -T "$1" | awk '/\*UND\*/ && $2 != "w" { print $NF, $(NF-1) }' | tr -d '()' | sort -u)
extra=$(printf '%s\n' "$imports" | cut -d' ' -f1 | grep -vxFf "$2" || true)
[ -z "$extra" ] || { echo "not on the list of imports:" $extra; exit 1; }
young=$(printf '%s\n' "$imports" |
  awk '{ split($2, v, /[_.]/); if (v[1] != "GLIBC" || v[2] > 2 || v[3] > 17) print $1 "@" $2 }')
[ -z "$young" ] || { echo "younger than glibc 2.17:" $young; exit 1; }
needed=$(objdump -p "$1" | awk '$1 == "NEEDED" && $2 !~ /^(libc\.so\.6|ld-linux-.*)$/ { print $2 }')
[ -z "$needed" ] || { echo "needs more than libc:" $needed; exit 1; }
size=$(size "$1" | awk 'NR == 2 { print $1 + $2 }')
[ "$size" -le 196608 ] || { echo "$size bytes of code and data, budget 196608"; exit 1; }
echo "probe: $size bytes, $(printf '%s\n' "$imports" | wc -l) imports"
