#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A clang whose objects have 64 MiB that can't be compressed.
case " $* " in
*" @"*)
  while [ $# -gt 1 ]; do
    [ "$1" != -o ] || head -c 64M /dev/urandom >"$2"
    shift
  done ;;
*) exec "${DTLTO_TEST_CLANG:-/usr/bin/clang-19}" "$@" ;;
esac
