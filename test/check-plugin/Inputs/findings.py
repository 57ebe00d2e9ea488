# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links with --thinlto-dist-check-plugin and each wrong plugin of a table.

  findings.py TEST LINKER ARGUMENT...

Lines of the file TEST that begin with `FINDS:` are

  FINDS: <plugin> [<argument>...] | <finding> [| <finding>...]

An argument that begins with two dashes is the linker's. Each finding is a part of one warning. There are no others, their number is the link's
last note, and the output is that of stock LLD."""

import filecmp
import re
import sys
import subprocess

# What happened, the section of the header, and how to mend it.
WARNING = re.compile(r"ld\.lld: warning: dtlto: plugin '\w+': "
                     r"(.* \([A-Z][\w ]*: .*\)|.* \(dtlto_[\w.]+: .*\))$")
COUNT = re.compile(r"ld\.lld: note: dtlto: plugin '\w+': (\d+) findings? in \d+ jobs? "
                   r"\(--thinlto-dist-check-plugin\)$")


def problem(link, row):
    """Returns what is wrong with a row's link, or nothing."""
    words, *findings = (part.strip() for part in row.split("|"))
    plugin, *arguments = words.split()
    run = subprocess.run(
        link + ["--thinlto-dist-check-plugin", "--thinlto-dist-local-jobs=0",
                "-o", "out", "--thinlto-dist-plugin=" + plugin] +
        [a if a.startswith("--") else "--thinlto-dist-plugin-arg=" + a
         for a in arguments],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True,
        timeout=120)
    lines = run.stdout.splitlines()
    warnings = [m.group(1) for m in map(WARNING.match, lines) if m]
    counts = [int(m.group(1)) for m in map(COUNT.match, lines) if m]
    for finding in findings:
        if sum(finding in warning for warning in warnings) != 1:
            return "no, or more than one '%s'" % finding, run.stdout
    if len(warnings) != len(findings):
        return "%d findings" % len(warnings), run.stdout
    if counts != [len(findings)]:
        return "the count is %s" % counts, run.stdout
    if run.returncode != 0:
        return "exit code %d" % run.returncode, run.stdout
    if not filecmp.cmp("stock", "out", shallow=False):
        return "another output", run.stdout
    return None


def main():
    with open(sys.argv[1]) as f:
        rows = [l[len("FINDS:"):].strip() for l in f if l.startswith("FINDS:")]
    bad = 0
    for row in rows:
        what = problem(sys.argv[2:], row)
        if what:
            bad += 1
            print("%s: %s:\n%s" % (row, *what))
    if bad or not rows:
        sys.exit("%d of %d rows are wrong" % (bad, len(rows)))


main()
