# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""odd-worker.py FILE: adds a worker with an odd name to statistics."""

import json
import sys

with open(sys.argv[1]) as f:
    statistics = json.load(f)
statistics["workers"].append(
    {"plugin": "p", "name": 'a"b\\c\nd', "jobs": 3, "failures": 1, "retries": 1,
     "seconds": 0.5, "last_use": 1})
with open(sys.argv[1], "w") as f:
    json.dump(statistics, f)
