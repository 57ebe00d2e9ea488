#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints dtlto's spans of a --time-trace file: name and detail, sorted.

Fails if spans of a track overlap, if one isn't within LLD's own LTO span, or if a
track has no name.
"""

import json
import sys

with open(sys.argv[1]) as f:
    events = json.load(f)["traceEvents"]
lto = next(e for e in events if e["name"] == "LTO" and e["ph"] == "X")
named = {e["tid"] for e in events if e["name"] == "thread_name"}
tracks, lines = {}, []
for e in events:
    if e.get("cat") != "dtlto":
        continue
    assert e["ph"] == "X" and e["tid"] in named, e
    assert lto["ts"] <= e["ts"] and e["ts"] + e["dur"] <= lto["ts"] + lto["dur"], e
    tracks.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"]))
    lines.append("%s: %s" % (e["name"], e["args"].get("detail", "")))
for spans in tracks.values():
    spans.sort()
    assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), spans
print("\n".join(sorted(lines)))
