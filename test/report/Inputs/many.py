#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the report of a fictitious link with many jobs.

  many.py <page.html> <jobs> <workers> <slots of each> > <large.html>
  many.py --json <jobs> <workers> <slots of each> > <large.json>

The page is the report of a small link, whose data is replaced. Jobs are assigned
longest first; a few fail and are retried, and some run in the linker. The same
arguments give the same report.
"""

import heapq
import json
import random
import re
import sys


def make(num_jobs, workers, slots):
    rand = random.Random(1)
    hosts = [{"name": "node%03d" % i, "kind": "worker", "lanes": slots, "jobs": 0,
              "attempts": 0, "failed": 0, "busy": 0.0} for i in range(workers)]
    hosts.append({"name": "in the linker", "kind": "here", "lanes": 2, "jobs": 0,
                  "attempts": 0, "failed": 0, "busy": 0.0})
    free = [(0.01, h, lane) for lane in range(slots) for h in range(workers)]
    free += [(0.01, workers, 0), (0.01, workers, 1)]
    heapq.heapify(free)
    speed = [rand.uniform(0.8, 1.3) for _ in hosts]
    costs = sorted((rand.lognormvariate(-0.5, 1) for _ in range(num_jobs)),
                   reverse=True)
    jobs, end, work = [], 0.0, 0.0
    before = {}  # by host and lane: previous job and attempt
    totals = {key: 0 for key in (
        "jobs from_worker from_here from_cache from_remote_cache without_object retries second_starts "
        "second_starts_won failed_attempts bytes_out bytes_back import_bytes "
        "whole_import_bytes").split()}
    totals["waste"] = 0.0
    for i, cost in enumerate(costs):
        size = int(cost * 400000) + 3000
        job = {"name": "src/part%d/libpart.a(module%d.cpp.o at %d)" %
                       (i % 97, i, i * 60),
               "number": i + 1, "cost": round(cost, 6), "from": "worker", "busy": 0,
               "bytes": {"primary": size, "imports": size // 2,
                         "whole_imports": 3 * size, "shard": size // 20,
                         "object": size // 3},
               "prepare": {"begin": i * 1e-4, "end": i * 1e-4 + 2e-3}, "attempts": []}
        while True:
            at, host, lane = heapq.heappop(free)
            here = hosts[host]["kind"] == "here"
            fails = not here and not job["attempts"] and rand.random() < 0.002
            begin = max(at, job["prepare"]["end"])
            run = cost * speed[host] * (0.5 if fails else 1)
            send, receive = (0, 0) if here else (0.02, 0.01)
            done = begin + send + run + receive
            phases = [] if here else [
                {"phase": "queue", "begin": job["prepare"]["end"], "end": begin},
                {"phase": "send", "begin": begin, "end": begin + send}]
            phases.append({"phase": "run", "begin": begin + send,
                           "end": begin + send + run})
            if not here:
                phases.append({"phase": "receive", "begin": done - receive,
                               "end": done})
            phases = [p for p in phases if p["end"] > p["begin"]]
            attempt = {
                "kind": "here" if here else "retry" if job["attempts"] else "first",
                "outcome": "infrastructure error" if fails else "ok",
                "in_linker": here, "host": host, "lane": lane, "done": done,
                "phases": phases}
            if not here:
                attempt.update(id=2 * i + len(job["attempts"]) + 1,
                               worker=hosts[host]["name"],
                               offered=job["prepare"]["end"],
                               accepted=job["prepare"]["end"])
                totals["bytes_out"] += size + size // 2 + size // 20
                totals["import_bytes"] += size // 2
                totals["whole_import_bytes"] += 3 * size
            if fails:
                attempt["message"] = "connection reset by peer"
            totals["retries"] += attempt["kind"] == "retry"
            totals["failed_attempts"] += fails
            job["attempts"].append(attempt)
            hosts[host]["attempts"] += 1
            hosts[host]["failed"] += fails
            hosts[host]["busy"] += done - begin
            before.setdefault((host, lane), []).append((i, len(job["attempts"]) - 1))
            heapq.heappush(free, (done, host, lane))
            if not fails:
                break
            totals["waste"] += run
        if here:
            job.update({"from": "here", "why_here": "the plugin was full"})
        job["winner"] = len(job["attempts"]) - 1
        job["deliver"] = {"begin": done, "end": done + 1e-3}
        job["end"] = done + 1e-3
        hosts[host]["jobs"] += 1
        totals["from_here" if here else "from_worker"] += 1
        totals["bytes_back"] += 0 if here else size // 3
        end = max(end, job["end"])
        work += run
        jobs.append(job)
    # The last jobs of its lane, backwards.
    last = max(jobs, key=lambda job: job["end"])
    attempt = last["attempts"][last["winner"]]
    waits, to = [], end
    for number, at in reversed(before[attempt["host"], attempt["lane"]]):
        for phase in reversed(jobs[number]["attempts"][at]["phases"]):
            if phase["phase"] != "queue" and phase["begin"] < to:
                waits.append({"phase": phase["phase"], "begin": phase["begin"],
                              "end": to, "job": number, "attempt": at})
                to = phase["begin"]
    waits.append({"phase": "prepare", "begin": 0.0, "end": to})
    waits.append({"phase": "thin link", "begin": -2.5, "end": 0.0})
    totals.update(jobs=num_jobs, work=work)
    runs = [p["end"] - p["begin"] for job in jobs
            for p in job["attempts"][job["winner"]]["phases"] if p["phase"] == "run"]
    longest = max(range(num_jobs), key=lambda i: runs[i])
    all_slots = workers * slots + 2
    return {
        "format": "dtlto-report", "version": 1,
        "link": {"output": "bin/large", "plugin": "drawn", "plugin_version": "0",
                 "dtlto": "0", "llvm": "19", "date": "2000-01-01T00:00:00Z",
                 "threads": 2, "thin_link": 2.5, "opened": 0.01, "end": end,
                 "failed": False},
        "totals": totals,
        "bound": {"seconds": 2.5 + max(runs[longest], work / all_slots),
                  "longest": runs[longest], "longest_job": longest, "slots": all_slots},
        "waits": waits[::-1], "hosts": hosts,
        "numbers": [
            {"name": "hits <b>of</b> a cache", "unit": "count", "value": 12345},
            {"name": "bytes sent", "unit": "bytes", "value": 1500000},
            {"name": "queued", "unit": "seconds", "value": 2.5}],
        "loads": [{"time": 0.01, "slots": workers * slots, "free": workers * slots,
                   "queued": 0, "workers": workers}],
        "jobs": jobs}


def main():
    page, *numbers = sys.argv[1:]
    text = json.dumps(make(*map(int, numbers)))
    if page != "--json":
        with open(page) as f:
            html = f.read()
        text, n = re.subn(r'(<script type="application/json" id="data">).*?(</script>)',
                          lambda m: m[1] + text + m[2], html, flags=re.S)
        assert n == 1
    sys.stdout.write(text)


main()
