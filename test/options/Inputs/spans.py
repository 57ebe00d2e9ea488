# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the spans of a --time-trace file, sorted, without times and threads.

Fails if the file isn't JSON of the trace event format. Totals are left out, since
they contain the number of spans, and so are the file's metadata and what dtlto adds
for its jobs.
"""

import json
import sys

with open(sys.argv[1]) as f:
    events = json.load(f)["traceEvents"]

spans = []
for event in events:
    if event["ph"] == "X" and not event["name"].startswith("Total ") \
            and event.get("cat") != "dtlto":
        assert event["dur"] >= 0 and event["ts"] >= 0
        detail = event.get("args", {}).get("detail", "")
        spans.append("%s: %s" % (event["name"], detail))
print("\n".join(sorted(spans)))
