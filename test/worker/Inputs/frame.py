# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""frame.py <framed> <object>: is the first the second in a frame?"""

import struct
import sys

sys.dont_write_bytecode = True
from blake3 import blake3

with open(sys.argv[1], "rb") as f:
    framed = f.read()
with open(sys.argv[2], "rb") as f:
    code = f.read()
head = b"DTLTOOBJ" + struct.pack("<IIQ", 1, 0, len(code)) + blake3(code)
if not code or framed != head + code:
    sys.exit("frame: not so")
