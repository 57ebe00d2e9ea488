# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A proxy between a link and a daemon. It follows the protocol to know how far
a job is, and asks a fault (faults.py) at each byte whether to inject it now."""

import ctypes
import math
import os
import select
import socket
import struct
import sys
import threading
import time

for folder in "Inputs", "icecc/Inputs":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    "..", "..", folder))
import relay
from grants import HANDSHAKE, Grants

# A protocol returns for a piece of a stream a list of (state, bytes). Zero
# bytes mark the moment at which that state begins.


class Distcc:
    """distcc's protocol: a connection has one request and its answer."""

    WITH_BYTES = b"ARGV", b"CDIR", b"NAME", b"FILE"

    def __init__(self):
        self.kind = None  # "probe", or "sending" for a job
        self.token = b""
        self.skip = 0  # bytes until the next token
        self.files = None  # the number of files still to come
        self.complete = False

    def out(self, part):
        if self.kind is None:
            # The query arrives in one piece.
            self.kind = "probe" if b"--version" in part[:1000] else "sending"
        found = [(self.kind, part)]
        if self.kind == "sending" and not self.complete:
            self._read(part)
            if self.complete:
                found.append(("compiling", b""))
        return found

    def _read(self, part):
        while part:
            if self.skip:
                n = min(self.skip, len(part))
                self.skip -= n
            else:
                n = 12 - len(self.token)
                self.token += part[:n]
                if len(self.token) == 12:
                    name, value = self.token[:4], int(self.token[4:], 16)
                    self.token = b""
                    if name == b"NFIL":
                        self.files = value
                    if name in self.WITH_BYTES:
                        self.skip = value
                    self.last = name
            part = part[n:]
            if not self.skip and not self.token and self.last == b"FILE":
                self.files -= 1
                self.last = b""
        self.complete = self.files == 0

    def into(self, part):
        return [("probe" if self.kind == "probe" else "receiving", part)]


class Messages:
    """libicecc's protocol: numbers for a handshake, then messages with their
    lengths."""

    END, COMPILE_FILE, COMPILE_RESULT = b"C", b"I", b"K"
    TRANSFER_ENV, VERIFY_RESULT = b"X", b"^"

    def __init__(self, state, on_message=lambda self, kind: None):
        self.state, self.on_message = state, on_message
        self.handshake, self.head, self.skip = HANDSHAKE, b"", 0

    def __call__(self, part):
        found = []

        def pass_on(n):
            nonlocal part
            if found and found[-1][0] == self.state:
                found[-1] = self.state, found[-1][1] + part[:n]
            else:
                found.append((self.state, part[:n]))
            part = part[n:]
        while part:
            if self.handshake:
                n = min(self.handshake, len(part))
                self.handshake -= n
                pass_on(n)
            elif self.skip:
                n = min(self.skip, len(part))
                self.skip -= n
                pass_on(n)
                if not self.skip and self.kind == self.END and (
                        self.state == "sending"):
                    self.state = "compiling"
                    found.append((self.state, b""))
            else:
                # Length and kind are kept together for the state that begins.
                n = 8 - len(self.head)
                self.head, part = self.head + part[:n], part[n:]
                if len(self.head) == 8:
                    size, self.kind = struct.unpack(">I", self.head[:4])[0], (
                        self.head[7:])
                    self.on_message(self, self.kind)
                    self.skip = size + 4
                    part, self.head = self.head + part, b""
        return found


class Node:
    """A node's protocol: a handshake, optionally an environment, and optionally
    a job."""

    def __init__(self):
        def going(messages, kind):
            messages.state = {Messages.TRANSFER_ENV: "environment",
                              Messages.COMPILE_FILE: "sending"}.get(
                                  kind, messages.state)

        def coming(messages, kind):
            messages.state = {Messages.VERIFY_RESULT: "environment",
                              Messages.COMPILE_RESULT: "receiving"}.get(
                                  kind, messages.state)
        self.out = Messages("probe", going)
        self.into = Messages("probe", coming)


class Local:
    """The local iceccd, which grants nodes. `port_of` maps a node's port to
    that of its proxy."""

    def __init__(self, port_of):
        grants = Grants(port_of)
        self.out = lambda part: [("queued", part)]
        self.into = lambda part: [("queued", ready)] if (
            ready := grants(part)) else []


class Scheduler:
    """The scheduler, which sends a monitor its nodes."""

    def __init__(self):
        self.out = self.into = lambda part: [("probe", part)]


def reset(sock):
    """Closes a socket at once, even while another thread reads from it."""
    if sock.family == socket.AF_UNIX:
        return sock.shutdown(socket.SHUT_RDWR)
    ctypes.CDLL(None).connect(
        sock.fileno(), struct.pack("=H14x", socket.AF_UNSPEC), 16)


class Connection:
    def __init__(self, proxy, client):
        self.proxy, self.client = proxy, client
        self.host = proxy.host
        self.stalled = threading.Event()
        self.slow = self.flip = self.counted = self.hit = False
        self.server = None

    def serve(self):
        try:
            self.server = self.proxy.connect()
            labels = self.proxy.protocol()
            back = threading.Thread(target=relay.copy, args=(
                self.server, Tap(self, self.client, labels.into, "in")))
            back.start()
            relay.copy(self.client, Tap(self, self.server, labels.out, "out"))
            back.join()
        except OSError:
            pass  # the daemon is gone
        for end in self.client, self.server:
            if end:
                end.close()

    def apply(self, event):
        """Applies the fault to all later bytes."""
        self.hit = True
        try:
            if event == "cut":
                for end in self.client, self.server:
                    end.shutdown(socket.SHUT_RDWR)
            elif event == "reset":
                reset(self.client)
                self.server.shutdown(socket.SHUT_RDWR)
            elif event == "stall":
                self.stalled.set()
            elif event == "dribble":
                self.slow = True
            elif event == "flipped bit":
                self.flip = True
        except (OSError, AttributeError):
            pass  # it has ended, or hasn't begun

    def wait_for_client(self, seconds=math.inf):
        """Waits without reading. Raises OSError if the client leaves."""
        poll = select.poll()
        poll.register(self.client, select.POLLRDHUP)
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if poll.poll(1000 * min(left, 0.5)) or self.proxy.closed:
                raise OSError


class Tap:
    """One direction of a connection, for relay.copy()."""

    def __init__(self, connection, to, label, direction):
        self.connection, self.to, self.label = connection, to, label
        self.direction = direction
        self.seen = {}  # state -> bytes

    def shutdown(self, how):
        self.to.shutdown(how)

    def sendall(self, part):
        for state, piece in self.label(part):
            self._send(state, piece)

    def _send(self, state, piece):
        c, fault = self.connection, self.connection.proxy.fault
        before = self.seen.get(state, 0)
        self.seen[state] = before + len(piece)
        at = fault.place(c, state, self.direction)
        if at is not None and (before <= at < before + len(piece) or not piece):
            at = max(0, at - before) if piece else 0
            self._forward(piece[:at])
            piece = piece[at:]
            fault.reached_by(c)
        self._forward(piece)

    def _forward(self, piece):
        c = self.connection
        if c.stalled.is_set():
            c.wait_for_client()
        if c.flip and piece:
            c.flip = False
            piece = bytes([piece[0] ^ 1 << c.proxy.fault.case["bit"]]) + piece[1:]
        if c.slow:
            # Ten bytes a second, as long as there is a receiver.
            for byte in piece:
                self.to.sendall(bytes([byte]))
                c.wait_for_client(0.1)
        else:
            self._push(piece)

    def _push(self, piece):
        """Sends a piece. Raises OSError if the client leaves while there is no
        room."""
        poll = select.poll()
        poll.register(self.connection.client, select.POLLRDHUP)
        poll.register(self.to, select.POLLOUT | (
            select.POLLRDHUP if self.to is self.connection.client else 0))
        while piece:
            ready = dict(poll.poll())
            if not ready.get(self.to.fileno(), 0) & select.POLLOUT:
                raise OSError
            piece = piece[self.to.send(piece, socket.MSG_DONTWAIT):]


class Proxy:
    """Listens at a free port, or at a path. `connect` connects to the daemon;
    `protocol` is Distcc, Node, and so on; `host` is the daemon's number."""

    def __init__(self, fault, host, connect, protocol, path=None):
        self.fault, self.host = fault, host
        self.connect, self.protocol = connect, protocol
        self.closed = False
        self.live = set()
        self.lock = threading.Lock()
        self.filling = []
        if path:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(path)
            os.chmod(path, 0o777)
            self.listener.listen(256)
        else:
            self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
            self.port = self.listener.getsockname()[1]
        self.deaf = False
        fault.proxies.append(self)
        relay.thread(self._accept)

    def _accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                break  # it was closed
            if self.deaf:
                self.filling.append(client)
                break
            relay.thread(self._handle, client)

    def _handle(self, client):
        c = Connection(self, client)
        with self.lock:
            self.live.add(c)
        try:
            if self._begin(c):
                c.serve()
        finally:
            c.client.close()
            with self.lock:
                self.live.discard(c)

    def _begin(self, c):
        if self.host is None:
            return True
        self.fault.accepted(c)
        if self.fault.place(c, "connect", None) is not None:
            self.fault.reached_by(c)
            if c.hit and self.fault.case["event"] == "stall":
                try:
                    c.wait_for_client()
                except OSError:
                    return False
        if c.hit and self.fault.case["event"] == "cut":
            return False
        if c.hit and self.fault.case["event"] == "reset":
            reset(c.client)
            return False
        return True

    def connections(self):
        with self.lock:
            return list(self.live)

    def refuse(self):
        """Refuses connections from now on."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def drop(self):
        """Drops the packets of connections from now on: fills the system's
        queue of a listener that doesn't accept."""
        self.deaf = True
        self.listener.listen(0)
        for _ in range(4):
            s = socket.socket(self.listener.family)
            s.setblocking(False)
            s.connect_ex(self.listener.getsockname())
            self.filling.append(s)

    def close(self):
        self.closed = True
        for s in self.filling:
            s.close()
        try:
            self.refuse()
        except OSError:
            pass
        for c in self.connections():
            c.apply("cut")
