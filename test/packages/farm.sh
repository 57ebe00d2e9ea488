# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# For the tests of this folder that make a farm on a network of their own: this machine
# is 10.9.0.1, and each worker has a network namespace. A test runs itself again in
# namespaces, with --inside BUILD WORK.

source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"

# begin TEST BUILD: sets build, and work, a folder that is removed at the end.
begin() {
  [[ $# -eq 2 && -x $2/bin/ld.lld ]] || die "usage: $1 BUILD"
  [[ $EUID -eq 0 ]] || die "needs root"
  build=$(realpath "$2")
  work=$(mktemp -d)
  chmod 755 "$work"
  at_exit "rm -rf --one-file-system '$work'"
}

# run_inside TEST: runs the rest of TEST.
run_inside() {
  unshare --net --mount --pid --fork --mount-proc --kill-child \
    "$1" --inside "$build" "$work"
}

# The root folder of this release as debootstrap made it, which scripts/in-debian keeps.
base_folder() {
  local release
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  "$top/scripts/in-debian" "$release" true
  echo "${DTLTO_DEBIAN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dtlto/debian}/$release/base"
}

# Prints the address of worker $1, which is 1 or 2.
address() { echo "10.9.0.1$1"; }

# networks N: makes a bridge for this machine and N workers.
networks() {
  ip link set lo up
  ip link add farm type bridge
  ip addr add 10.9.0.1/24 dev farm
  ip link set farm up
  mount -t tmpfs none /run/netns 2>/dev/null || mount -t tmpfs none /run
  local n
  for ((n = 1; n <= $1; ++n)); do
    ip netns add "w$n"
    ip link add "v$n" type veth peer name eth0 netns "w$n"
    ip link set "v$n" master farm up
    ip -n "w$n" addr add "$(address $n)/24" dev eth0
    ip -n "w$n" link set eth0 up
    ip -n "w$n" link set lo up
  done
}

# Makes the modules and stock LLD's output.
make_inputs() {
  local n
  for n in {0..7}; do
    echo "int f$(((n + 1) % 8))(int); int f$n(int x) { return x > 9 ? x : f$(((n + 1) % 8))(x + $n); }" |
      "clang-$llvm" --target=x86_64-linux-gnu -O2 -flto=thin -c -x c - -o "$work/$n.o"
  done
  "/usr/lib/llvm-$llvm/bin/ld.lld" -e f0 "$work"/*.o -o "$work/stock"
}

# link N PLUGIN OPTION...: links through the plugin; the output must be stock LLD's, and
# N workers must have done jobs.
link() {
  export DTLTO_STATS=$work/stats.json
  rm -f "$DTLTO_STATS" "$work/out"
  "$build/bin/ld.lld" -e f0 "$work"/*.o -o "$work/out" --thinlto-dist-plugin="$2" \
    --thinlto-dist-fallback=none --thinlto-dist-local-jobs=0 --thinlto-dist-duplicate=0 \
    "${@:3}"
  cmp "$work/out" "$work/stock"
  local used
  used=$("$build/bin/dtlto-stats" | awk '/^WORKER/ { on = 1; next } !NF { on = 0 }
    on && $3 > 0' | wc -l)
  [[ $used -eq $1 ]] ||
    die "$2: $used of $1 workers did jobs: $("$build/bin/dtlto-stats")"
}

# Starts a scheduler, and this machine's iceccd, which does no jobs.
start_icecream() {
  # Nodes that are busy get no jobs.
  echo "cpu  0 0 0 1000 0 0 0 0 0 0" | cat - <(tail -n +2 /proc/stat) >"$work/idle"
  mount --bind "$work/idle" /proc/stat
  install -d -o icecc "$work/icecc" "$work/icecc/base"
  export ICECC_TEST_SOCKET=$work/icecc/socket XDG_CACHE_HOME=$work/cache \
    ICECC_SCHEDULER=10.9.0.1
  icecc-scheduler -n dtlto -p 8765 >"$work/scheduler.log" 2>&1 &
  ICECC_TESTS=1 iceccd --no-remote -s 10.9.0.1:8765 -n dtlto -N local \
    -b "$work/icecc/base" >"$work/local.log" 2>&1 &
}

# Waits until N nodes take jobs. A new node reports a full load at first.
wait_for_nodes() {
  local status end=$((SECONDS + 60))
  while ((SECONDS < end)); do
    status=$("$build/bin/ld.lld" --thinlto-dist-plugin=icecc --thinlto-dist-status 2>&1 ||
      true)
    # NAME up SLOTS BUSY LOAD%
    [[ $(awk '$2 == "up" && $5 + 0 < 50' <<<"$status" | wc -l) -ne $1 ]] || return 0
    sleep 0.5
  done
  die "icecream has too few nodes: $status"
}
