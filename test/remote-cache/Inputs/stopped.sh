#!/bin/sh
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# stopped.sh SERVER STOP-AFTER LINK
#
# Runs the command LINK, which writes `out`, with a new server that is killed or frozen
# in it: without an entry, before a request, and with all entries, in a reply. Prints
# what LINK prints, and fails if it fails, prints more than a line, or if `out` isn't
# `stock`.
set -eu

check() {
  rm -f out
  sh -c "$1" >log 2>&1 || { cat log; echo "failed: $2"; exit 1; }
  cat log
  [ "$(wc -l <log)" -le 1 ] || { echo "more than a line: $2"; exit 1; }
  cmp stock out
}

for signal in KILL STOP; do
  for requests in 0 3 9; do
    check "$1 -- $2 $signal $requests -- sh -c '$3'" "$signal $requests"
  done
  for requests in 0 3; do
    check "$1 -- sh -c '$3 && rm out && exec $2 $signal $requests --reply -- sh -c \"\$1\"' x '$3'" \
      "$signal $requests --reply"
  done
done
