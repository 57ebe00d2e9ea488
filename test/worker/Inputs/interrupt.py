# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py <signal> <program> <command>...

Runs the command, a link with a module that compiles for ever. Waits until it has
started processes of that program, and sends it the signal, and them none.
Succeeds if the command then ends without success, and so do they all."""

import os
import signal
import subprocess
import sys
import time

LIMIT = 60
END = time.monotonic() + 2 * LIMIT
name, program, *command = sys.argv[1:]


def stat(pid):
    """Name, state, parent."""
    try:
        with open("/proc/%s/stat" % pid) as f:
            text = f.read()
    except OSError:
        return "", "X", 0
    state, parent = text.rpartition(")")[2].split()[:2]
    return text.partition("(")[2].rpartition(")")[0], state, int(parent)


def alive():
    """The processes of the program that a command of ours has begun."""
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and
            stat(pid)[0] == program[:15] and stat(pid)[1] not in "XZ"]


def wait_for(condition, what):
    while not condition():
        if time.monotonic() > END:
            process.kill()
            sys.exit("no end: " + what)
        time.sleep(0.02)


# Whoever started us in the background had SIGINT ignored.
process = subprocess.Popen(
    command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
workers = set()


def begun():
    workers.update(pid for pid in alive() if stat(pid)[2] == process.pid)
    # The others end by themselves.
    running = [pid for pid in workers if pid in alive()]
    return process.poll() is not None or (len(workers) >= 2 and
                                          len(running) == 1)


wait_for(begun, "no worker")
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
    wait_for(lambda: not workers & set(alive()), "a worker is left")
finally:
    for pid in workers & set(alive()):
        os.kill(int(pid), signal.SIGKILL)
