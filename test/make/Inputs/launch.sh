#!/bin/sh
# A compiler launcher: notes what it is called with.
echo "$#" >> launched
exec "$@"
