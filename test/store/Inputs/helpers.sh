# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Creates credential helpers in the current folder. Each records its run in `runs`, its
# arguments in `args` and its input in `asked`.
#
#   helper        the headers that server.py requires in /token and /header
#   empty         no header
#   late          a wrong token in its first run
#   wrong-helper  a wrong token, another one in each run
#   fails, garbage, long, break, hangs
#                 exits with 3, prints no JSON, too much, a value with a line break, or
#                 never ends, with its number in `pid`; all print a token first
create() {
  cat > "$1" <<EOF
#!/bin/sh
cd "$PWD" && echo run >> runs && echo "\$*" > args && cat > asked
token() {
  printf '{"headers": {"Authorization": ["Bearer %s"], "X-Store": ["%s"]}}' "\$1" "\$1"
}
$2
EOF
  chmod +x "$1"
}
count='$(wc -l < runs)'
create helper 'token token-of-the-store'
create empty 'echo "{}"'
create late "[ $count = 1 ] && token token-of-nobody || token token-of-the-store"
create wrong-helper "token token-of-nobody-$count"
create fails 'token token-of-the-store; echo log in first >&2; exit 3'
create garbage 'echo token-of-the-store'
create long 'yes token-of-the-store | head -c 100000'
create break 'token "token-of-the-store\nX-Other: 1"'
create hangs 'echo $$ > pid; token token-of-the-store; exec sleep 1000'
