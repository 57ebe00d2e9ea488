# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py <signal> <command>...: under farm.py; the daemons' compiles never
end. Runs the command, waits until each daemon compiles, and sends the signal
(INT, KILL). Succeeds if the command then ends without success, and the daemons'
compilers end as well."""

import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import farm

LIMIT = 60


def compilers():
    """For each daemon, its processes that are no distccd."""
    return [[name for name in farm.session_members(int(session)).values()
             if name != "distccd"]
            for session in os.environ["FARM_SESSIONS"].split()]


def wait_for(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            process.kill()
            sys.exit("%s after %d s: %s" % (what, LIMIT, compilers()))
        time.sleep(0.02)


number = getattr(signal, "SIG" + sys.argv[1])
# Whoever started us in the background had SIGINT ignored.
process = subprocess.Popen(
    sys.argv[2:],
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
wait_for(lambda: all(compilers()) or process.poll() is not None,
         "no compilers")
if process.poll() is not None:
    sys.exit("ended by itself, with exit code %d" % process.returncode)
process.send_signal(number)
try:
    code = process.wait(LIMIT)
except subprocess.TimeoutExpired:
    process.kill()
    sys.exit("the signal had no effect")
if code == 0:
    sys.exit("exit code 0")
wait_for(lambda: not any(compilers()), "there are compilers")
