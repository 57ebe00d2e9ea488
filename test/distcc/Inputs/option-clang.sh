#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A clang with an option that its packager added.
case " $* " in
*" @"*) exec "${DTLTO_TEST_CLANG:-/usr/bin/clang-19}" "$@" -mllvm -align-all-functions=6 ;;
*) exec "${DTLTO_TEST_CLANG:-/usr/bin/clang-19}" "$@" ;;
esac
