# functions.sh N: writes f1.c to fN.c with a small function each, for a link of
# many short jobs.
for i in $(seq "$1"); do
  echo "int f$i(int x) { return x + $i; }" > "f$i.c"
done
