#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""expect.py COMPILER [ARGUMENT...]: compiles each module with a shard in this
folder to FILE.native.o, a name that debug info may contain, and moves the file
to want/."""

import glob
import os
import subprocess
import sys

os.mkdir("want")
for shard in sorted(glob.glob("*.thinlto.bc")):
    module = shard[:-len(".thinlto.bc")]
    made = module.replace(".o", ".native.o")
    subprocess.run(sys.argv[1:] + [
        "-c", "-x", "ir", module, "-fthinlto-index=" + shard, "-o", made],
        check=True)
    os.replace(made, "want/" + made)
