# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Completion for fish, as dtlto.bash. fish loads it for ld.dtlto and for
# dtlto-distributor, by links.

# Runs the program of the command line. Prints the first words of the lines up to
# $argv[2] that begin with two blanks.
function __dtlto_ask
    set -l program (commandline -opc)[1]
    $program $argv[1] 2>/dev/null </dev/null |
        sed -n "/^$argv[2]/q; s/^  \([^ ]\{1,\}\).*/\1/p"
end

function __dtlto_plugins
    echo auto
    __dtlto_ask $argv[1]plugin=list remote
end

function __dtlto_arguments
    set -l plugin (commandline -opc | string match -r -g -- '^--.*(?:plugin|distribute)(=.*)')[-1]
    for form in (__dtlto_ask $argv[1]plugin-help$plugin environment)
        set -l parts (string split -m 1 = -- $form)
        if not set -q parts[2]
            echo $form
            continue
        end
        for value in (string split '|' -- $parts[2])
            string match -qr '^[a-z][a-z0-9-]*$' -- $value; or set value ''
            echo $parts[1]=$value
        end
    end
end

# scripts/options: options
complete -c ld.dtlto -l thinlto-dist-plugin -x -a '(__dtlto_plugins --thinlto-dist-)' -d 'Run the jobs of ThinLTO with this plugin, such as local or distcc'
complete -c ld.dtlto -l thinlto-distribute -f -a '(__dtlto_plugins --thinlto-dist-)' -d 'The same as --thinlto-dist-plugin'
complete -c ld.dtlto -l thinlto-dist-plugin-arg -x -a '(__dtlto_arguments --thinlto-dist-)' -d 'Pass <text> to the plugin unchanged; may be repeated'
complete -c ld.dtlto -l thinlto-dist-plugin-help -f -a '(__dtlto_plugins --thinlto-dist-)' -d 'Show a plugin\'s arguments and variables instead of linking'
complete -c ld.dtlto -l thinlto-dist-check-plugin -f -a '(__dtlto_plugins --thinlto-dist-)' -d 'Check that the plugin follows the rules of its ABI'
complete -c ld.dtlto -l thinlto-dist-fallback -x -a 'local none' -d 'If the plugin cannot run a job, compile it in the linker, or fail'
complete -c ld.dtlto -l thinlto-dist-local-jobs -x -a 'auto' -d 'Run at most <n> jobs in the linker while the plugin is full'
complete -c ld.dtlto -l thinlto-dist-duplicate -x -d 'Limit the work done twice to replace slow workers'
complete -c ld.dtlto -l thinlto-dist-order -x -a 'cost link' -d 'Start the longest jobs first, or those that come first in the link'
complete -c ld.dtlto -l thinlto-dist-memory -x -d 'Limit the memory of jobs in flight and of local jobs'
complete -c ld.dtlto -l thinlto-dist-timeout -x -d 'Give up a job after <seconds> without a sign of life from the plugin'
complete -c ld.dtlto -l thinlto-dist-verify -x -d 'Compile this share of the jobs in the linker as well, and compare the objects'
complete -c ld.dtlto -l thinlto-dist-cache -x -a 'separate shared' -d 'Hide remote objects in the cache from links with no plugin, or share them'
complete -c ld.dtlto -l thinlto-dist-remote-cache -x -a 'off' -d 'Take results of other machines\' links from the server at <url>'
complete -c ld.dtlto -l thinlto-dist-remote-cache-mode -x -a 'read write' -d 'Only read the remote cache, or store this link\'s results there as well'
complete -c ld.dtlto -l thinlto-dist-remote-cache-arg -x -d 'Pass <text> to the remote cache\'s library; may be repeated'
complete -c ld.dtlto -l thinlto-dist-save-jobs -r -d 'Save each job to a file in <folder>, for dtlto-codegen'
complete -c ld.dtlto -l thinlto-dist-keep-ir -r -a 'farm' -d 'Keep optimised modules in <folder> or the farm\'s store, for links that only change codegen'
complete -c ld.dtlto -l thinlto-dist-slim -x -a 'on off' -d 'Send only what is imported from other modules, or these modules whole'
complete -c ld.dtlto -l thinlto-dist-split -x -a 'off auto' -d 'Compile a long module in parts of about <n> instructions'
complete -c ld.dtlto -l thinlto-dist-costs -r -a 'off' -d 'Record in <file> how long each module took'
complete -c ld.dtlto -l thinlto-dist-progress -x -a 'auto always never' -d 'Show how far the link is'
complete -c ld.dtlto -l thinlto-dist-status -f -a 'table json' -d 'Show the workers of the plugin\'s farm instead of linking'
complete -c ld.dtlto -l thinlto-dist-show-config -d 'Show each option\'s value and where it is set instead of linking'
complete -c ld.dtlto -l thinlto-dist-report -r -d 'Write a report of where and when each job ran'
complete -c ld.dtlto -l thinlto-dist-log -r -d 'Write a log of every decision and its time, for a bug report'
complete -c ld.dtlto -l thinlto-dist-gold -r -d 'Run LTO by this LLVMgold.so in linkers other than LLD'
complete -c dtlto-distributor -l plugin -x -a '(__dtlto_plugins --)' -d 'Run the jobs of ThinLTO with this plugin, such as local or distcc'
complete -c dtlto-distributor -l plugin-arg -x -a '(__dtlto_arguments --)' -d 'Pass <text> to the plugin unchanged; may be repeated'
complete -c dtlto-distributor -l plugin-help -f -a '(__dtlto_plugins --)' -d 'Show a plugin\'s arguments and variables instead of linking'
complete -c dtlto-distributor -l check-plugin -f -a '(__dtlto_plugins --)' -d 'Check that the plugin follows the rules of its ABI'
complete -c dtlto-distributor -l fallback -x -a 'local none' -d 'If the plugin cannot run a job, compile it in the linker, or fail'
complete -c dtlto-distributor -l local-jobs -x -a 'auto' -d 'Run at most <n> jobs in the linker while the plugin is full'
complete -c dtlto-distributor -l duplicate -x -d 'Limit the work done twice to replace slow workers'
complete -c dtlto-distributor -l order -x -a 'cost link' -d 'Start the longest jobs first, or those that come first in the link'
complete -c dtlto-distributor -l memory -x -d 'Limit the memory of jobs in flight and of local jobs'
complete -c dtlto-distributor -l timeout -x -d 'Give up a job after <seconds> without a sign of life from the plugin'
complete -c dtlto-distributor -l verify -x -d 'Compile this share of the jobs in the linker as well, and compare the objects'
complete -c dtlto-distributor -l remote-cache -x -a 'off' -d 'Take results of other machines\' links from the server at <url>'
complete -c dtlto-distributor -l remote-cache-mode -x -a 'read write' -d 'Only read the remote cache, or store this link\'s results there as well'
complete -c dtlto-distributor -l remote-cache-arg -x -d 'Pass <text> to the remote cache\'s library; may be repeated'
complete -c dtlto-distributor -l costs -r -a 'off' -d 'Record in <file> how long each module took'
complete -c dtlto-distributor -l progress -x -a 'auto always never' -d 'Show how far the link is'
complete -c dtlto-distributor -l report -r -d 'Write a report of where and when each job ran'
complete -c dtlto-distributor -l log -r -d 'Write a log of every decision and its time, for a bug report'
complete -c dtlto-distributor -l jobs -x -d 'Compile at most <n> modules at a time here'
complete -c dtlto-distributor -l index-only -r -d 'Compile the modules below <folder>'
complete -c dtlto-distributor -l prefix-replace -x -d 'As LLD\'s --thinlto-prefix-replace'
complete -c dtlto-distributor -l verbose -d 'Report what happens to each job'
complete -c dtlto-distributor -l help -d 'Show the options'
complete -c dtlto-distributor -l version -d 'Show the version'
# scripts/options: end of options
