#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py <signal> <command>...: the command runs slow-clang. Waits until
that compiles, and sends the signal (INT, TERM, KILL). PARENT: another process
runs the command, and is killed instead. Succeeds if the command then fails, its
compilers end as well, and nothing is left in TMPDIR, if that is set."""

import glob
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import interrupting

for old in glob.glob("begun.*"):
    os.remove(old)


def alive(pid):
    try:
        with open("/proc/%s/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def compilers():
    return [name.split(".")[1] for name in glob.glob("begun.*")]


words = sys.argv[2:]
as_parent = sys.argv[1] == "PARENT"
if as_parent:
    words = [sys.executable, "-S", "-c",
             "import subprocess, sys; p = subprocess.Popen(sys.argv[1:]); "
             "open('child', 'w').write(str(p.pid)); sys.exit(p.wait())"] + words
command = interrupting.Command(words)
command.work_until(compilers, "no compilers")
if as_parent or sys.argv[1] == "KILL":
    command.interrupt("KILL")
else:
    # Whatever the signal is, the compiler gets SIGTERM.
    command.interrupt(sys.argv[1], ends_by="TERM")
if as_parent:
    with open("child") as f:
        child = f.read()
    command.wait_for(lambda: not alive(child), "it is still there")
command.wait_for(lambda: not any(alive(p) for p in compilers()),
                 "there are compilers")
folder = os.environ.get("TMPDIR")
command.wait_for(lambda: not folder or not os.listdir(folder),
                 "there are files in TMPDIR")
