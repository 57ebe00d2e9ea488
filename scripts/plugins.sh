# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How scripts/quickstart uses each plugin. plugin_<name> checks what plugin <name>
# needs. It may set link_prefix to words in front of each link, with a space at the end:
# they start the plugin's farm for the duration of the link. It sets plugin_arguments to
# the plugin's own arguments.

# Runs jobs in the linker itself.
plugin_local() { echo "nothing to start: it compiles in the linker"; }

# Starts two of Debian's own distccd for each link, reachable only from this machine.
# "$@": options of farm.py.
start_distccds() {
  command -v distccd >/dev/null ||
    die "there is no distccd; install it as root: apt-get install distcc"
  link_prefix="$(printf %q "$top/test/distcc/Inputs/farm.py") --report --limit=3600"
  # Without arguments, %q would print an empty word.
  [[ $# -eq 0 ]] || link_prefix+=$(printf ' %q' "$@")
  link_prefix+=" 2 -- "
  echo "each link gets a farm of its own: two distccds"
}

need_allowed_clang() {
  [[ -e /usr/lib/distcc/clang-$llvm ]] ||
    die "distccd would refuse clang-$llvm, which is not in /usr/lib/distcc;" \
      "run as root: update-distcc-symlinks"
}

plugin_distcc() {
  need_allowed_clang
  start_distccds
}

# A program with the interface of LLD's own --thinlto-distributor=: dtlto-distributor,
# which sends the jobs to distccds. It must not compile locally.
plugin_distributor() {
  need_allowed_clang
  start_distccds --expect-each
  plugin_arguments=("program=$top/build/bin/dtlto-distributor" arg=--plugin=distcc
    arg=--fallback=none arg=--local-jobs=0)
}

# GNU make, with distcc's own client before each command. The client compiles locally
# what it can't send, and the report wouldn't show that. With DISTCC_FALLBACK=0, it
# fails instead for jobs that it could send.
plugin_make() {
  local name worker=$top/build/bin/dtlto-codegen
  for name in make distcc; do
    command -v "$name" >/dev/null ||
      die "there is no $name; install it as root: apt-get install $name"
  done
  start_distccds --expect-each --only-allow="1:$worker" --only-allow="2:$worker"
  link_prefix+="env DISTCC_FALLBACK=0 "
  plugin_arguments=(cc=distcc "compiler=$worker")
}

# A stock icecream cluster: a scheduler, a local daemon that takes no jobs, and two
# nodes. They are in a network of their own, and so is the linker.
plugin_icecc() {
  local name unshare=(unshare -n -m)
  for name in iceccd icecc-scheduler; do
    PATH=$PATH:/usr/sbin command -v "$name" >/dev/null ||
      die "there is no $name; install it as root: apt-get install icecc"
  done
  for name in libdtlto_icecc.so dtlto-codegen-static; do
    [[ -e $top/build/lib/dtlto/$name ]] ||
      die "there is no build/lib/dtlto/$name; was build/ configured with" \
        "-DDTLTO_STATIC_WORKER=OFF?"
  done
  # As in cluster.py.
  ((EUID == 0)) || unshare+=(-U -c --keep-caps)
  "${unshare[@]}" true ||
    die "cannot create a network namespace, see above; be root, or allow users to" \
      "have namespaces (sysctl kernel.unprivileged_userns_clone or" \
      "kernel.apparmor_restrict_unprivileged_userns), also inside of containers"
  link_prefix="$(printf %q "$top/test/icecc/Inputs/cluster.py") --report"
  link_prefix+=" --limit=3600 2 -- "
  echo "each link gets a cluster of its own: a scheduler, a local daemon, two nodes"
}

# A stock server of the Remote Execution API: buildbox-casd.
plugin_reapi() {
  local name
  for name in libdtlto_reapi.so dtlto-codegen-static; do
    [[ -e $top/build/lib/dtlto/$name ]] ||
      die "there is no build/lib/dtlto/$name; is libgrpc++-dev installed, or was" \
        "build/ configured with -DDTLTO_STATIC_WORKER=OFF?"
  done
  "$top/test/reapi/Inputs/server.py" --where >/dev/null ||
    die "there is no buildbox-casd, which Debian has from sid on; as root, install it" \
      "in a chroot: scripts/in-debian sid apt-get install -y buildbox"
  link_prefix="$(printf %q "$top/test/reapi/Inputs/server.py") --limit=3600 -- "
  echo "each link gets a server of its own"
}

# Fails if there is no plugin $1.
check_plugin_name() {
  declare -F "plugin_$1" >/dev/null || {
    local names
    names=$(compgen -A function plugin_ | sed 's/^plugin_//' | paste -sd ' ')
    die "unknown plugin '$1'; there is: $names"
  }
}

# Prints where each module was compiled, from the link's report. Fails if the linker
# compiled one although plugin $1 has workers: equal bytes wouldn't show that.
report_plugin() {
  python3 - "$1" <<'PYTHON'
import collections, json, sys

with open("report.json") as file:
    jobs = json.load(file)["jobs"]
attempts = [job["attempts"][job["winner"]] for job in jobs]
places = ["the linker" if attempt["in_linker"] else attempt["worker"]
          for attempt in attempts]
for name, place in sorted(zip((job["name"] for job in jobs), places)):
    print("  %-42s -> %s" % (name, place))
for place, count in sorted(collections.Counter(places).items()):
    print("on %s: %d modules" % (place, count))
if sys.argv[1] != "local" and any(a["in_linker"] for a in attempts):
    sys.exit("not all modules were compiled by workers")
PYTHON
}
