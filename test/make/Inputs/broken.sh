#!/bin/sh
# Compiles all but one module.
case "$*" in
*gamma*) echo "broken: not gamma" >&2; exit 1 ;;
esac
exec "$@"
