# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes N modules into the current folder, t0.c and so on, each with a table
of addresses. Compiling them takes much memory and little time."""

import sys

for i in range(int(sys.argv[1])):
    with open("t%d.c" % i, "w") as f:
        f.write("extern char x[];\nchar *table%d[] = {\n" % i)
        f.write(",".join("x + %d" % (k * 7 % 1000003 + i) for k in range(50000)))
        f.write("};\n")
