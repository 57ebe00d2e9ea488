# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""frame.py <framed> <object> <bundle>: checks that the first is the second in a
frame that names the job of the third."""

import struct
import sys
import tarfile

sys.dont_write_bytecode = True
from blake3 import blake3

with open(sys.argv[1], "rb") as f:
    framed = f.read()
with open(sys.argv[2], "rb") as f:
    code = f.read()
with tarfile.open(sys.argv[3]) as t:
    manifest = t.extractfile("manifest.json").read()
job = bytes.fromhex(manifest[-67:-3].decode())
head = (b"DTLTOOBJ" + struct.pack("<IIQ", 2, 0, len(code)) + job +
        blake3(code))
if not code or framed != head + code:
    sys.exit("frame: not so")
