# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How scripts/quickstart uses each plugin: one function, plugin_<name>, that
# starts what the plugin talks to (and adds how to stop it with `trap`), checks
# what it needs first, and may add the plugin's arguments to link_options.

link_options=()

# Runs jobs in the linker itself: nothing to start.
plugin_local() { :; }

# Calls the function of plugin $1.
use_plugin() {
  if ! declare -F "plugin_$1" >/dev/null; then
    local names
    names=$(compgen -A function plugin_ | sed 's/^plugin_//' | paste -sd ' ')
    die "unknown plugin '$1'; there is: $names"
  fi
  link_options+=("-Wl,--thinlto-dist-plugin=$1")
  "plugin_$1"
}
