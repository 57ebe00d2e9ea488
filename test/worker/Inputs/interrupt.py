# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py <signal> <program> <command>...

Runs the command, a link of a module that compiles forever. Waits until it has
started a process of that program which compiles, and sends the signal to the
command alone. Succeeds if the command then fails, and the process ends as
well."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import daemons
import interrupting

name, program, *command = sys.argv[1:]


def stat(pid):
    """Returns name, state, parent, and used time in ticks."""
    try:
        with open("/proc/%s/stat" % pid) as f:
            text = f.read()
    except OSError:
        return "", "X", 0, 0
    fields = text.rpartition(")")[2].split()
    return (text.partition("(")[2].rpartition(")")[0], fields[0],
            int(fields[1]), int(fields[11]) + int(fields[12]))


def alive(pid):
    name, state, _, _ = stat(pid)
    return name == program[:15] and state not in "XZ"


link = interrupting.Command(command)
workers = []


def begun():
    """Returns whether a worker has run so long that it must have read its
    job."""
    workers[:] = [pid for pid in os.listdir("/proc") if pid.isdigit() and
                  alive(pid) and stat(pid)[2] == link.process.pid]
    return any(stat(pid)[3] >= os.sysconf("SC_CLK_TCK") for pid in workers)


link.work_until(begun, "no worker compiles")
link.interrupt(name)
try:
    link.wait_for(lambda: not any(map(alive, workers)), "a worker is left")
finally:
    for pid in filter(alive, workers):
        daemons.kill(int(pid))
