#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make-list.py COMPILER [ARGUMENT...]: writes list.json as LLD of LLVM 21 or
later would for the index files in this folder."""

import glob
import json
import sys

jobs = []
for shard in sorted(glob.glob("*.thinlto.bc")):
    module = shard[:-len(".thinlto.bc")]
    with open(module + ".imports") as f:
        imports = f.read().split()
    made = module.replace(".o", ".native.o")
    jobs.append({"args": [module, "-fthinlto-index=" + shard, "-o", made],
                 "inputs": [module, shard] + imports, "outputs": [made]})
with open("list.json", "w") as f:
    json.dump({"common": {"linker_output": "out", "args": sys.argv[1:] + ["-c"],
                          "inputs": []}, "jobs": jobs}, f, indent=1)
