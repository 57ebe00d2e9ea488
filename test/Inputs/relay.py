# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A relay between a link and a daemon that simulates a slow network."""

import socket
import threading
import time


def thread(function, *args):
    threading.Thread(target=function, args=args, daemon=True).start()


def serve(listener, handle):
    """Calls handle(client) for each connection, on a new thread."""
    def accept():
        while True:
            thread(handle, listener.accept()[0])
    thread(accept)


def copy(source, to, change=lambda part: part):
    """Forwards all bytes until either side closes; then closes both."""
    try:
        while part := source.recv(1 << 16):
            to.sendall(change(part))
    except OSError:
        pass
    for end in source, to:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Dribble:
    """Forwards the first `quick` bytes to `to` at once, and the rest one byte
    at a time, ten a second."""

    def __init__(self, to, quick=0):
        self.to, self.quick = to, quick

    def sendall(self, part):
        self.to.sendall(part[:self.quick])
        part, self.quick = part[self.quick:], max(0, self.quick - len(part))
        for byte in part:
            self.to.sendall(bytes([byte]))
            time.sleep(0.1)

    def shutdown(self, how):
        self.to.shutdown(how)
