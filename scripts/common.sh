# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Read by the other scripts; does nothing by itself.

# The checkout's folder.
# shellcheck disable=SC2034
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Where downloads are kept, outside of every checkout and build tree.
source_cache() {
  echo "${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/dtlto/src"
}

# What a script is about to do.
say() { printf '\n== %s\n' "$*"; }

die() {
  printf 'dtlto: %s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Prints a command line as one would type it, and runs it.
run() {
  printf '$ %s\n' "$1"
  eval "$1"
}
