# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How scripts/quickstart uses each plugin. For plugin <name> there is
#
#   plugin_<name>   checks what it needs, starts what the plugin talks to (and
#                   says with at_exit how to stop it), and may add the plugin's
#                   arguments to link_options
#   report_<name>   after each link, in the folder that the linker ran in: tells
#                   what the plugin did. Only where there is something to tell
#
# and in place of the first's starting something, it may put words in front of each
# link: link_prefix, with a space at its end.

link_options=()
link_prefix=

# Runs jobs in the linker itself: nothing to start.
plugin_local() { echo "nothing to start: it compiles in the linker"; }

# Two of Debian's own distccd, on this machine and only for it.
plugin_distcc() {
  command -v distccd >/dev/null ||
    die "there is no distccd; install it as root: apt-get install distcc"
  [[ -e /usr/lib/distcc/clang-$llvm ]] ||
    die "distccd would refuse clang-$llvm, as it isn't in /usr/lib/distcc;" \
      "run as root: update-distcc-symlinks"

  # As root, a distccd becomes the user distccd before it writes anything.
  distcc_farm=$(mktemp -d)
  distcc_sessions=()
  at_exit stop_distccds
  chmod 755 "$distcc_farm"
  DISTCC_HOSTS=
  start_distccd 1
  start_distccd 2
  export DISTCC_HOSTS=${DISTCC_HOSTS# }
  # Where it notes its work for distccmon-text: not the user's own folder.
  export DISTCC_DIR=$distcc_farm/client
  # In the linker's folder; what report_distcc reads.
  export DISTCC_VERBOSE=1 DISTCC_LOG=distcc.log
  unset DISTCC_FALLBACK DISTCC_IO_TIMEOUT DISTCC_BACKOFF_PERIOD
  local name
  for name in DISTCC_HOSTS DISTCC_DIR DISTCC_VERBOSE DISTCC_LOG; do
    printf '$ export %s=%q\n' "$name" "${!name}"
  done
}

# Starts distccd number $1 and adds it to DISTCC_HOSTS.
start_distccd() {
  local folder=$distcc_farm/$1 jobs=2 port pid try
  mkdir -p "$folder/tmp"
  chmod 1777 "$folder" "$folder/tmp"
  for try in 1 2 3 4 5; do
    port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
    local command=(distccd --no-detach --daemon --listen 127.0.0.1
      --port "$port" --allow 127.0.0.1 --jobs "$jobs"
      --log-file "$folder/log")
    echo "$ TMPDIR=$folder/tmp ${command[*]} &"
    # In a session of its own, so that all that it starts can be found.
    (
      cd "$folder"
      unset DISTCC_CMDLIST DISTCCD_PATH
      TMPDIR=$folder/tmp exec setsid "${command[@]}" </dev/null
    ) &
    pid=$!
    distcc_sessions+=("$pid")
    if wait_for_distccd "$pid" "$port"; then
      DISTCC_HOSTS+=" 127.0.0.1:$port/$jobs"
      return
    fi
    # Somebody else may have taken the port a moment ago: once more.
    stop_session "$pid"
  done
  [[ ! -s $folder/log ]] || tail -n 5 "$folder/log" >&2
  die "distccd doesn't start on 127.0.0.1"
}

# Waits until process $1 answers at port $2. Fails if it ends, or after 20 s.
wait_for_distccd() {
  local end=$((SECONDS + 20))
  while ((SECONDS < end)) && kill -0 "$1" 2>/dev/null; do
    if (: </dev/tcp/127.0.0.1/"$2") 2>/dev/null; then
      return 0
    fi
    sleep 0.05
  done
  return 1
}

# Ends the process $1 and all others of its session, compilers too.
stop_session() {
  local file line fields
  kill -- "-$1" 2>/dev/null || true
  # Compilers have process groups of their own.
  for file in /proc/[0-9]*/stat; do
    read -r line 2>/dev/null <"$file" || continue
    # After the name: state, parent, group, session.
    read -ra fields <<<"${line##*) }"
    [[ ${fields[3]} != "$1" ]] || {
      file=${file#/proc/}
      kill -KILL "${file%/stat}" 2>/dev/null || true
    }
  done
  wait "$1" 2>/dev/null || true
}

stop_distccds() {
  local session
  for session in "${distcc_sessions[@]}"; do
    stop_session "$session"
  done
  rm -rf "$distcc_farm"
}

# Where each module was compiled, in the plugin's own words.
report_distcc() {
  local where="module '(.*)': compiled on (.*) in [0-9.]+ s" table
  table=$(sed -nE "s/^dtlto\[[0-9]+\] distcc: debug: $where$/\1\t\2/p" distcc.log)
  [[ -n $table ]] || die "distcc.log tells of no module where it was compiled"
  echo "compiled, says distcc.log:"
  sort <<<"$table" | awk -F '\t' '{ printf "  %-42s -> %s\n", $1, $2 }'
  cut -f 2 <<<"$table" | sort | uniq -c |
    awk '{ printf "on %s: %d modules\n", $2, $1 }'
}

# A stock icecream cluster for each link: a scheduler, a local daemon that takes no
# jobs, and two nodes. They are in a network of their own, so the linker has to be
# there too, and the tests' cluster.py starts and stops all of it.
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
  # As cluster.py does it.
  ((EUID == 0)) || unshare+=(-U -c --keep-caps)
  "${unshare[@]}" true ||
    die "can't make a network of our own, see above; be root, or allow users to" \
      "have namespaces (sysctl kernel.unprivileged_userns_clone or" \
      "kernel.apparmor_restrict_unprivileged_userns), also inside of containers"

  # ICECC_LOGFILE: in the linker's folder; what report_icecc reads.
  link_prefix="$(printf %q "$top/test/icecc/Inputs/cluster.py") --report"
  link_prefix+=" --limit=3600 --env=ICECC_DEBUG=info --env=ICECC_LOGFILE=icecc.log"
  link_prefix+=" 2 -- "
  echo "each link gets a cluster of its own: a scheduler, a local daemon, two nodes"
}

# Where each module was compiled, in the plugin's own words.
report_icecc() {
  local where="module '(.*)': compiled (on (.*) in [0-9.]+ s|(here), .*)" table
  table=$(
    sed -nE "s/^dtlto\[[0-9]+\] icecc: debug: $where$/\1\t\3\4/p" icecc.log
  )
  [[ -n $table ]] || die "icecc.log tells of no module where it was compiled"
  echo "compiled, says icecc.log:"
  sort <<<"$table" | awk -F '\t' '{ printf "  %-42s -> %s\n", $1, $2 }'
  cut -f 2 <<<"$table" | sort | uniq -c |
    awk '{ printf "on %s: %d modules\n", $2, $1 }'
  # Icecream may have one compiled by the linker; the bytes wouldn't tell.
  if cut -f 2 <<<"$table" | grep -x here >/dev/null; then
    die "not all modules were compiled on nodes"
  fi
}

# Fails if there is no plugin $1.
check_plugin_name() {
  declare -F "plugin_$1" >/dev/null || {
    local names
    names=$(compgen -A function plugin_ | sed 's/^plugin_//' | paste -sd ' ')
    die "unknown plugin '$1'; there is: $names"
  }
}

# Makes everything ready for links through plugin $1.
use_plugin() {
  link_options+=("-Wl,--thinlto-dist-plugin=$1")
  "plugin_$1"
}

# After a link through plugin $1.
report_plugin() {
  if declare -F "report_$1" >/dev/null; then
    "report_$1"
  fi
}
