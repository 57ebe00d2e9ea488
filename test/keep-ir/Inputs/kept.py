#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes each optimised module that is kept in FOLDER.

  kept.py FOLDER cut           leaves half of it
  kept.py FOLDER flip          changes one bit in the middle
  kept.py FOLDER swap          each file has the contents of another
  kept.py FOLDER forge A B     A becomes B, as long, with a digest that is right;
                               says how many files that changed
  kept.py FOLDER count         says how many there are
"""

import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "worker", "Inputs"))
from blake3 import blake3

folder, how = sys.argv[1:3]
paths = sorted(os.path.join(folder, name) for name in os.listdir(folder)
               if name.startswith("llvmcache-"))
files = []
for path in paths:
    with open(path, "rb") as f:
        files.append(f.read())
before = list(files)
if how == "cut":
    files = [data[:len(data) // 2] for data in files]
elif how == "flip":
    files = [data[:len(data) // 2] + bytes([data[len(data) // 2] ^ 8]) +
             data[len(data) // 2 + 1:] for data in files]
elif how == "swap":
    files = files[1:] + files[:1]
elif how == "forge":
    old, new = (word.encode() for word in sys.argv[3:5])
    for i, data in enumerate(files):
        result = data[88:].replace(old, new)
        files[i] = data[:16] + struct.pack("<Q", len(result)) + data[24:56] + \
            blake3(result) + result
elif how != "count":
    sys.exit("kept: cut, flip, swap, forge or count")
if how == "count":
    print(len(files), "kept")
else:
    print(sum(a != b for a, b in zip(before, files)), "changed")
for path, data in zip(paths, files):
    with open(path, "wb") as f:
        f.write(data)
