# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# modules.sh TOOLS FOLDER PYTHON TRIPLE: writes the bitcode of modules.py to
# FOLDER.

set -e
rm -rf "$2"
mkdir "$2"
cd "$2"
"$3" -S "$(dirname "$0")/modules.py" "$4"
for name in one two three empty; do
  "$1/opt" -module-hash -module-summary "$name.ll" -o "$name.o"
done
"$1/opt" regular.ll -o regular.o
rm ./*.ll
