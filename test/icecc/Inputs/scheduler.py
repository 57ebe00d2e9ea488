# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Queries the stock scheduler of cluster.py at its telnet port."""

import re
import socket
import time

PORT = 8765
# The discovery message of a client that searches for a scheduler: a protocol
# version.
DISCOVERY = b"\x2b"


def wake(host="127.0.0.1", port=PORT):
    """Wakes the scheduler: it accepts one client a second, and otherwise waits
    until something happens, for up to 30 s."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(DISCOVERY, (host, port))
    except OSError:
        pass


class TextPort:
    """One connection for many queries. Raises OSError if there is no answer
    within the limit, in seconds."""

    def __init__(self, limit=60):
        self.limit = limit
        self.socket = socket.create_connection(("127.0.0.1", PORT + 1),
                                               timeout=0.1)
        try:
            self._read("'quit' to quit.\n")
        except OSError:
            self.close()
            raise

    def close(self):
        self.socket.close()

    def _read(self, last):
        text, end = "", time.monotonic() + self.limit
        while not text.endswith(last):
            if time.monotonic() > end:
                raise OSError("the scheduler doesn't answer")
            try:
                piece = self.socket.recv(65536)
            except socket.timeout:
                wake()
                continue
            if not piece:
                raise OSError("the scheduler hangs up")
            text += piece.decode(errors="replace")
        return text.splitlines()

    def ask(self, command):
        """Returns the lines of the answer."""
        self.socket.sendall(command.encode() + b"\n")
        return self._read("200 done\n")[:-1]

    def nodes(self):
        """Returns the scheduler's nodes: name -> line."""
        return {line.split()[0]: line for line in self.ask("listcs")
                if line.startswith(" ")}

    def jobs(self):
        """Returns all waiting and running jobs: (state, node, name). COMP means
        running at a node."""
        found = []
        for line in self.ask("listjobs"):
            match = re.fullmatch(r" \d+ (\w+) sub:\S* on:(\S+) (.*)", line)
            if match:
                found.append(match.groups())
        return found
