# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches, as defined in docs/BUNDLE.md.

  batch.py write BUNDLE...          writes a batch to standard output
  batch.py check REPLY FRAMED...    checks that REPLY consists of these frames
"""

import struct
import sys

what, *names = sys.argv[1:]
parts = []
for name in names:
    with open(name, "rb") as f:
        parts.append(f.read())
if what == "write":
    for part in parts:
        sys.stdout.buffer.write(struct.pack("<Q", len(part)) + part)
else:
    reply = parts.pop(0)
    for part in parts:
        size, microseconds = struct.unpack("<QQ", reply[:16])
        if reply[16:16 + size] != part or not 0 < microseconds < 600e6:
            sys.exit("batch: not so")
        reply = reply[16 + size:]
    if reply:
        sys.exit("batch: it goes on")
