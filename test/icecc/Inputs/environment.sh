# environment.sh WORKER CODEGEN [NAME]: creates NAME.tar.gz (default: worker), an
# icecream environment with WORKER under all names that a node runs, and CODEGEN
# next to it as codegen.
set -e
rm -rf env
mkdir -p env/usr/bin env/bin
cp "$1" env/usr/bin/clang
cp "$2" env/usr/bin/codegen
for name in gcc g++ as; do
  ln -s clang env/usr/bin/$name
done
ln -s ../usr/bin/clang env/bin/true
tar -C env --owner=0 --group=0 -I 'gzip -1' -cf ${3-worker}.tar.gz usr bin
