# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py <log> <command>...: runs a link, waits until the log of the plugin has a
line that begins with `submit`, and sends SIGINT. Succeeds if the link then fails. Not
all linkers end by the signal itself."""

import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import interrupting

log, *command = sys.argv[1:]


def has_job():
    return os.path.exists(log) and "submit" in open(log).read()


link = interrupting.Command(command)
link.work_until(has_job, "no job")
link.process.send_signal(signal.SIGINT)
try:
    code = link.process.wait(interrupting.LIMIT)
except subprocess.TimeoutExpired:
    link.fail("the signal had no effect")
sys.exit(code == 0)
