#!/bin/sh
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Replaces dtlto-codegen ($CODEGEN); $DOES selects the fault.
case $DOES in
segv) kill -SEGV $$ ;;
kill) kill -KILL $$ ;;
words) echo "a few words" >&2; exit 3 ;;
mute) exit 3 ;;
nothing) cat > /dev/null ;;
half) $CODEGEN "$@" | head -c 500 ;;
junk) cat > /dev/null; echo "no frame, but more bytes than the head of one has" ;;
more) $CODEGEN "$@"; echo "more" ;;
# The frame itself isn't changed.
flip) $CODEGEN "$@" | { head -c 88; tr E F; } ;;
hang) echo $$ >> pids; exec sleep 1000 ;;
hang-closed) echo $$ >> pids; exec sleep 1000 > /dev/null 2>&1 ;;
esac
