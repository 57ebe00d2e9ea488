# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lto2.py LINKER run ...: replaces `llvm-lto2 run` in LLVM's tests of code
generation data. Links for Mach-O with LINKER (ld64.lld) and exports all
symbols.

OUT.N is the object of task N, as with llvm-lto2."""

import os
import shutil
import subprocess
import sys
import tempfile

linker, command, *words = sys.argv[1:]
if command != "run":
    sys.exit("lto2: only 'run'")
inputs, options, out = [], [], None
words = iter(words)
for word in words:
    if word == "-o":
        out = next(words)
    elif word == "-r":  # a symbol's resolution
        next(words)
    elif word == "-cache-dir":
        options += ["-cache_path_lto", next(words)]
    elif word.startswith("-"):
        options += ["-mllvm", word]
    else:
        inputs.append(word)

def names_ios(path):
    with open(path, "rb") as file:  # the triple is in the symbol table
        return b"-ios" in file.read()


platform = "ios" if any(map(names_ios, inputs)) else "macos"
with tempfile.TemporaryDirectory() as objects:
    status = subprocess.run(
        [linker, "-arch", "arm64", "-platform_version", platform, "12", "12",
         "-dylib", "-undefined", "dynamic_lookup", *inputs, *options,
         "-object_path_lto", objects, "-o", out + ".linked"]).returncode
    if status == 0:
        for name in os.listdir(objects):
            shutil.copy(os.path.join(objects, name),
                        out + "." + name.split(".")[0])
sys.exit(status)
