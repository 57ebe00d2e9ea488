# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""watch.py telnet|sundae <regex>... -- <command>...: under cluster.py. Starts
watching the cluster through the scheduler's telnet port or with the monitor
icecream-sundae, then runs the command, and ends it once all regular expressions
have matched at the same time. Fails if the command ends before that."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True
import scheduler

LIMIT = 120


class Telnet:
    def __init__(self):
        self.port = scheduler.TextPort()

    def text(self):
        time.sleep(0.1)
        return "\n".join(self.port.ask("listjobs"))

    def close(self):
        self.port.close()


class Sundae:
    """icecream-sundae on a large terminal, with all details open."""

    def __init__(self):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            sys.stdin.readline()
            os.environ["TERM"] = "xterm"
            os.execvp("icecream-sundae", ["icecream-sundae", "-s", "127.0.0.1"])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 200, 200, 0, 0))
        os.write(self.terminal, b"\n")
        self.bytes = b""
        end = time.monotonic() + LIMIT
        # It is notified of jobs that begin, not of those already running.
        while "node1" not in self.text():
            scheduler.wake()
            if time.monotonic() > end:
                self.close()
                sys.exit("the monitor shows no node: %s" % self.bytes)
        os.write(self.terminal, b"a")

    def text(self):
        """Returns the whole screen, which it redraws each time."""
        if select.select([self.terminal], [], [], 0.2)[0]:
            try:
                self.bytes += os.read(self.terminal, 65536)
            except OSError:
                sys.exit("the monitor ended: %s" % self.bytes)
        screens = self.bytes.split(b"\x1b[H\x1b[2J")
        self.bytes = b"\x1b[H\x1b[2J".join(screens[-2:])
        # The last frame may be incomplete. Remove colours and cursor movements.
        return re.sub(r"(\x1b(\[[?0-9;]*[A-Za-z]|\(.|[=>]))+", " ",
                      screens[-2 if len(screens) > 1 else 0].decode(
                          errors="replace"))

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


at = sys.argv.index("--")
wanted = sys.argv[2:at]
watcher = {"telnet": Telnet, "sundae": Sundae}[sys.argv[1]]()
process = subprocess.Popen(sys.argv[at + 1:])
try:
    end = time.monotonic() + LIMIT
    while True:
        text = watcher.text()
        missing = [regex for regex in wanted if not re.search(regex, text)]
        if not missing:
            break
        if process.poll() is not None:
            sys.exit("it ended with exit code %d" % process.returncode)
        if time.monotonic() > end:
            sys.exit("after %d s, there is no %s in: %s" %
                     (LIMIT, missing, text))
finally:
    process.terminate()
    process.wait()
    watcher.close()
