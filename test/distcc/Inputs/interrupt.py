# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py <signal> <command>...: under farm.py, whose daemons' compiles
never end. Runs the command, waits until each daemon compiles, and sends the
signal (INT, KILL). Succeeds if the command then fails, and the daemons'
compilers end as well."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import daemons
import interrupting


def compilers():
    return daemons.compilers(os.environ["FARM_SESSIONS"], "distccd")


link = interrupting.Command(sys.argv[2:], compilers)
link.work_until(lambda: all(compilers()), "no compilers")
link.interrupt(sys.argv[1])
link.wait_for(lambda: not any(compilers()), "there are compilers")
