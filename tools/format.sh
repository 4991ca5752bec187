#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Formats the files named, or every C and C++ file, in place. Version 14, Debian 12's.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(git ls-files -co --exclude-standard '*.h' '*.cc')
exec clang-format-14 -i "$@"
