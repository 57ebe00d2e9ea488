#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stops the server of server.py while a command uses it.

  stop-after.py KILL|STOP REQUESTS [--reply] -- COMMAND...

Runs COMMAND, a part of server.py's, with a relay in HTTP's or REDIS' place. The server
gets the signal instead of the request after the first REQUESTS or, with --reply, when
the first half of what it replies then was forwarded. A link may end earlier. The exit
code is COMMAND's."""

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import daemons
import relay

# Each request of HTTP, and of Redis, comes in a part that begins with it.
REQUEST = re.compile(rb"(GET|PUT) /|\*\d+\r\n\$\d+\r\n(GETRANGE|SET)\r\n")


class Relay:
    def __init__(self, port, number, requests, in_reply):
        self.port, self.number, self.requests = port, number, requests
        self.in_reply = in_reply
        self.mutex = threading.Lock()  # guards the following members
        self.seen = 0
        self.is_stopped = False
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.own_port = listener.getsockname()[1]
        relay.serve(listener, self.handle)

    def stop(self):
        self.is_stopped = True
        for pid in daemons.session_members(int(os.environ["STORE_SESSION"])):
            daemons.kill(pid, self.number)

    def handle(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self.port))
        except OSError:
            client.close()
            return
        is_due = [False]  # the next reply on this connection is cut

        def request(part):
            with self.mutex:
                if REQUEST.match(part) and not self.is_stopped:
                    self.seen += 1
                    if self.seen == self.requests + 1:
                        if not self.in_reply:
                            self.stop()
                        is_due[0] = self.in_reply
            return part

        def reply(part):
            if not is_due[0]:
                return part
            with self.mutex:
                self.stop()
            return part[:len(part) // 2]

        relay.thread(relay.copy, client, server, request)
        relay.copy(server, client, reply)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("signal", choices=["KILL", "STOP"])
    parser.add_argument("requests", type=int)
    parser.add_argument("--reply", action="store_true")
    parser.add_argument("command", nargs="+")
    opts = daemons.parse_args(parser, sys.argv[1:])
    name = "HTTP" if "HTTP" in os.environ else "REDIS"
    head, port = os.environ[name].rsplit(":", 1)
    network = Relay(int(port), getattr(signal, "SIG" + opts.signal), opts.requests,
                    opts.reply)
    env = dict(os.environ, **{name: "%s:%d" % (head, network.own_port)})
    return subprocess.run(opts.command, env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
