# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites the nodes' ports in an iceccd's messages to its clients."""

import struct

HANDSHAKE = 8  # two numbers
USE_CS = ord("H")  # length, kind, job number, port, ...


class Grants:
    """Forwards an iceccd's bytes message by message. Each granted node gets the
    port port_of(its own)."""

    def __init__(self, port_of):
        self.port_of = port_of
        self.handshake, self.rest = HANDSHAKE, b""

    def __call__(self, part):
        ready, part = part[:self.handshake], part[self.handshake:]
        self.handshake -= len(ready)
        self.rest += part
        while len(self.rest) >= 4:
            size = 4 + struct.unpack(">I", self.rest[:4])[0]
            if len(self.rest) < size:
                break
            message, self.rest = self.rest[:size], self.rest[size:]
            if size > 16 and struct.unpack(">I", message[4:8])[0] == USE_CS:
                node = struct.unpack(">I", message[12:16])[0]
                message = message[:12] + struct.pack(">I", self.port_of(node)) \
                    + message[16:]
            ready += message
        return ready
