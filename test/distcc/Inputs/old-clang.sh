#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A clang of another version; its objects would not be the same.
for arg; do
  case $arg in
  --version)
    echo "Debian clang version 19.1.5 (1)"
    echo "Target: x86_64-pc-linux-gnu"
    exit ;;
  esac
done
exec /usr/bin/clang-19 -O0 "$@"
