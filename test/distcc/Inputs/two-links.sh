# two-links.sh COMMAND...: runs the command twice, with -o one and -o two. The
# second starts once daemon 1 compiles for the first. The first is killed when
# the second has ended. The exit code is the second one's.
"$@" -o one &
first=$!
until test -e "$FARM_DIR/daemon1/begun"; do
  kill -0 $first || exit 1
  sleep 0.05
done
"$@" -o two
code=$?
kill -KILL $first
wait $first
exit $code
