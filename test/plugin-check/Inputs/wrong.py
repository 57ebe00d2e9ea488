#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs dtlto-plugin-check on the wrong plugins of a table.

  wrong.py --check=PROGRAM --plugins=FOLDER [--timeout=S] [--processes=N]
           [--plugin-arg=TEXT] TEST

Lines of the file TEST that begin with `WRONG:` are

  WRONG: <plugin> [<argument>...] | <case> | <words>

The plugin is one of test/plugins. The case must fail with these words in its message,
and the exit code must be 1. --timeout (default: 12) is for cases that don't end. On a
busy machine, others reach it too: they have ten times as long. --processes (default:
2) is the number of rows that are checked at a time.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys


def is_missed(args, row, timeout):
    """Returns whether the checker doesn't print what the row expects; then
    shows its output."""
    plugin, case, words = (part.strip() for part in row.split("|"))
    name, *plugin_args = plugin.split()
    run = subprocess.run(
        [args.check, os.path.join(args.plugins, "libdtlto_%s.so" % name),
         "--jobs=jobs", "--only=" + case, "--timeout=%d" % timeout] +
        ["--plugin-arg=" + a for a in plugin_args + args.plugin_arg],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=10 * timeout + 60)
    # Without the plugin's own output.
    said = "".join(l for l in run.stdout.splitlines(True)
                   if not l.startswith("  | "))
    # If several jobs go wrong, any of them may be reported first.
    said = re.sub(r"\bjob 1000000000\d\b", "job 10000000001", said)
    if (run.returncode == 1 and "FAIL %s: " % case in said and
            words in said):
        return False
    if "had not ended after %d s" % timeout in run.stdout and timeout == args.timeout:
        return is_missed(args, row, 10 * timeout)
    print("%s: exit code %d, expected 1 and '%s' in:\n%s" %
          (row, run.returncode, words, run.stdout))
    return True


def main():
    p = argparse.ArgumentParser(allow_abbrev=False)
    p.add_argument("--check", required=True)
    p.add_argument("--plugins", required=True)
    p.add_argument("--timeout", type=int, default=12)
    p.add_argument("--processes", type=int, default=2)
    p.add_argument("--plugin-arg", action="append", default=[])
    p.add_argument("test")
    args = p.parse_args()
    with open(args.test) as f:
        rows = [l[6:].strip() for l in f if l.startswith("WRONG:")]
    # The checkers mostly wait.
    with concurrent.futures.ThreadPoolExecutor(args.processes) as pool:
        bad = sum(pool.map(lambda row: is_missed(args, row, args.timeout), rows))
    if not rows:
        print("no table in " + args.test)
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
