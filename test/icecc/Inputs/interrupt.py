# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py <signal> <stock linker> <command>...: under cluster.py; the
worker never ends. Runs the command, waits until each node compiles, and sends
the signal (INT, KILL). Succeeds if the command then ends like the stock linker
after that signal, the scheduler has no jobs, and the nodes have neither
compilers nor their files."""

import glob
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import daemons
import interrupting
import scheduler


def compilers():
    return daemons.compilers(os.environ["CLUSTER_SESSIONS"], "iceccd")


def files():
    """Returns the files that a node's compilers write."""
    return glob.glob(os.environ["CLUSTER_DIR"] + "/node*.envs/*/*/tmp/*")


def code_of_stock(linker):
    """Returns how the stock linker ends: it waits for an input that is never
    written."""
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, "input.o")
        os.mkfifo(fifo)
        stock = interrupting.Command([linker, fifo, "-o", "none.stock"])
        with open(fifo, "w"):
            return stock.interrupt(sys.argv[1])


expected = code_of_stock(sys.argv[2])
port = scheduler.TextPort()
link = interrupting.Command(
    sys.argv[3:], lambda: (compilers(), port.jobs(), files()))
link.work_until(lambda: all(compilers()), "no compilers")
# The nodes notify the scheduler a moment later.
link.wait_for(lambda: sum(job[0] == "COMP" for job in port.jobs()) >=
              len(compilers()), "the scheduler knows of fewer jobs")
code = link.interrupt(sys.argv[1])
if code != expected:
    link.fail("exit code %d, and stock %d" % (code, expected))
link.wait_for(lambda: not any(compilers()), "there are compilers")
link.wait_for(lambda: not port.jobs(), "the scheduler has jobs")
link.wait_for(lambda: not files(), "there are files of compilers")
link.wait_for(lambda: all(" jobs=0/" in line
                          for line in port.nodes().values()),
              "a node isn't free")
