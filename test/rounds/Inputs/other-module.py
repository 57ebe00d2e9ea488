#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replaces dtlto-codegen ($CODEGEN). Returns its results, but an optimised
module has another name for a variable or, with HOW=junk, is junk."""

import os
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../worker/Inputs"))
from blake3 import blake3

run = subprocess.run([os.environ["CODEGEN"]] + sys.argv[1:],
                     stdout=subprocess.PIPE)
if run.returncode:
    sys.exit(run.returncode)
made, path = run.stdout, None
if "-o" in sys.argv:
    path = sys.argv[sys.argv.index("-o") + 1]
if path and path != "-":
    sys.stdout.buffer.write(run.stdout)
    with open(path, "rb") as file:
        made = file.read()
else:
    path = None
if not made.startswith(b"DTLTO"):  # the output of --version
    if not path:
        sys.stdout.buffer.write(made)
    sys.exit(0)
frame, result = made[:88], made[88:]
if result.startswith(b"DTLTOOUT"):
    kind, _, size = struct.unpack_from("<IIQ", result, 32)
    assert kind == 4 and size
    module = result[-size:]
    module = b"junk" * (size // 4) if os.environ["HOW"] == "junk" else (
        module.replace(b"data", b"date"))
    result = result[:-size] + module
changed = frame[:24] + frame[24:56] + blake3(result) + result
if path:
    with open(path, "wb") as file:
        file.write(changed)
else:
    sys.stdout.buffer.write(changed)
