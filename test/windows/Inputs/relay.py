#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""relay.py COMMAND... FILE.json: the distributor of an lld-link for Linux with
Windows-style names (names.py). Copies the jobs and their files to these paths,
runs COMMAND, dtlto-distributor.exe under wine, and copies the objects back."""

import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import names

with open(sys.argv[-1]) as f:
    document = json.load(f)
folder = os.path.dirname(os.getcwd())
there = os.path.join(folder, "jobs.json")
shutil.copy(sys.argv[-1], there)
for job in document["jobs"]:
    for name in job["inputs"]:
        shutil.copy(name, names.linux(name))
code = subprocess.run([*sys.argv[1:-1], names.windows(there)], cwd=folder).returncode
if code == 0:
    for job in document["jobs"]:
        for name in job["outputs"]:
            shutil.move(names.linux(name), name)
sys.exit(code)
