# full.sh LINK...: runs the command, with room for some of the objects in its cache.
head -c 12288 /dev/zero > small/full
for round in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf small/cache
  "$@" --thinlto-cache-dir=small/cache -o none > said 2>&1
  code=$?
  if [ $code -ne 1 ] || [ -e none ] || ! grep -q "No space left on device" said; then
    cat said
    echo "round $round: exit code $code"
    exit 1
  fi
done
