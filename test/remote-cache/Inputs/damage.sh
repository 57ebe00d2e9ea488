# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# damage.sh cut|empty|same: makes all values in the folder `store` shorter, empty,
# or that of one key.
set -e
cd store
one=$(ls | head -n 1)
for f in *; do
  case $1 in
    cut) head -c 100 "$f" > ../new ;;
    empty) : > ../new ;;
    same) cp "$one" ../new ;;
  esac
  mv ../new "$f"
done
