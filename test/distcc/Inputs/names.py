# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renames main.o, alpha.o, beta.o and gamma.o to unusual names, listed in
names.rsp."""

import os

names = {
    "main.o": "a b/main.o",
    "alpha.o": "c++/lib;x$y/alpha.o",
    "beta.o": "it's/\"beta\".o",
    # A name that distccd could take for a source file, an option or a response
    # file.
    "gamma.o": "back\\slash/@gamma.c",
}
with open("names.rsp", "w") as f:
    for old, new in names.items():
        os.makedirs(os.path.dirname(new), exist_ok=True)
        os.rename(old, new)
        f.write('"%s"\n' % new.replace("\\", "\\\\").replace('"', '\\"'))
