#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes each optimised module that is kept in FOLDER. FOLDER may be the contents of
buildbox-casd; then all files with the same header are changed, including job results.

  kept.py FOLDER cut           truncates it to half its size
  kept.py FOLDER flip          changes one bit in the middle
  kept.py FOLDER remove        removes it
  kept.py FOLDER swap          gives each file the contents of another
  kept.py FOLDER forge A B     replaces A by B, of the same length, with a correct
                               digest; prints how many files changed
  kept.py FOLDER count         prints the number of files
"""

import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "worker", "Inputs"))
from blake3 import blake3

folder, how = sys.argv[1:3]
FRAME = b"DTLTOOBJ"
paths, files = [], []
for path in sorted(os.path.join(top, name) for top, _, names in os.walk(folder)
                   for name in names):
    with open(path, "rb") as f:
        data = f.read()
    if os.path.basename(path).startswith("llvmcache-") or data.startswith(FRAME):
        paths.append(path)
        files.append(data)
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
elif how not in ("remove", "count"):
    sys.exit("kept: cut, flip, remove, swap, forge or count")
if how == "count":
    print(len(files), "kept")
else:
    print(sum(a != b for a, b in zip(before, files)), "changed")
for path, data in zip(paths, files):
    os.unlink(path)  # it may be read-only
    if how == "remove":
        continue
    with open(path, "wb") as f:
        f.write(data)
