# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Completion for bash: the options of ld.dtlto and dtlto-distributor, plugins, and
# their arguments, for which the program is run.

# scripts/options: options
_dtlto_linker='--thinlto-dist-plugin=<name or path>
--thinlto-distribute
--thinlto-distribute=<name>
--thinlto-dist-plugin-arg=<text>
--thinlto-dist-plugin-help
--thinlto-dist-plugin-help=<name>
--thinlto-dist-check-plugin
--thinlto-dist-check-plugin=off|on|error
--thinlto-dist-fallback=local|none
--thinlto-dist-local-jobs=<n>|auto
--thinlto-dist-duplicate=<percent>
--thinlto-dist-order=cost|link
--thinlto-dist-memory=<bytes>
--thinlto-dist-timeout=<seconds>
--thinlto-dist-verify=<percent>[:<seed>]
--thinlto-dist-cache=separate|shared
--thinlto-dist-remote-cache=<url>|off
--thinlto-dist-remote-cache-mode=read|write
--thinlto-dist-remote-cache-arg=<text>
--thinlto-dist-save-jobs=<folder>
--thinlto-dist-keep-ir=<folder>|farm
--thinlto-dist-slim=on|off|<bytes>
--thinlto-dist-split=off|auto|<n>
--thinlto-dist-costs=<file>|off
--thinlto-dist-progress=auto|always|never
--thinlto-dist-status
--thinlto-dist-status=table|json
--thinlto-dist-show-config
--thinlto-dist-report=<file>.html|<file>.json
--thinlto-dist-log=<file>
--thinlto-dist-gold=<file>'
_dtlto_distributor='--plugin=<name or path>
--plugin-arg=<text>
--plugin-help
--plugin-help=<name>
--check-plugin
--check-plugin=off|on|error
--fallback=local|none
--local-jobs=<n>|auto
--duplicate=<percent>
--order=cost|link
--memory=<bytes>
--timeout=<seconds>
--verify=<percent>[:<seed>]
--remote-cache=<url>|off
--remote-cache-mode=read|write
--remote-cache-arg=<text>
--costs=<file>|off
--progress=auto|always|never
--report=<file>.html|<file>.json
--log=<file>
--jobs=<n>
--index-only=<folder>
--prefix-replace=<old;new>
--verbose
--help
--version'
# scripts/options: end of options

# Runs the program of the command line. Prints the first words of the lines up to
# $2 that begin with two blanks.
_dtlto_ask() {
    "${COMP_WORDS[0]}" "$1" 2>/dev/null </dev/null |
        sed -n "/^$2/q; s/^  \([^ ]\{1,\}\).*/\1/p"
}

# Prints $1 and each word that the lines of standard input stand for, such as
# NAME=a|b|<n>.
_dtlto_words() {
    local form value values
    while IFS= read -r form; do
        if [[ $form != *=* ]]; then
            echo "$1$form"
            continue
        fi
        IFS='|' read -ra values <<<"${form#*=}"
        for value in "${values[@]}"; do
            [[ $value =~ ^[a-z][a-z0-9-]*$ ]] || value=
            echo "$1${form%%=*}=$value"
        done
    done
}

_dtlto() {
    local line=${COMP_LINE:0:COMP_POINT} options=$_dtlto_linker
    local word=${line##*[[:blank:]]} dist=--thinlto-dist- plugin='' candidate before
    if [[ ${1##*/} == dtlto-distributor ]]; then
        options=$_dtlto_distributor
        dist=--
    fi
    # Readline completes only what follows the last = or :.
    before=${word%"${word##*[=:]}"}
    [[ $COMP_WORDBREAKS == *=* ]] || before=
    COMPREPLY=()
    while IFS= read -r candidate; do
        if [[ $candidate == "$word"?* ]]; then
            printf -v candidate %q "${candidate#"$before"}"
            COMPREPLY+=("$candidate")
            [[ $candidate != *= ]] || compopt -o nospace 2>/dev/null
        fi
    done < <(
        case $word in
        "$dist"plugin=* | "$dist"plugin-help=* | --thinlto-distribute=*)
            { echo auto && _dtlto_ask "${dist}plugin=list" remote; } |
                _dtlto_words "${word%%=*}="
            ;;
        "$dist"plugin-arg=*)
            if [[ $line =~ (plugin|distribute)=([^[:blank:]]+) ]]; then
                plugin="=${BASH_REMATCH[2]}"
            fi
            _dtlto_ask "${dist}plugin-help$plugin" environment |
                _dtlto_words "${word%%=*}="
            ;;
        -*) _dtlto_words '' <<<"$options" ;;
        esac
    )
}

# Files, if there is no other candidate.
complete -o default -F _dtlto ld.dtlto dtlto-distributor
