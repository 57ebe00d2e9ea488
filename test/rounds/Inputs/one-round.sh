#!/bin/sh
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Replaces dtlto-codegen, and fails for jobs of one round.

for word; do
  if test -f "$word" && grep -aq '"round":@ROUND@' "$word"; then
    echo broken >&2
    exit 1
  fi
done
exec @CODEGEN@ "$@"
