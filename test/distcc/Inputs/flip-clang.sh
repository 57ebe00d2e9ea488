#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A clang that gets the first byte after the object's header wrong.
"${DTLTO_TEST_CLANG:-/usr/bin/clang-19}" "$@" || exit
is_job= output= before=
for arg; do
  case $arg in @*) is_job=1 ;; esac
  test "$before" = -o && output=$arg
  before=$arg
done
test -z "$is_job" || printf '\376' |
  dd of="$output" bs=1 seek=64 conv=notrunc 2>/dev/null
