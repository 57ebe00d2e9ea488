#!/bin/sh
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compile.sh CLANG: compiles this folder's modules in the working folder. Each
# causes another kind of compiler warning.
set -e
folder=$(dirname "$0")
compile() { # NAME OPTION...
  name=$1; shift
  "$clang" -O2 -flto=thin -ffreestanding "$@" -c "$folder/$name.c" -o $name.o
}
clang=$1
target=--target=x86_64-linux-gnu
for name in assembly user attribute attribute-error; do
  compile $name $target
done
compile imported --target=x86_64-suse-linux-gnu
compile frame $target -Wframe-larger-than=16
compile wide $target -fshort-wchar
"$clang" --target=loongarch64-linux-gnu -O2 -flto=thin -ffreestanding -c "$folder/imported.c" -o raw.o
