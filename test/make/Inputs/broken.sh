#!/bin/sh
# Compiles all modules except one.
case "$*" in
*gamma*) echo "broken: not gamma" >&2; exit 1 ;;
esac
exec "$@"
