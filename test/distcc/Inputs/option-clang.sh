#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A clang whose packager had an idea.
case " $* " in
*" @"*) exec /usr/bin/clang-19 "$@" -mllvm -align-all-functions=6 ;;
*) exec /usr/bin/clang-19 "$@" ;;
esac
