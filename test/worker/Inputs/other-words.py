#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replaces dtlto-codegen ($CODEGEN). Returns its result, with $FROM replaced by
$TO, of the same length."""

import os
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from blake3 import blake3

run = subprocess.run([os.environ["CODEGEN"]] + sys.argv[1:],
                     stdout=subprocess.PIPE)
if run.returncode:
    sys.exit(run.returncode)
result = run.stdout[88:].replace(os.environ["FROM"].encode(),
                                 os.environ["TO"].encode())
sys.stdout.buffer.write(b"DTLTOOBJ" + struct.pack("<IIQ", 2, 0, len(result)) +
                        run.stdout[24:56] + blake3(result) + result)
