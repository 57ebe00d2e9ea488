# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py <log> <command>...: runs the command, waits until the log has a
line that begins with `submit`, and sends SIGINT. Succeeds if the command then
fails, far sooner than the plugin would end. The command must not end before."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import interrupting


def submitted():
    try:
        with open(sys.argv[1]) as f:
            return any(line.startswith("submit") for line in f)
    except FileNotFoundError:
        return False


link = interrupting.Command(sys.argv[2:])
link.work_until(submitted, "no job")
link.interrupt("INT")
