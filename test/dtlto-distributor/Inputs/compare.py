#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare.py [--some]: each file in want/ exists in this folder with the same
bytes, and there is no other .native.o and no temporary file. --some: a run was
killed; each existing file has the same bytes."""

import os
import sys

want = sorted(os.listdir("want"))
have = sorted(f for f in os.listdir(".") if f.endswith(".native.o") or ".tmp" in f)
if sys.argv[1:] == ["--some"]:
    want = [f for f in have if f.endswith(".native.o")]
elif not want or want != have:
    sys.exit("expected %s, found %s" % (want, have))
for name in want:
    with open(os.path.join("want", name), "rb") as a, open(name, "rb") as b:
        if a.read() != b.read():
            sys.exit("%s differs" % name)
print("%d objects are the same" % len(want))
