#!/bin/sh
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs dtlto-codegen ($WORKER). The folder $RUNNING has a file for each running
# worker, and their number is appended to $RUNNING.most. Each worker waits, up
# to 20 s, until $MEET of them run. Then, if $KILL is set, it sends that signal
# to the linker.
touch "$RUNNING/$$"
i=0
while
  n=$(ls "$RUNNING" | wc -l)
  echo "$n" >> "$RUNNING.most"
  if [ "$n" -ge "${MEET:-1}" ]; then
    touch "$RUNNING.met"
    [ -z "$KILL" ] || kill "-$KILL" $PPID
  fi
  [ ! -e "$RUNNING.met" ] && [ $i -lt 200 ]
do
  sleep 0.1
  i=$((i + 1))
done
"$WORKER" "$@"
status=$?
rm "$RUNNING/$$"
exit $status
