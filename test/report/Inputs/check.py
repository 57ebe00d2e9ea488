#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a report's data against its description.

  check.py <REPORT.md> <report.json or .html> [--jobs=N] [<expression>...]

The tables of docs/REPORT.md define the fields and their types: each field must be
documented, and each one that isn't optional must exist. Then the statements of the
text are checked: sums, the order of times, lanes with one thing at a time. Each
expression is Python with the report as `r`, and must be true.
"""

import json
import re
import sys


def fail(message):
    sys.exit("check.py: " + message)


def read_tables(path):
    """Returns type -> field -> (its type, whether it is optional)."""
    types, current = {}, None
    with open(path) as f:
        for line in f:
            heading = re.fullmatch(r"(#+) (.*)\n", line)
            if heading:
                current = types.setdefault(heading[2], {}) if heading[1] == "###" else None
            row = re.match(r"\| `(\w+)` \| (.*?) \|", line)
            if row and current is not None:
                kind, _, rest = row[2].partition(", optional")
                assert not rest, line
                current[row[1]] = (kind, row[2].endswith(", optional"))
    return types


def check(types, kind, value, where):
    if kind.startswith("list of "):
        if not isinstance(value, list):
            fail("%s is no list" % where)
        for i, item in enumerate(value):
            check(types, kind[len("list of "):], item, "%s[%d]" % (where, i))
    elif kind.startswith("one of: "):
        if value not in re.findall(r"`(.*?)`", kind):
            fail("%s is %r, not %s" % (where, value, kind))
    elif kind in types:
        fields = types[kind]
        for name, (field_kind, optional) in fields.items():
            if name in value:
                check(types, field_kind, value[name], where + "." + name)
            elif not optional:
                fail("%s has no %s" % (where, name))
        for name in value:
            if name not in fields:
                fail("%s.%s is not described" % (where, name))
    else:
        good = {
            "text": isinstance(value, str),
            "bool": isinstance(value, bool),
            "number": isinstance(value, (int, float)) and not isinstance(value, bool),
            "count": isinstance(value, int) and not isinstance(value, bool)
                     and value >= 0,
        }[kind]
        if not good:
            fail("%s is %r, no %s" % (where, value, kind))


SLACK = 2e-6  # times are rounded
SLOT_SLACK = 0.002 + SLACK  # plugins report two jobs on several threads


def check_sense(r):
    link, totals, jobs, hosts = r["link"], r["totals"], r["jobs"], r["hosts"]
    if r["version"] != 1:
        fail("another version")
    if totals["jobs"] != len(jobs):
        fail("totals.jobs")
    for source, total in (("worker", "from_worker"), ("here", "from_here"),
                          ("cache", "from_cache"),
                          ("remote cache", "from_remote_cache"), ("none", "without_object")):
        if sum(j["from"] == source for j in jobs) != totals[total]:
            fail("totals." + total)
    at = -link["thin_link"]
    for w in r["waits"]:
        if abs(w["begin"] - at) > SLACK:
            fail("waits have a gap at %f" % at)
        at = w["end"]
    if r["waits"] and abs(at - link["end"]) > SLACK:
        fail("waits don't lead to the end")
    if r["bound"]["seconds"] > link["thin_link"] + link["end"] + SLACK * 10:
        fail("it was faster than its bound")

    lanes = {}
    for j in jobs:
        places = [(j[step], j[step]["begin"], j[step]["end"])
                  for step in ("prepare", "deliver") if step in j]
        if "end" in j and j["end"] > link["end"] + SLACK:
            fail("%s ended after the link" % j["name"])
        if (j["from"] in ("worker", "here")) != ("winner" in j):
            fail("%s: winner" % j["name"])
        if "winner" in j and j["attempts"][j["winner"]]["outcome"] != "ok":
            fail("%s: winner's outcome" % j["name"])
        for a in j["attempts"]:
            last = a.get("accepted", 0)
            for p in a["phases"]:
                if p["begin"] > p["end"] or abs(p["begin"] - last) > SLACK \
                        and p is not a["phases"][0]:
                    fail("%s: phases" % j["name"])
                last = p["end"]
            busy = [p for p in a["phases"] if p["phase"] != "queue"]
            if bool(busy) != ("host" in a):
                fail("%s: an attempt without a place" % j["name"])
            if busy:
                # The next job may have the slot while the object is being
                # received.
                if len(busy) > 1 and busy[-1]["phase"] == "receive":
                    busy.pop()
                places.append((a, busy[0]["begin"], busy[-1]["end"]))
        for place, begin, end in places:
            if "host" in place:
                if place["lane"] >= hosts[place["host"]]["lanes"]:
                    fail("%s: no such lane" % j["name"])
                lanes.setdefault((place["host"], place["lane"]), []).append(
                    (begin, end))
    for lane, spans in lanes.items():
        spans.sort()
        for (_, end), (begin, _) in zip(spans, spans[1:]):
            if end > begin + SLOT_SLACK:
                fail("lane %s holds two at the same time" % (lane,))
    if len(lanes) != sum(h["lanes"] for h in hosts):
        fail("lanes without anything")


def main():
    schema, path, *rest = sys.argv[1:]
    with open(path) as f:
        text = f.read()
    if path.endswith(".html"):
        found = re.findall(r'<script type="application/json" id="data">(.*?)</script>',
                           text, re.S)
        if len(found) != 1:
            fail("%d places with data" % len(found))
        text = found[0]
    r = json.loads(text)
    check(read_tables(schema), "report", r, "report")
    check_sense(r)
    for expression in rest:
        if expression.startswith("--jobs="):
            expression = "len(r['jobs']) == " + expression[len("--jobs="):]
        if not eval(expression, {"r": r}):
            fail("not true: " + expression)
    print("good: %d jobs" % len(r["jobs"]))


main()
