#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""modules.py TRIPLE: writes LLVM assembly of modules with common code.

The functions of one.ll, two.ll and three.ll differ in a few constants, so code
generation can merge functions, and outline sequences that occur only in other
modules. Each of their functions calls one of the next module, so there is something
to import. empty.ll has neither. regular.ll is like one.ll, for regular LTO, and no
other module calls it.
"""

import random
import sys

triple = sys.argv[1]
arch = triple.split("-")[0]
layout = {
    "x86_64": "e-m:%s-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128"
              "-n8:16:32:64-S128",
    "aarch64": "e-m:%s-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64"
               "-i128:128-n32:64-S128-Fn32",
    "arm64": "e-m:%s-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-n32:64-S128-Fn32",
}[arch] % ("o" if "apple" in triple else "e")


def module(name, number, following):
    head = 'target datalayout = "%s"\ntarget triple = "%s"\n' % (layout, triple)
    text = [head, "declare i32 @other(i32, i32)\n"]
    if following:
        text.append("declare i32 @%s_tiny(i32)\n" % following)
    text.append("define i32 @%s_tiny(i32 %%a) {\n  %%r = mul i32 %%a, %d\n"
                "  ret i32 %%r\n}\n" % (name, 3 + number))
    for f in range(4):
        # The same choices in each module.
        choice = random.Random(f)
        text.append("define i32 @%s_%d(i32 %%a) {\n" % (name, f))
        last = "%a"
        for i in range(50 + 10 * f):
            c = choice.randrange(24)
            # A third of the constants are the module's own.
            value = 1000 + c if c >= 8 else number * 100 + c * 7 + f
            text.append("  %%v%d = call i32 @other(i32 %s, i32 %d)\n" %
                        (i, last, value))
            last = "%%v%d" % i
        if following:
            text.append("  %%t = call i32 @%s_tiny(i32 %s)\n" % (following, last))
            last = "%t"
        text.append("  ret i32 %s\n}\n" % last)
    return "".join(text)


names = ["one", "two", "three"]
for i, name in enumerate(names):
    with open(name + ".ll", "w") as f:
        f.write(module(name, i + 1, (names + [None])[i + 1]))
with open("regular.ll", "w") as f:
    f.write(module("regular", 9, None))
with open("empty.ll", "w") as f:
    f.write('target datalayout = "%s"\ntarget triple = "%s"\n'
            "@data = global i32 7\n" % (layout, triple))
