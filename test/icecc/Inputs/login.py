#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links with a scheduler that handles a monitor's login slowly.

  login.py COMMAND...

Runs COMMAND twice, so that a node has its environment. For the second run, a relay
is in front of the scheduler (ICECC_SCHEDULER). The relay has a connection that the
scheduler has already accepted, gives it to the first client, and delays the client's
login. Prints whether the client left before the scheduler had answered, and fails if
the scheduler has died.
"""

import os
import select
import socket
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import relay
from grants import HANDSHAKE
from scheduler import PORT, TextPort, wake

HOLD = 0.3  # seconds; the client waits less than a second
found = []


def read(source, size):
    text = b""
    while len(text) < size:
        part = source.recv(size - len(text))
        if not part:
            raise OSError("it hung up")
        text += part
    return text


def handle(client, server, done):
    with client, server:
        try:
            # Each side sends the versions it supports, and then the agreed one.
            for source, to in (server, client), (client, server):
                to.sendall(read(source, HANDSHAKE // 2))
            for source, to in (client, server), (server, client):
                to.sendall(read(source, HANDSHAKE // 2))
            login = read(client, 8)
            if select.select([client], [], [], HOLD)[0]:
                raise OSError("it left before the scheduler had its login")
            server.sendall(login)
            server.settimeout(30)
            client.sendall(server.recv(1 << 16))
            found.append("the login was answered")
        except OSError as e:
            found.append("the first client: %s" % e)
        done.set()
        relay.thread(relay.copy, client, server)
        relay.copy(server, client)


def main():
    subprocess.run(sys.argv[1:], check=True)
    server = socket.create_connection(("127.0.0.1", PORT))
    while not select.select([server], [], [], 0.1)[0]:
        wake()
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def first():
        handle(listener.accept()[0], server, done)
    relay.thread(first)
    env = dict(os.environ,
               ICECC_SCHEDULER="127.0.0.1:%d" % listener.getsockname()[1])
    code = subprocess.run(sys.argv[1:], env=env).returncode
    done.wait(30)
    print("login: " + ", ".join(found or ["nobody came"]))
    try:
        TextPort(10).close()
    except OSError as e:
        sys.exit("login: the scheduler: %s" % e)
    return code


if __name__ == "__main__":
    sys.exit(main())
