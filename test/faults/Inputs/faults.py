# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A fault, which waits for its moment."""

import socket
import struct
import threading

import cases

# For each state, the line in the linker's event log that begins it.
LOGGED = {"queued": " Accepted ", "verifying": "  Verify ",
          "delivering": "  Deliver ", "close": "  Close"}
END = "the link has ended\n"


class Fault:
    """`act` is called once to inject process faults."""

    def __init__(self, case, act):
        self.case, self.act = case, act
        self.event, self.state = case["event"], case["state"]
        self.lock = threading.Lock()
        self.count = 0
        self.reached = False
        # Whether the fault applies to all new connections.
        self.everywhere = False
        self.proxies = []
        self.seen = set()  # (state, host)
        self.is_network = self.event in cases.NETWORK

    def in_scope(self, host):
        scope = self.case["scope"]
        return scope == "all" or host == self.case["host"] or (
            scope == "once" and not self.is_network)

    def place(self, connection, state, direction):
        """Returns the offset in this state's bytes at which something may
        happen, or None. A connection is counted once."""
        self.seen.add((state, connection.host))
        if (state != self.state or self.everywhere or connection.counted or
                connection.host is None or not (
                    self.case["scope"] == "once" or
                    self.in_scope(connection.host))):
            return None
        if direction == self.case["direction"] or state != "probe":
            return self.case["offset"]
        return None

    def reached_by(self, connection):
        """Called when a connection reaches that offset."""
        with self.lock:
            connection.counted = True
            index = self.count
            self.count += 1
            once = self.case["scope"] == "once" or not self.is_network
            if index != self.case["nth"] and (once or index < self.case["nth"]):
                return
            first = not self.reached
            self.reached = True
        if not self.is_network:
            self.act()
            return
        connection.apply(self.event)
        if self.state == "connect" and first and not once:
            for proxy in self.proxies:
                if proxy.host is None or not self.in_scope(proxy.host):
                    continue
                if self.event == "cut":
                    proxy.refuse()
                elif self.event == "stall":
                    proxy.drop()

    def accepted(self, connection):
        """Called for a new connection."""
        if self.everywhere and self.in_scope(connection.host):
            connection.apply(self.event)
            self.reached = True

    def begin(self):
        """Called when the linker's log shows the moment."""
        if not self.is_network:
            self.reached = True
            return self.act()
        found = [c for proxy in self.proxies for c in proxy.connections()
                 if self.in_scope(c.host)]
        if self.case["scope"] == "once":
            del found[1:]
        else:
            self.everywhere = True
        for c in found:
            c.apply(self.event)
        self.reached = bool(found)

    def read_log(self, fifo):
        """Reads the log until a line END. The linker writes each step before it
        is carried out."""
        wanted = LOGGED.get(self.state)
        with open(fifo, errors="replace", closefd=False) as log:
            for line in log:
                if line == END:
                    break
                if wanted and wanted in line:
                    wanted = None
                    self.begin()


class Names:
    """The name server of the links: hosts' names resolve to 127.0.0.1. The
    fault may apply to its packets."""

    def __init__(self):
        self.socket = None
        self.fault = None
        self.open()
        threading.Thread(target=self._serve, daemon=True).start()

    def open(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(("127.0.0.1", 53))
        self.closed = False

    def _serve(self):
        while True:
            query, address = self.socket.recvfrom(4096)
            reply = self._answer(query)
            fault = self.fault
            if fault and fault.state == "resolve":
                reply = self._strike(fault, query, reply)
            if reply:
                self.socket.sendto(reply, address)

    @staticmethod
    def _answer(query):
        # Skip labels, the terminator, type and class.
        end = query.index(b"\0", 12) + 5
        kind = struct.unpack(">H", query[end - 4:end - 2])[0]
        answers = kind == 1
        return (query[:2] + struct.pack(">5H", 0x8580, 1, answers, 0, 0) +
                query[12:end] + (
                    b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) +
                    b"\x7f\0\0\x01" if answers else b""))

    @staticmethod
    def _strike(fault, query, reply):
        host = query[12 + 1:].split(b"\0")[0][4:5]
        case = fault.case
        if case["scope"] == "host" and host != b"%d" % (case["host"] + 1):
            return reply
        with fault.lock:
            index, fault.count = fault.count, fault.count + 1
            first = not fault.reached
            if index != case["nth"] and (
                    case["scope"] == "once" or index < case["nth"]):
                return reply
            fault.reached = True
        if not fault.is_network:
            if first:
                fault.act()
            return reply
        if fault.event == "flipped bit":
            at = case["offset"] % len(reply)
            return (reply[:at] + bytes([reply[at] ^ 1 << case["bit"]]) +
                    reply[at + 1:])
        # Half an answer, a server failure, no such name, or no answer.
        return {"cut": reply[:12 + case["offset"] % 12],
                "reset": reply[:3] + b"\x83" + reply[4:],
                "stall": None}[fault.event]
