#compdef ld.dtlto dtlto-distributor
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Completion for zsh, as dtlto.bash.

# scripts/options: options
_dtlto_linker=(
  '--thinlto-dist-plugin=-[Run the jobs of ThinLTO with this plugin, such as local or distcc]:value:_dtlto_plugins'
  '--thinlto-distribute=-[The same as --thinlto-dist-plugin]::value:_dtlto_plugins'
  '*--thinlto-dist-plugin-arg=-[Pass <text> to the plugin unchanged; may be repeated]:value:_dtlto_arguments'
  '--thinlto-dist-plugin-help=-[Show a plugin'\''s arguments and variables instead of linking]::value:_dtlto_plugins'
  '--thinlto-dist-check-plugin=-[Check that the plugin follows the rules of its ABI]::value:_dtlto_plugins'
  '--thinlto-dist-fallback=-[If the plugin cannot run a job, compile it in the linker, or fail]:value:(local none)'
  '--thinlto-dist-local-jobs=-[Run at most <n> jobs in the linker while the plugin is full]:value:(auto)'
  '--thinlto-dist-duplicate=-[Limit the work done twice to replace slow workers]:value:'
  '--thinlto-dist-order=-[Start the longest jobs first, or those that come first in the link]:value:(cost link)'
  '--thinlto-dist-memory=-[Limit the memory of jobs in flight and of local jobs]:value:'
  '--thinlto-dist-timeout=-[Give up a job after <seconds> without a sign of life from the plugin]:value:'
  '--thinlto-dist-verify=-[Compile this share of the jobs in the linker as well, and compare the objects]:value:'
  '--thinlto-dist-cache=-[Hide remote objects in the cache from links with no plugin, or share them]:value:(separate shared)'
  '--thinlto-dist-remote-cache=-[Take results of other machines'\'' links from the server at <url>]:value:(off)'
  '--thinlto-dist-remote-cache-mode=-[Only read the remote cache, or store this link'\''s results there as well]:value:(read write)'
  '*--thinlto-dist-remote-cache-arg=-[Pass <text> to the remote cache'\''s library; may be repeated]:value:'
  '--thinlto-dist-save-jobs=-[Save each job to a file in <folder>, for dtlto-codegen]:value:_files'
  '--thinlto-dist-keep-ir=-[Keep optimised modules in <folder> or the farm'\''s store, for links that only change codegen]:value:(farm)'
  '--thinlto-dist-slim=-[Send only what is imported from other modules, or these modules whole]:value:(on off)'
  '--thinlto-dist-split=-[Compile a long module in parts of about <n> instructions]:value:(off auto)'
  '--thinlto-dist-costs=-[Record in <file> how long each module took]:value:(off)'
  '--thinlto-dist-progress=-[Show how far the link is]:value:(auto always never)'
  '--thinlto-dist-status=-[Show the workers of the plugin'\''s farm instead of linking]::value:(table json)'
  '--thinlto-dist-show-config[Show each option'\''s value and where it is set instead of linking]'
  '--thinlto-dist-report=-[Write a report of where and when each job ran]:value:_files'
  '--thinlto-dist-log=-[Write a log of every decision and its time, for a bug report]:value:_files'
  '--thinlto-dist-gold=-[Run LTO by this LLVMgold.so in linkers other than LLD]:value:_files'
)
_dtlto_distributor=(
  '--plugin=-[Run the jobs of ThinLTO with this plugin, such as local or distcc]:value:_dtlto_plugins'
  '*--plugin-arg=-[Pass <text> to the plugin unchanged; may be repeated]:value:_dtlto_arguments'
  '--plugin-help=-[Show a plugin'\''s arguments and variables instead of linking]::value:_dtlto_plugins'
  '--check-plugin=-[Check that the plugin follows the rules of its ABI]::value:_dtlto_plugins'
  '--fallback=-[If the plugin cannot run a job, compile it in the linker, or fail]:value:(local none)'
  '--local-jobs=-[Run at most <n> jobs in the linker while the plugin is full]:value:(auto)'
  '--duplicate=-[Limit the work done twice to replace slow workers]:value:'
  '--order=-[Start the longest jobs first, or those that come first in the link]:value:(cost link)'
  '--memory=-[Limit the memory of jobs in flight and of local jobs]:value:'
  '--timeout=-[Give up a job after <seconds> without a sign of life from the plugin]:value:'
  '--verify=-[Compile this share of the jobs in the linker as well, and compare the objects]:value:'
  '--remote-cache=-[Take results of other machines'\'' links from the server at <url>]:value:(off)'
  '--remote-cache-mode=-[Only read the remote cache, or store this link'\''s results there as well]:value:(read write)'
  '*--remote-cache-arg=-[Pass <text> to the remote cache'\''s library; may be repeated]:value:'
  '--costs=-[Record in <file> how long each module took]:value:(off)'
  '--progress=-[Show how far the link is]:value:(auto always never)'
  '--report=-[Write a report of where and when each job ran]:value:_files'
  '--log=-[Write a log of every decision and its time, for a bug report]:value:_files'
  '--jobs=-[Compile at most <n> modules at a time here]:value:'
  '--index-only=-[Compile the modules below <folder>]:value:_files'
  '--prefix-replace=-[As LLD'\''s --thinlto-prefix-replace]:value:'
  '--verbose[Report what happens to each job]'
  '--help[Show the options]'
  '--version[Show the version]'
)
# scripts/options: end of options

# Sets reply to the first words of the program's lines up to $2 that begin with
# two blanks.
_dtlto_ask() {
  reply=(${(f)"$("${(Q)words[1]}" "$1" 2>/dev/null </dev/null |
    sed -n "/^$2/q; s/^  \([^ ]\{1,\}\).*/\1/p")"})
}

_dtlto_plugins() {
  local -a reply
  _dtlto_ask "${dist}plugin=list" remote
  compadd "$@" -- auto $reply
}

_dtlto_arguments() {
  local -a reply all values
  local form value plugin=${${(M)words:#--*(plugin|distribute)=*}[-1]#*=}
  _dtlto_ask "${dist}plugin-help${plugin:+=$plugin}" environment
  for form in $reply; do
    values=(${(s:|:)form#*=})
    [[ $form == *=* ]] || all+=$form values=()
    for value in $values; do
      [[ $value == [a-z][a-z0-9-]# ]] || value=
      all+=${form%%=*}=$value
    done
  done
  compadd "$@" -S '' -- ${(u)all}
}

_dtlto() {
  setopt localoptions extendedglob
  local dist=--thinlto-dist-
  local -a options=($_dtlto_linker)
  if [[ ${words[1]:t} == dtlto-distributor ]]; then
    dist=--
    options=($_dtlto_distributor)
  fi
  _arguments $options '*:file:_files'
}

_dtlto "$@"
