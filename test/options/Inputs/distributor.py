#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A distributor for LLD's own --thinlto-distributor: runs the jobs in the file
that is its last argument one after the other."""

import json
import subprocess
import sys

with open(sys.argv[-1]) as f:
    listed = json.load(f)
for job in listed["jobs"]:
    subprocess.run(listed["common"]["args"] + job["args"], check=True)
print("distributor:", len(listed["jobs"]), "jobs")
