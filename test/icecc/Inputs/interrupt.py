# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py <signal> <stock linker> <command>...: under cluster.py; the
worker never ends. Runs the command, waits until each node compiles, and sends
the signal (INT, KILL). Succeeds if the command then ends as the stock linker
does after that signal, the scheduler knows of no job any more, and the nodes
have neither a compiler nor a file of one."""

import glob
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import cluster
import scheduler

LIMIT = 60


def compilers():
    """For each node, its processes that are no iceccd."""
    return [[name for name in cluster.session_members(int(session)).values()
             if name != "iceccd"]
            for session in os.environ["CLUSTER_SESSIONS"].split()]


def files():
    """Where a node's compilers write."""
    return glob.glob(os.environ["CLUSTER_DIR"] + "/node*.envs/*/*/tmp/*")


def fail(text):
    if process.poll() is None:
        process.kill()
    sys.exit(text)


def wait_for(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            fail("%s after %d s: %s, %s, %s" % (
                what, LIMIT, compilers(), port.jobs(), files()))
        time.sleep(0.02)


def start(command):
    # Whoever started us in the background had SIGINT ignored.
    return subprocess.Popen(
        command,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def code_of_stock(linker):
    """It waits for an input that nobody writes."""
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, "input.o")
        os.mkfifo(fifo)
        process = start([linker, fifo, "-o", "none.stock"])
        with open(fifo, "w"):
            process.send_signal(number)
            return process.wait(LIMIT)


number = getattr(signal, "SIG" + sys.argv[1])
expected = code_of_stock(sys.argv[2])
port = scheduler.TextPort()
process = start(sys.argv[3:])
wait_for(lambda: all(compilers()) or process.poll() is not None,
         "no compilers")
if process.poll() is not None:
    fail("ended by itself, with exit code %d" % process.returncode)
# The nodes tell it a moment later.
wait_for(lambda: sum(job[0] == "COMP" for job in port.jobs()) >=
         len(compilers()), "the scheduler knows of fewer jobs")
process.send_signal(number)
try:
    code = process.wait(LIMIT)
except subprocess.TimeoutExpired:
    fail("the signal had no effect")
if code != expected:
    fail("exit code %d, and stock %d" % (code, expected))
wait_for(lambda: not any(compilers()), "there are compilers")
wait_for(lambda: not port.jobs(), "the scheduler has jobs")
wait_for(lambda: not files(), "there are files of compilers")
wait_for(lambda: all(" jobs=0/" in line for line in port.nodes().values()),
         "a node isn't free")
