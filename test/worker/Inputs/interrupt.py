# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py <signal> <program> <command>...

Runs the command, a link of a module that compiles for ever. Waits until it has
started a process of that program and that compiles, and sends the signal to the
command alone. Succeeds if that then ends without success, and the process as
well."""

import os
import signal
import subprocess
import sys
import time

LIMIT = 60
END = time.monotonic() + 2 * LIMIT
name, program, *command = sys.argv[1:]


def stat(pid):
    """Name, state, parent, and used time in ticks."""
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


def wait_for(condition, what):
    while not condition():
        if time.monotonic() > END:
            process.kill()
            sys.exit("no end: " + what)
        time.sleep(0.02)


# Whoever started us in the background had SIGINT ignored.
process = subprocess.Popen(
    command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
workers = []


def begun():
    """Has a worker been at it for so long that it has read all of its job?"""
    workers[:] = [pid for pid in os.listdir("/proc") if pid.isdigit() and
                  alive(pid) and stat(pid)[2] == process.pid]
    return process.poll() is not None or any(
        stat(pid)[3] >= os.sysconf("SC_CLK_TCK") for pid in workers)


wait_for(begun, "no worker compiles")
if process.poll() is not None:
    sys.exit("ended by itself, with exit code %d" % process.returncode)
process.send_signal(getattr(signal, "SIG" + name))
try:
    code = process.wait(LIMIT)
except subprocess.TimeoutExpired:
    process.kill()
    sys.exit("the signal had no effect")
if code == 0:
    sys.exit("exit code 0")
try:
    wait_for(lambda: not any(map(alive, workers)), "a worker is left")
finally:
    for pid in filter(alive, workers):
        os.kill(int(pid), signal.SIGKILL)
