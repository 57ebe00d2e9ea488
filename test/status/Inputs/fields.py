#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the JSON of --thinlto-dist-status=json from standard input, checks that
each field exists and has its type, and prints a line for each field."""

import json
import sys

NUMBER, TEXT = (int, type(None)), (str, type(None))
FIELDS = {"version": int, "plugin": str, "plugin_version": str,
          "llvm_version": str, "up": bool, "slots": NUMBER, "problems": list,
          "workers": (list, type(None)), "load": (dict, type(None))}
WORKER = {"name": str, "state": str, "compiler": TEXT, "why": TEXT,
          "slots": NUMBER, "busy": NUMBER,
          "load": (int, float, type(None))}
LOAD = dict.fromkeys(("workers", "slots", "free", "queued"), NUMBER)


def check(value, fields):
    if set(value) != set(fields):
        sys.exit("fields: %s" % sorted(value))
    for name, kind in fields.items():
        if not isinstance(value[name], kind):
            sys.exit("%s is %r" % (name, value[name]))


status = json.load(sys.stdin)
check(status, FIELDS)
if (status["workers"] is None) == (status["load"] is None):
    sys.exit("neither or both of workers and load")
for name, value in status.items():
    if name == "workers" and value is not None:
        for worker in value:
            check(worker, WORKER)
            if worker["state"] not in ("up", "out", "unknown"):
                sys.exit("state %r" % worker["state"])
            print("worker: " + ", ".join("%s=%s" % item
                                         for item in worker.items()))
    elif name == "problems":
        for problem in value:
            print("problem: " + problem)
    elif name == "load" and value is not None:
        check(value, LOAD)
        print("load: " + ", ".join("%s=%s" % item for item in value.items()))
    else:
        print("%s: %s" % (name, value))
