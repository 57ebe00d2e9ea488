#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A clang of another version, whose objects would differ.
clang=${DTLTO_TEST_CLANG:-/usr/bin/clang-19}
for arg; do
  case $arg in
  --version)
    echo "Debian clang version ${clang##*-}.1.99 (1)"
    echo "Target: x86_64-pc-linux-gnu"
    exit ;;
  esac
done
exec "$clang" -O0 "$@"
