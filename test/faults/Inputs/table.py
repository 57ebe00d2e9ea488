# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of the campaign, by event and state, as a table in Markdown."""

import json

import cases

COLUMNS = "stock's bytes", "failed", "ended by the signal", "not noticed"


def read(path):
    """The last result of each run."""
    found = {}
    with open(path) as f:
        for line in f:
            result = json.loads(line)
            found[result["seed"], result["run"]] = result
    return list(found.values())


def row(words):
    return "| " + " | ".join(str(word) for word in words) + " |"


def of(results):
    lines = [row(["event", "state", "runs", *COLUMNS, "not reached", "wrong"]),
             row(["---"] * 2 + ["--:"] * (len(COLUMNS) + 3))]

    def count(event, state, some):
        reached = [r for r in some if r["reached"] and not r["problems"]]
        lines.append(row([event, state, len(some)] + [
            sum(r["outcome"] == column for r in reached) or "" for column in COLUMNS
        ] + [sum(not r["reached"] and not r["problems"] for r in some) or "",
             sum(bool(r["problems"]) for r in some)]))
    groups = {}
    for result in results:
        groups.setdefault((result["event"], result["state"]), []).append(result)
    order = cases.NETWORK + cases.PROCESSES + cases.CLUSTER + cases.WRONG + (
        cases.SERVER_FULL,) + cases.OWN + cases.SIGNALS
    for event, state in sorted(groups, key=lambda key: (
            order.index(key[0]), cases.STATES.index(key[1]))):
        count(event, state, groups[event, state])
    count("all", "", results)
    return "\n".join(lines)
