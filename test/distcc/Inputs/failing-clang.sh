#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A clang that fails at once for every compile.
case " $* " in
*" @"*)
  echo "fatal error: no luck today" >&2
  exit 1 ;;
*) exec "${DTLTO_TEST_CLANG:-/usr/bin/clang-19}" "$@" ;;
esac
