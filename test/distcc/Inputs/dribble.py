#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links through a network that forwards replies at ten bytes a second.

  dribble.py PORT COMMAND...

In DISTCC_HOSTS, COMMAND gets a name for a relay in front of the distccd at PORT.
Answers to version queries are forwarded at once.
"""

import os
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import relay


def handle(client):
    server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    request = client.recv(1000, socket.MSG_PEEK)
    relay.thread(relay.copy, client, server)
    relay.copy(server,
               client if b"--version" in request else relay.Dribble(client))


def main():
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    relay.serve(listener, handle)
    hosts = "127.0.0.1:%d/4" % listener.getsockname()[1]
    return subprocess.run(sys.argv[2:],
                          env=dict(os.environ, DISTCC_HOSTS=hosts)).returncode


if __name__ == "__main__":
    sys.exit(main())
