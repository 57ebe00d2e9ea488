# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sourced by the other scripts.

# With CDPATH, `cd` would print folders, or go to other ones.
unset CDPATH

# The checkout's folder.
# shellcheck disable=SC2034
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The major version of LLVM in Debian's release with this code name; otherwise the
# version of most of the work.
llvm_of() {
  case $1 in
    trixie) echo 22 ;;
    forky | sid) echo 23 ;;
    *) echo 19 ;;
  esac
}

# The version to build and compare with. Debian's sid has the code name of the next
# release.
# shellcheck disable=SC2034
llvm=${DTLTO_LLVM_VERSION:-$(llvm_of "$(. /etc/os-release 2>/dev/null &&
  echo "${VERSION_CODENAME-}")")}

# The targets that linking a program needs: the linker, the worker and the plugins.
# shellcheck disable=SC2034
build_targets=(dtlto-lld dtlto-codegen dtlto-codegen-static dtlto-distributor
  dtlto_local dtlto_distcc dtlto_icecc dtlto_distributor dtlto_make)

# The folder of downloads, outside of every checkout and build tree.
source_cache() {
  echo "${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/dtlto/src"
}

# Prints what a script is about to do.
say() { printf '\n== %s\n' "$*"; }

die() {
  printf 'dtlto: %s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Prints a command line as a user would type it, and runs it.
run() {
  printf '$ %s\n' "$1"
  eval "$1"
}

# Runs the command line $1 when the script ends, also by a signal. The last one added
# runs first.
exit_commands=
at_exit() {
  exit_commands="$1; $exit_commands"
  # shellcheck disable=SC2064
  trap "$exit_commands" EXIT
}
