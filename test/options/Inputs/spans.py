# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the backends' spans of a --time-trace file, sorted, without times.

Fails if the file is not JSON of the trace event format. Totals are left out:
they cover the linker's own spans as well.
"""

import json
import sys

# What only the backends do, and do once for each module or function.
BACKEND = {"Function Import", "OptModule", "OptFunction", "ModuleToFunction...",
           "RunPass", "OpenOutput"}

with open(sys.argv[1]) as f:
    events = json.load(f)["traceEvents"]

names = {e["tid"]: e["args"]["name"] for e in events
         if e["ph"] == "M" and e["name"] == "thread_name"}
spans = []
for e in events:
    if e["ph"] == "X" and not e["name"].startswith("Total "):
        assert e["dur"] >= 0 and e["ts"] >= 0
        spans.append("%s: %s: %s" % (names.get(e["tid"], "?"), e["name"],
                                     e.get("args", {}).get("detail", "")))
print("\n".join(sorted(spans)))
