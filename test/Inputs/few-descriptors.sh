# few-descriptors.sh COUNTS LINK...: runs the command with increasing limits on
# file descriptors. The output is "stock", or there is none. No host is blamed.
# The last link succeeds without a complaint, and some earlier ones have too few
# descriptors.
counts=$1
shift
few=0
for n in $counts; do
  rm -f out
  if (ulimit -n $n && "$@" --thinlto-dist-costs=off -o out) > said 2>&1; then
    cmp stock out || exit 1
  elif [ -e out ]; then
    echo "$n: a failed link has left its output"
    exit 1
  fi
  grep -vE "this machine cannot (open a connection|look up the name)" said > others
  if grep -E "not used|cannot be used|rests|[0-9]: cannot read|was granted" others; then
    echo "$n: a host is blamed"
    exit 1
  fi
  if grep -q "this machine cannot open a connection" said; then
    few=$((few + 1))
  fi
done
[ -e out ] && [ ! -s said ] && [ $few -gt 0 ] || { cat said; exit 1; }
