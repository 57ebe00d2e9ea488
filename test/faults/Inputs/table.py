# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints results of the campaign as Markdown tables."""

import json

import cases

OUTCOMES = "stock's bytes", "failed", "ended by the signal", "not noticed"
EVENTS = cases.NETWORK + cases.PROCESSES + cases.CLUSTER + cases.WRONG + (
    cases.SERVER_FULL,) + cases.OWN + cases.SIGNALS


def read(path):
    """Returns the last result of each run."""
    found = {}
    with open(path) as f:
        for line in f:
            result = json.loads(line)
            found[result["seed"], result["run"]] = result
    return list(found.values())


def lines(head, rows, numbers):
    """`numbers`: how many of the last columns are numbers."""
    def row(words):
        return "| " + " | ".join(str(word) for word in words) + " |"
    yield row(head)
    yield row(["---"] * (len(head) - numbers) + ["--:"] * numbers)
    yield from map(row, rows)
    yield ""


def counts(results):
    fine = [r for r in results if not r["problems"]]
    reached = [r for r in fine if r["reached"]]
    return [len(results)] + [
        sum(r["outcome"] == outcome for r in reached) or "" for outcome in OUTCOMES
    ] + [len(fine) - len(reached) or "", "%.1f" % max(r["seconds"] for r in results),
         len(results) - len(fine)]


# For results from before these choices existed.
DEFAULTS = {"many": False, "duplicates": True}


def by(name, values, results):
    for value in values:
        some = [r for r in results if r.get(name, DEFAULTS.get(name)) == value]
        if some:
            yield some, value


def of(results):
    head = ["runs", *OUTCOMES, "not reached", "slowest, s", "wrong"]
    text = list(lines(["event"] + head, [
        [value] + counts(some) for some, value in by("event", EVENTS, results)
    ] + [["all"] + counts(results)], len(head)))

    # For each event and state: how many faults were reached, and of how many.
    def cell(event, state):
        some = [r for r in results if r["event"] == event and r["state"] == state]
        wrong = sum(bool(r["problems"]) for r in some)
        return "" if not some else "%d of %d%s" % (
            sum(r["reached"] for r in some), len(some),
            ", **%d wrong**" % wrong if wrong else "")
    text += lines(["event", *cases.STATES], [
        [event] + [cell(event, state) for state in cases.STATES]
        for _, event in by("event", EVENTS, results)], len(cases.STATES))

    text += lines(["links", ""] + head, [
        [name, value] + counts(some)
        for name, values in (("plugin", cases.PLUGINS), ("cache", cases.CACHES),
                             ("verify", (0, 5, 100)),
                             ("fallback", ("local", "none")),
                             ("large", (False, True)),
                             ("many", (False, True)),
                             ("duplicates", (True, False)))
        for some, value in by(name, values, results)], len(head))

    again = [r for r in results if r.get("alone again")]
    text.append("runs that were too slow beside others, and were repeated alone: %d" %
                len(again))
    for name in "commit", "build":
        text.append("%s: %s" % (name, ", ".join(
            "%s (%d runs)" % (value, sum(r[name] == value for r in results))
            for value in sorted({r[name] for r in results}))))
    return "\n".join(text)
