# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""rerun.py <folder> <number> <objects> <program>...

Runs each job of the folder, which must have that number of jobs, with the
program (dtlto-codegen with its arguments). The results must be the objects, a
glob pattern, byte for byte: one object for each job."""

import collections
import glob
import os
import subprocess
import sys

folder, number, pattern, *program = sys.argv[1:]


def read(path):
    with open(path, "rb") as f:
        return f.read()


objects = collections.Counter(read(path) for path in glob.glob(pattern))
jobs = sorted(os.path.join(base, name) for base, _, names in os.walk(folder)
              for name in names)
if len(jobs) != int(number) or not all(job.endswith(".tar") for job in jobs):
    sys.exit("rerun: not %s jobs: %s" % (number, jobs))
if sum(objects.values()) != len(jobs):
    sys.exit("rerun: %d objects for %d jobs" %
             (sum(objects.values()), len(jobs)))
for job in jobs:
    made = subprocess.run(program + [job, "-o", "rerun.o"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if made.returncode or made.stdout:
        sys.exit("rerun: %s: exit code %d\n%s" %
                 (job, made.returncode, made.stdout.decode(errors="replace")))
    code = read("rerun.o")
    os.remove("rerun.o")
    if not objects[code]:
        sys.exit("rerun: %s: another object" % job)
    objects[code] -= 1
