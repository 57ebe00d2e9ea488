#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links through a network that flips a bit in each reply.

  flip.py PORT STOCK OUT -- COMMAND...

COMMAND links to the file OUT with the hosts of DISTCC_HOSTS: four names for relays
in front of the distccd at PORT. Of the replies to jobs, the first has a flipped bit
in its first byte, the second in its second, and so on. COMMAND runs until each
offset of the longest reply has been changed. It has to succeed each time, and OUT
has to equal STOCK. Replies to other requests aren't changed.
"""

import filecmp
import os
import socket
import subprocess
import sys
import threading

HOSTS = 4  # the number that the plugin tries

# The limit for one link, in seconds. The number of links depends on the
# replies' length, so the test as a whole has a generous limit.
LIMIT = 100


class Relay:
    def __init__(self, port):
        self.port = port
        self.lock = threading.Lock()
        self.flipped = 0
        self.longest = 0
        self.servers = [socket.create_server(("127.0.0.1", 0), backlog=256)
                        for _ in range(HOSTS)]
        for server in self.servers:
            threading.Thread(target=self.accept, args=(server,),
                             daemon=True).start()

    def hosts(self):
        return " ".join("127.0.0.1:%d/4" % s.getsockname()[1]
                        for s in self.servers)

    def accept(self, server):
        while True:
            client, _ = server.accept()
            threading.Thread(target=self.serve, args=(client,),
                             daemon=True).start()

    def flip(self, reply):
        with self.lock:
            offset = self.flipped
            self.flipped += 1
            self.longest = max(self.longest, len(reply))
        if reply:
            reply[offset % len(reply)] ^= 1 << offset * 5 % 8

    def serve(self, client):
        request = bytearray()

        def forward(server):
            """Forwards what the client sends."""
            try:
                while part := client.recv(1 << 16):
                    request.extend(part)
                    server.sendall(part)
            except OSError:
                pass
            # The client closed the connection, so its job ends.
            server.close()

        try:
            with client, socket.create_connection(
                    ("127.0.0.1", self.port)) as server:
                threading.Thread(target=forward, args=(server,),
                                 daemon=True).start()
                reply = bytearray()
                while part := server.recv(1 << 16):
                    reply.extend(part)
                if b"--version" not in request[:1000]:
                    self.flip(reply)
                client.sendall(reply)
                # Wakes the other thread.
                client.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main():
    port, stock, out = sys.argv[1:4]
    relay = Relay(int(port))
    env = dict(os.environ, DISTCC_HOSTS=relay.hosts(),
               DISTCC_BACKOFF_PERIOD="0")
    links = 0
    while relay.flipped == 0 or relay.flipped < relay.longest:
        before = relay.flipped
        links += 1
        try:
            run = subprocess.run(sys.argv[5:], env=env, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, timeout=LIMIT)
        except subprocess.TimeoutExpired as e:
            sys.exit("flip: link %d still ran after %d s, offsets %d to %d:\n%s" %
                     (links, LIMIT, before, relay.flipped,
                      (e.output or b"").decode(errors="replace")))
        if run.returncode or not filecmp.cmp(stock, out, shallow=False):
            sys.exit("flip: link %d, exit code %d, offsets %d to %d:\n%s" % (
                links, run.returncode, before, relay.flipped,
                run.stdout.decode(errors="replace")))
        if relay.flipped == before:
            sys.exit("flip: not one job went through the relay:\n" +
                     run.stdout.decode(errors="replace"))
    print("flip: each of %d bytes" % relay.longest)


if __name__ == "__main__":
    main()
