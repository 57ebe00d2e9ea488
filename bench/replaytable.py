# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/replay --table: recordings on clusters of several sizes, with features
of the linker switched off, as a Markdown table."""

import argparse
import os
import re
import subprocess
import sys

import benchlib
from replaylib import BASE_SLOTS, Cluster, measure

# Machines x slots @ Gb/s of the linker's and the machines' links.
CLUSTERS = ["1x6@1", "2x6@1", "4x6@1", "8x6@1", "16x6@1", "125x8@10"]

# Name and linker options. One whose options the linker doesn't know is left
# out. Each new feature of the scheduler gets a line here with its option to switch it
# off, and "all off" all of them.
VARIANTS = [
    ("default", []),
    ("whole imports", ["--thinlto-dist-slim=off"]),
    ("costs not learnt", ["--thinlto-dist-costs=off"]),
    ("no local jobs", ["--thinlto-dist-local-jobs=0"]),
    ("no duplicates", ["--thinlto-dist-duplicate=0"]),
    ("all off, link order", [
        "--thinlto-dist-slim=off", "--thinlto-dist-costs=off",
        "--thinlto-dist-local-jobs=0", "--thinlto-dist-duplicate=0",
        "--thinlto-dist-order=link"]),
]

CLUSTER = re.compile(r"(\d+)x(\d+)@(\d+(?:\.\d+)?)")

# What was measured before this project was begun.
NOTE_2021 = (
    "For comparison, measured in 2021 on 16 PCs against one: clang linked 3.5 "
    "times faster, lld 2.2 times."
)


def cluster_of(text):
    match = CLUSTER.fullmatch(text)
    if not match or not int(match[1]) or not int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is not like 16x6@1")
    return int(match[1]), int(match[2]), float(match[3])


def add_options(parser):
    group = parser.add_argument_group("tables")
    group.add_argument(
        "--table", action="store_true",
        help="each recording on each cluster with each variant, as Markdown",
    )
    group.add_argument(
        "--clusters", type=cluster_of, nargs="+", metavar="MxS@G",
        default=[cluster_of(text) for text in CLUSTERS],
        help=f"machines, slots and Gb/s (default: {' '.join(CLUSTERS)})",
    )
    group.add_argument(
        "--variants", nargs="+", metavar="NAME", default=[VARIANTS[0][0]],
        help="'all', or of: " + ", ".join(f"'{name}'" for name, _ in VARIANTS)
        + f" (default: '{VARIANTS[0][0]}')",
    )
    group.add_argument(
        "--longest", type=float, default=120, metavar="SECONDS",
        help="links that would take longer are scaled so that they don't; "
        "the table says so (default: 120)",
    )


def known(options, words):
    """Does the linker know these options?"""
    said = subprocess.run(
        [options.linker, "--thinlto-dist-plugin=local", *words, "--version"], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )
    return said.returncode == 0


def choose_variants(options):
    names = [name for name, _ in VARIANTS]
    wanted = names if "all" in options.variants else options.variants
    for name in wanted:
        if name not in names:
            benchlib.fail(f"no variant '{name}': choose from {names}")
    chosen = []
    for name, words in VARIANTS:
        if name not in wanted:
            continue
        if known(options, words):
            chosen.append((name, words))
        else:
            sys.stderr.write(f"left out '{name}': this linker doesn't know "
                             f"{' '.join(words)}\n")
    return chosen


def scale_for(options, rec, machines, slots):
    """So that the work alone fits in the time that a link may take."""
    needed = rec.work() / (machines * slots)
    if options.scale != 1 or needed <= options.longest:
        return options.scale
    return float(-(-needed // options.longest))


HEADER = (
    "| link | machines x slots | Gb/s | variant | measured | bound | efficiency "
    f"| speed-up over 1x{BASE_SLOTS} | sent | slots busy | jobs here | moved, "
    "duplicated | linker CPU a job |\n|---|---|---|---|---|---|---|---|---|---|"
    "---|---|---|"
)


def row(rec, cluster, variant, runs):
    r, s = runs[0], runs[0].stats
    jobs = max(1, s["recorded"])
    scaled = f" (time / {cluster.scale:g})" if cluster.scale != 1 else ""
    return " | ".join([
        f"| {rec.name}, {s['recorded']} modules",
        f"{cluster.machines} x {cluster.slots}", f"{cluster.gbps:g}",
        variant + scaled, f"{r.measured:.2f} s", f"{r.bound:.2f} s",
        f"{r.efficiency:.2f}", f"{r.speed_up:.2f}",
        f"{s['bytes_sent'] / 1e6:.0f} MB", f"{100 * r.slots_busy:.0f} %",
        str(r.local), f"{s['moved']}, {s['duplicated']}",
        f"{1e6 * r.host_cpu / jobs:.0f} us |",
    ])


def run(options, recordings):
    variants = choose_variants(options)
    for rec in recordings:
        print(rec.describe())
    print(
        f"{options.repeat} links each (the median's row); load "
        f"{os.getloadavg()[0]:.2f} at the beginning\n\n{HEADER}", flush=True,
    )
    others = []
    for rec in recordings:
        for machines, slots, gbps in options.clusters:
            cluster = Cluster.of(
                options, machines=machines, slots=slots, gbps=gbps,
                scale=scale_for(options, rec, machines, slots),
            )
            for name, words in variants:
                runs = measure(options, rec, cluster,
                               [*words, *options.arg], quiet=True)
                others += [one.others for one in runs]
                print(row(rec, cluster, name, runs), flush=True)
    print(
        f"\n{NOTE_2021}\n\nOther processes used {min(others):.2f} to "
        f"{max(others):.2f} of {os.cpu_count()} cores meanwhile."
    )
    return 0
