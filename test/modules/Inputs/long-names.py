# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renames the program's modules to very long names, and writes names.rsp."""

import os
import shutil

# Folder and file names of the maximum length; only the last characters differ.
folder = os.path.join("d" * 255, "e" * 255)
os.makedirs(folder)
with open("names.rsp", "w") as f:
    for module in "main", "gamma", "beta", "alpha", "delta", "put":
        name = os.path.join(folder, "m" * (253 - len(module)) + module[::-1])
        name += ".o"
        shutil.copy(module + ".o", name)
        f.write(name + "\n")
