#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mingw.py CLANG OBJECT...: prints a response file with clang's linker
arguments for a mingw-w64 program, except for the output's name, and without a
time stamp."""

import shlex
import subprocess
import sys

clang, *objects = sys.argv[1:]
said = subprocess.run(
    [clang, "--target=x86_64-w64-mingw32", "-flto=thin", "-fuse-ld=lld", "-static",
     "-###", *objects, "-o", "OUT"],
    check=True, stderr=subprocess.PIPE, text=True).stderr
words = shlex.split(next(line for line in said.splitlines() if "ld.lld" in line))[1:]
at = words.index("-o")
print("\n".join(words[:at] + words[at + 2:] + ["--no-insert-timestamp"]))
