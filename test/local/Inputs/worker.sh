#!/bin/sh
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# dtlto-codegen ($WORKER). $RUNNING is a folder with a file for each that runs;
# $RUNNING.most gets how many there are. Until $MEET of them have met, each waits
# for the others, if need be for 20 s. Whoever sees that they have sends the linker
# the signal $KILL, if there is one.
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
