# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renames the program's modules to names that are hard to handle, and writes
names.rsp with all of them, so that no shell has to quote them."""

import os
import shutil

names = {
    "main.o": "a b.o",
    "alpha.o": "it's \"quoted\" $HOME.o",
    "beta.o": "ümläut.o",
    "gamma.o": "c:\\dir@[1]{2};&|<>*?%20#.o",
    "delta.o": "lib.a(x.o at 12)",
    "put.o": "-=+,^~`!.o",
}
with open("names.rsp", "w", encoding="utf-8") as f:
    for old, new in names.items():
        shutil.copy(old, new)
        # "./", since one begins like an option.
        quoted = os.path.join(".", new) if new[0] == "-" else new
        f.write('"' + quoted.replace("\\", "\\\\").replace('"', '\\"') + '"\n')
