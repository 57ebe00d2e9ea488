#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# no-threads.sh PLUGIN LINK...: for each limit on threads, the output equals
# `stock`, or the link fails with a message about too few threads.
# as `stock`, or fails and says that there are too few.
plugin=$1
shift
for n in 0 1 2 3 4 5 6 7 8 9 10 12 16; do
  rm -f out
  THREADS=$n LD_PRELOAD=./no-threads.so timeout 60 "$@" \
    --thinlto-dist-plugin=$plugin -o out 2>said
  status=$?
  if test $status = 0; then
    cmp stock out || exit
  elif test $status != 1 || test -e out ||
    ! grep "no thread can be started" said; then
    echo "$n threads, exit code $status"
    cat said
    exit 1
  fi
done
