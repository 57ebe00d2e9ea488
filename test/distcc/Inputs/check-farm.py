# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs farm.py with commands that end in many ways, and checks that it leaves
nothing."""

import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import farm

LIMIT = 60
FARM = [sys.executable, farm.__file__]


def wait_for(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            sys.exit(what)
        time.sleep(0.02)


def check(name, options, command, code, number=None):
    process = subprocess.Popen(
        FARM + options + ["--", "sh", "-c",
                          "echo $FARM_SESSIONS > sessions.new; "
                          "mv sessions.new sessions; " + command],
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT,
                                         signal.default_int_handler))
    if number:
        wait_for(lambda: os.path.exists("sessions"), name + ": never began")
        process.send_signal(number)
    if process.wait(LIMIT) != code:
        sys.exit("%s: exit code %d" % (name, process.returncode))
    with open("sessions") as f:
        sessions = [int(word) for word in f.read().split()]
    if len(sessions) != 2:
        sys.exit("%s: daemons: %s" % (name, sessions))
    # At once, except for the guard's cleanup.
    wait_for(lambda: not any(farm.session_members(s) for s in sessions),
             name + ": daemons are left")
    wait_for(lambda: not os.listdir(os.environ["TMPDIR"]),
             name + ": files are left")
    os.remove("sessions")


check("success", ["2"], "true", 0)
check("failure", ["2"], "exit 3", 3)
check("too long", ["--limit=0.1", "2"], "exec sleep 100", 125)
check("an event that never comes", ["--kill=1:done:1:all", "2"], "true", 125)
check("jobs that were never done", ["--expect=1", "2"], "true", 125)
check("SIGINT", ["2"], "exec sleep 100", 130, signal.SIGINT)
check("SIGTERM", ["2"], "exec sleep 100", 130, signal.SIGTERM)
check("SIGKILL", ["2"], "while test -e sessions; do sleep 0.1; done",
      -signal.SIGKILL, signal.SIGKILL)
