# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sourced by the other scripts.

# With CDPATH, `cd` would print folders, or go to other ones.
unset CDPATH

# The checkout's folder.
# shellcheck disable=SC2034
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

has_installed_llvm() {
  [[ -e /usr/lib/llvm-$1/lib/liblldELF.a ]]
}

# has_llvm VERSION: whether this machine, or its lists of packages, has it.
has_llvm() {
  has_installed_llvm "$1" ||
    apt-cache show "liblld-$1-dev" >/dev/null 2>&1
}

# Prints the version of LLVM to build and compare with.
default_llvm() {
  local version
  for version in 22 23 19; do
    ! has_llvm "$version" || break
  done
  echo "$version"
}

# A new machine may have no package lists yet.
update_package_lists() {
  [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null ||
    apt-cache show g++ >/dev/null 2>&1 || apt-get -qq update >&2 || true
}

# LLVM's major version.
# shellcheck disable=SC2034
if [[ -n ${DTLTO_LLVM_VERSION-} ]]; then
  llvm=$DTLTO_LLVM_VERSION
else
  # apt-cache takes half a second.
  has_installed_llvm 22 || update_package_lists
  llvm=$(default_llvm)
fi

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
