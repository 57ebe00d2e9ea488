#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links through a network that forwards nodes' answers at ten bytes a second.

  dribble.py COMMAND...

A relay is in front of COMMAND's local iceccd (ICECC_TEST_SOCKET). It replaces the
port of each granted node by that of another relay, which is the slow network.
Handshakes and environment checks are forwarded at once.
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import relay
from grants import HANDSHAKE, Grants

QUICK = HANDSHAKE + 12  # and one message

ports = {}  # a node's port -> its relay's port
lock = threading.Lock()


def relay_of(node):
    with lock:
        if node not in ports:
            listener = socket.create_server(("127.0.0.1", 0), backlog=256)

            def handle(client):
                server = socket.create_connection(("127.0.0.1", node))
                relay.thread(relay.copy, client, server)
                relay.copy(server, relay.Dribble(client, QUICK))
            relay.serve(listener, handle)
            ports[node] = listener.getsockname()[1]
        return ports[node]


def main():
    daemon = os.environ["ICECC_TEST_SOCKET"]

    def handle(client):
        server = socket.socket(socket.AF_UNIX)
        server.connect(daemon)
        relay.thread(relay.copy, client, server)
        relay.copy(server, client, Grants(relay_of))

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "iceccd.socket")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(256)
        relay.serve(listener, handle)
        return subprocess.run(sys.argv[1:], env=dict(
            os.environ, ICECC_TEST_SOCKET=path)).returncode


if __name__ == "__main__":
    sys.exit(main())
