#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks whether PluginAPI.h is compatible with a released version.

  check-baseline.py --include=FOLDER BASELINE     compares (abidiff)
  check-baseline.py --include=FOLDER --write=FILE writes a baseline (abidw)

FOLDER has dtlto/PluginAPI.h. A baseline describes types.c, compiled with the
header of the version in its name. A new minor version may append fields to structs
that begin with `size` (docs/ABI-CHANGELOG.md); any other difference is an error.
abidiff 2.2 can't express that: a suppression for appended fields always applies.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

# abidiff's report for a struct with fields appended at its end.
GROWN = [re.compile(line) for line in (
    r"\[C\] 'function void use_dtlto_\w+\(dtlto_\w+\*\)' has some indirect "
    r"sub-type changes:",
    r"parameter 1 of type 'dtlto_\w+\*' has sub-type changes:",
    r"in pointed to type 'typedef dtlto_\w+':",
    # These structs have no size, and so can't grow.
    r"underlying type 'struct dtlto_(?!span\b|buffer\b|bundle_span\b)\w+' changed:",
    r"type size changed from \d+ to \d+ \(in bits\)",
    r"\d+ data member insertions?:",
    r"'[^']+', at offset (\d+) \(in bits\)",
    # The same for a function with a parameter that points to such a struct.
    r"type size hasn't changed",
    r"\d+ data member changes?(?: \(\d+ filtered\))?:",
    r"type of '(?:typedef )?\w+ \([^']*\)\* \w+' changed:",
    r"type of '\w+ \(\* \w+\)\([^']*\)' changed:",  # later versions
    r"in pointed to type 'function type [^']*':",
    r"parameter \d+ of type '(?:const )?dtlto_\w+\*' has sub-type changes:",
    r"in pointed to type 'const dtlto_\w+':",
    r"in unqualified underlying type 'typedef dtlto_\w+':",
)]
SUMMARY = re.compile(r"(Functions|Variables) changes summary: 0 Removed, "
                     r"|\d+ functions? with some indirect sub-type changes?:")


def is_compatible(report):
    size = 0
    for line in map(str.strip, report.splitlines()):
        match = next((m for m in (g.fullmatch(line) for g in GROWN) if m), None)
        if line and not match and not SUMMARY.match(line):
            return False
        if line.startswith("type size changed"):
            size = int(line.split()[4])
        # Not in padding, and not before other fields.
        if match and match.groups() and int(match[1]) < size:
            return False
    return True


here = os.path.dirname(os.path.abspath(__file__))


def main():
    p = argparse.ArgumentParser(allow_abbrev=False)
    p.add_argument("--include", required=True)
    p.add_argument("--cc", default="cc")
    p.add_argument("--write")
    p.add_argument("baseline", nargs="?")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "types.so")
        subprocess.run(
            [args.cc, "-std=c11", "-g", "-gdwarf-4", "-O0", "-fPIC", "-shared",
             "-fvisibility=hidden", "-I" + os.path.abspath(args.include),
             "types.c", "-o", library], cwd=here, check=True)
        if args.write:
            return subprocess.run(
                ["abidw", "--no-show-locs", "--no-comp-dir-path",
                 "--no-corpus-path", "--out-file", args.write,
                 library]).returncode
        run = subprocess.run(
            ["abidiff", "--no-show-locs", "--no-added-syms",
             args.baseline, library],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # Bits 1 and 2: abidiff itself failed.
    if not run.returncode & 3 and is_compatible(run.stdout):
        return 0
    print("PluginAPI.h is no longer compatible with %s:\n%s" %
          (os.path.basename(args.baseline), run.stdout))
    print("See docs/ABI-CHANGELOG.md: this needs a new major, or an extension.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
