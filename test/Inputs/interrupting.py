# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command and sends it a signal during its work."""

import signal
import subprocess
import sys
import time

LIMIT = 60  # seconds, of each wait


class Command:
    def __init__(self, words, state=lambda: ""):
        """`state` returns what to report after a wait that timed out."""
        self.state = state
        # If we were started in the background, SIGINT is ignored.
        self.process = subprocess.Popen(
            words,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def fail(self, text):
        if self.process.poll() is None:
            self.process.kill()
        sys.exit(text)

    def wait_for(self, condition, what):
        end = time.monotonic() + LIMIT
        while not condition():
            if time.monotonic() > end:
                self.fail("%s after %d s: %s" % (what, LIMIT, self.state()))
            time.sleep(0.02)

    def work_until(self, condition, what):
        """Like wait_for(), but fails if the command ends first."""
        self.wait_for(lambda: condition() or self.process.poll() is not None,
                      what)
        if self.process.poll() is not None:
            self.fail("ended by itself, with exit code %d" %
                      self.process.returncode)

    def interrupt(self, name, ends_by=None):
        """Sends the signal (INT, KILL) to the command alone. Its exit code must
        show that it ended by that signal, or by `ends_by`."""
        self.process.send_signal(getattr(signal, "SIG" + name))
        number = getattr(signal, "SIG" + (ends_by or name))
        try:
            code = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.fail("the signal had no effect")
        if code not in (-number, 128 + number):
            self.fail("exit code %d" % code)
        return code
