#!/bin/sh
# Fails if three compilers run at the same time.
mkdir -p running
: > running/$$
if [ $(ls running | wc -l) -gt ${MOST:-2} ]; then echo "too many" >&2; exit 1; fi
"$@"
code=$?
rm running/$$
exit $code
