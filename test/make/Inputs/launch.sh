#!/bin/sh
# A compiler launcher that records each call.
echo "$#" >> launched
exec "$@"
