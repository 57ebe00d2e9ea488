# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""barrier.py REPORT: fails unless the report has four modules in two rounds,
and no attempt crosses the barrier between them."""

import json
import sys

with open(sys.argv[1]) as f:
    report = json.load(f)
end, begin = report["link"]["first_round_end"], report["link"]["second_round_begin"]
assert 0 < end <= begin < report["link"]["end"], report["link"]
names = {1: [], 2: []}
for job in report["jobs"]:
    names[job["round"]].append(job["name"])
    assert job["attempts"] and job["from"] == "worker", job
    for attempt in job["attempts"]:
        if job["round"] == 1:
            assert attempt["done"] <= end, (job, end)
        else:
            assert begin <= attempt["offered"], (job, begin)
assert sorted(names[1]) == sorted(names[2]) and len(names[1]) == 4, names
phases = [wait["phase"] for wait in report["waits"]]
assert phases[0] == "thin link" and phases.count("merge") == 1, phases
# There are no gaps.
for one, next_one in zip(report["waits"], report["waits"][1:]):
    assert one["end"] == next_one["begin"], (one, next_one)
assert report["totals"]["jobs"] == report["totals"]["from_worker"] == 8
