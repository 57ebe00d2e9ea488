# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a program of N modules of different sizes into the current folder. f0
calls all others.
calls them all."""

import sys

n = int(sys.argv[1])
for i in range(n):
    with open("f%d.c" % i, "w") as f:
        f.write("volatile int v%d;\n" % i)
        f.write("int f%d(int x);\n" % (i + 1))
        f.write("int f%d(int x) {\n" % i)
        f.write("  v%d = x;\n" % i * (1 + i * 7 % n * 20))
        f.write("  return %s;\n}\n" %
                ("x" if i == n - 1 else "f%d(x + 1) * 3" % (i + 1)))
