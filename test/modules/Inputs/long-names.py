# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives the modules of the program very long names, and writes names.rsp."""

import os
import shutil

# The longest folder and file names; the last characters tell them apart.
folder = os.path.join("d" * 255, "e" * 255)
os.makedirs(folder)
with open("names.rsp", "w") as f:
    for module in "main", "gamma", "beta", "alpha", "delta", "put":
        name = os.path.join(folder, "m" * (253 - len(module)) + module[::-1])
        name += ".o"
        shutil.copy(module + ".o", name)
        f.write(name + "\n")
