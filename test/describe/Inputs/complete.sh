# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# complete.sh SCRIPT PROGRAM [WORD...]: prints what bash would insert for the last
# word, with the words that readline makes of the line.

source "$1"
shift
COMP_LINE=$*
COMP_POINT=${#COMP_LINE}
COMP_WORDBREAKS=${BREAKS-$' \t\n"\'><=;|&(:'}
COMP_WORDS=($COMP_LINE)
[[ $(complete -p "${1##*/}") == *"-F _dtlto "* ]] || exit 1
_dtlto "$1"
printf '%s\n' "${COMPREPLY[@]}"
