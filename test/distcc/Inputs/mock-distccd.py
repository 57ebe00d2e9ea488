#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server for distcc's protocol 3 that injects the requested faults.

  mock-distccd.py [options] [MODE...]

Listens on a free port at 127.0.0.1, prints the port, and serves until it is
killed. Without a mode, it compiles with a real clang, as a distccd does. Queries
for the compiler's version are answered correctly, unless --probes is given. With
--times=N, only the first N jobs go wrong.

Modes, which can be combined where that makes sense:

  half=N          close after N bytes of the request, but not before the end of
                  its command line
  silent          read the request, never answer
  deaf            don't read after the command line; with --probes, read nothing
  cut=N           close after N bytes of the reply; N < 0: before the last -N
  reset=N         the same, with a reset
  stop=N          stop after N bytes of the reply, and stay connected
  slow=N          one byte at a time for the first N bytes, then the rest
  http            answer as a web server does

  done=TEXT stat=TEXT serr=TEXT sout=TEXT doto=TEXT
                  the 12 bytes of a token, instead of the right ones
  serr-lzo=KIND sout-lzo=KIND doto-lzo=KIND
                  the compressed bytes of a field: `bad` (a copy from before the
                  beginning), `short` (no end), `long` (bytes after the end),
                  `bomb` (3 GiB of zeros), `zeros=N` (N zeros)
  tail=TEXT       bytes after the reply

  status=N        the compiler's wait status; no object unless N is 0
  stderr=TEXT stdout=TEXT
                  the compiler's output
  no-object       an object of 0 bytes
  object=FILE     this object
  other-object    another module's object: that of the previous job
"""

import argparse
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading


# LZO1X, from the public description of the stream (Linux kernel,
# Documentation/staging/lzo.rst).

def lzo_number(value, bits):
    """Encodes a count in `bits` bits of the instruction. If these are 0, zeros
    worth 255 each and a last byte follow. Returns those bytes."""
    value -= (1 << bits) - 1
    zeros = (value - 1) // 255
    return bytes(zeros) + bytes([value - 255 * zeros])


LZO_END = b"\x11\0\0"


def lzo_literals(data):
    """Encodes one run of literals at the beginning of a stream."""
    if len(data) <= 238:
        return bytes([17 + len(data)]) + data
    return b"\0" + lzo_number(len(data) - 3, 4) + data


def lzo_pack(data):
    return lzo_literals(data) + LZO_END if data else b""


def lzo_zeros(count):
    """Encodes `count` zeros, at least 300, in about count / 255 bytes."""
    # 4 literals, then one copy with distance 1: 001LLLLL, and a distance minus
    # one of 0 with no literals after it.
    copied = count - 4
    return (lzo_literals(bytes(4)) + b"\x20" + lzo_number(copied - 2, 5) +
            b"\0\0" + LZO_END)


def lzo_unpack(data):
    if not data:
        return b""
    out = bytearray()
    at = 0

    def byte():
        nonlocal at
        at += 1
        return data[at - 1]

    def number(low, bits):
        if low:
            return low
        low = (1 << bits) - 1
        while True:
            b = byte()
            if b:
                return low + b
            low += 255

    def literals(count):
        nonlocal at
        if at + count > len(data):
            raise ValueError("LZO: literals past the end")
        out.extend(data[at:at + count])
        at += count

    # The number of preceding literals: 0 to 3, or 4 for a long run.
    before = 0
    if data[0] > 17:
        at = 1
        literals(data[0] - 17)
        before = min(data[0] - 17, 4)
    while True:
        op = byte()
        if op >= 64:
            length = (op >> 5) + 1
            distance = (byte() << 3) + (op >> 2 & 7) + 1
            trail = op & 3
        elif op >= 16:
            if op >= 32:
                length = number(op & 31, 5) + 2
                base = 1
            else:
                length = number(op & 7, 3) + 2
                base = 16384 + ((op & 8) << 11)
            low = byte()
            pair = low | byte() << 8
            distance = base + (pair >> 2)
            trail = pair & 3
            if op < 32 and distance == 16384:
                if at != len(data):
                    raise ValueError("LZO: bytes after the end")
                return bytes(out)
        elif before == 0:
            literals(number(op, 4) + 3)
            before = 4
            continue
        else:
            length = 3 if before == 4 else 2
            distance = (byte() << 2) + (op >> 2) + 1
            distance += 2048 if before == 4 else 0
            trail = op & 3
        if distance > len(out):
            raise ValueError("LZO: a copy from before the beginning")
        start = len(out) - distance
        while length:
            part = out[start:start + length]
            out += part
            start += len(part)
            length -= len(part)
        literals(trail)
        before = trail


def lzo_wrong(kind, data):
    if kind == "bad":
        return lzo_literals(b"abcd") + b"\x20\x10\xff\xff" + LZO_END
    if kind == "short":
        return lzo_literals(data or b"abcd")
    if kind == "long":
        return lzo_pack(data or b"abcd") + b"more"
    if kind == "bomb":
        return lzo_zeros(3 << 30)
    if kind.startswith("zeros="):
        return lzo_zeros(int(kind[6:]))
    sys.exit("mock-distccd: no such kind of LZO: " + kind)


# The protocol.

class Closed(Exception):
    pass


class Request:
    """Reads a request up to its command line; rest() reads the remainder."""

    def __init__(self, connection):
        self.connection = connection
        self.got = 0
        self.limit = None  # in bytes, of the whole request
        if self.number("DIST") != 3:
            raise ValueError("not protocol 3")
        self.folder = self.text("CDIR")
        self.argv = [self.text("ARGV") for _ in range(self.number("ARGC"))]
        self.files = []

    def rest(self):
        for _ in range(self.number("NFIL")):
            name = self.text("NAME")
            self.files.append((name, lzo_unpack(self.bytes("FILE"))))

    def read(self, size):
        parts = []
        while size:
            want = min(size, 1 << 20)
            if self.limit is not None:
                want = min(want, self.limit - self.got)
                if want <= 0:
                    raise Closed
            part = self.connection.recv(want)
            if not part:
                raise Closed
            parts.append(part)
            size -= len(part)
            self.got += len(part)
        return b"".join(parts)

    def number(self, name):
        token = self.read(12)
        if not re.fullmatch(name.encode() + rb"[0-9a-f]{8}", token):
            raise ValueError("not %s and a number: %r" % (name, token))
        return int(token[4:], 16)

    def bytes(self, name):
        return self.read(self.number(name))

    def text(self, name):
        return self.bytes(name).decode()

    def is_probe(self):
        return "--version" in self.argv

    def compile(self, clang):
        """Runs the compiler as distccd does, in a new folder that represents /.
        Returns status, stderr, stdout and the object."""
        with tempfile.TemporaryDirectory(prefix="dtlto-mock-") as root:
            for name, data in self.files:
                path = os.path.join(root, name.lstrip("/"))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as f:
                    f.write(data)
            folder = os.path.join(root, self.folder.lstrip("/"))
            os.makedirs(folder, exist_ok=True)
            argv = list(self.argv)
            output = os.path.join(root, "mock-output.o")
            argv[argv.index("-o") + 1] = output
            p = subprocess.run(
                [clang] + argv[1:], cwd=folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            data = b""
            if p.returncode == 0 and os.path.exists(output):
                with open(output, "rb") as f:
                    data = f.read()
            status = p.returncode << 8 if p.returncode >= 0 else -p.returncode
            return status, p.stderr, p.stdout, data


MODES = {"half", "silent", "deaf", "cut", "reset", "stop", "slow", "http",
         "done", "stat", "serr", "sout", "doto", "serr-lzo", "sout-lzo",
         "doto-lzo", "tail", "status", "stderr", "stdout", "no-object",
         "object", "other-object"}


class Server:
    def __init__(self, opts):
        self.opts = opts
        self.modes = {}
        for mode in opts.modes:
            name, _, value = mode.partition("=")
            if name not in MODES:
                sys.exit("mock-distccd: no such mode: " + mode)
            self.modes[name] = value
        self.log = open(opts.log, "a", buffering=1)
        self.lock = threading.Lock()
        self.wrong = 0
        self.last = b""

    def modes_for(self, probe):
        """Returns this connection's faults."""
        if probe and not self.opts.probes:
            return {}
        with self.lock:
            self.wrong += 1
            if self.opts.times and self.wrong > self.opts.times:
                return {}
        return self.modes

    def reply(self, request, modes):
        status, err, out, data = request.compile(self.opts.clang)
        data, self.last = (self.last or data if "other-object" in modes
                           else data), data
        if "status" in modes:
            status = int(modes["status"])
            data = data if not status else b""
        err = modes["stderr"].encode() if "stderr" in modes else err
        out = modes["stdout"].encode() if "stdout" in modes else out
        if "no-object" in modes:
            data = b""
        if "object" in modes:
            with open(modes["object"], "rb") as f:
                data = f.read()

        def number(name, value):
            if name.lower() in modes:
                return modes[name.lower()].encode()
            return b"%s%08x" % (name.encode(), value)

        def packed(name, value):
            kind = modes.get(name.lower() + "-lzo")
            value = lzo_wrong(kind, value) if kind else lzo_pack(value)
            return number(name, len(value)) + value
        return (number("DONE", 3) + number("STAT", status) +
                packed("SERR", err) + packed("SOUT", out) +
                packed("DOTO", data) + modes.get("tail", "").encode())

    def stay(self, connection):
        """Waits until the client disconnects."""
        while connection.recv(1 << 16):
            pass

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if "http" in self.modes:
            connection.recv(1)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n"
                               b"Server: mock\r\nConnection: close\r\n\r\n"
                               b"<html>400 Bad Request</html>\r\n")
            return
        if "deaf" in self.modes and self.opts.probes:
            threading.Event().wait()
        request = Request(connection)
        probe = request.is_probe()
        if not probe:
            self.log.write("job %s\n" % " ".join(request.argv))
        modes = self.modes_for(probe)
        if "deaf" in modes:
            threading.Event().wait()
        if "half" in modes:
            request.limit = int(modes["half"])
        request.rest()
        if "silent" in modes:
            return self.stay(connection)
        reply = self.reply(request, modes)
        for name in "cut", "reset", "stop":
            if name in modes:
                reply = reply[:int(modes[name])]
        slow = int(modes.get("slow", 0))
        for i in range(min(slow, len(reply))):
            connection.sendall(reply[i:i + 1])
        connection.sendall(reply[slow:])
        if "stop" in modes:
            return self.stay(connection)
        if "reset" in modes:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                  struct.pack("ii", 1, 0))

    def handle(self, connection):
        try:
            with connection:
                self.serve(connection)
        except (Closed, OSError) as e:
            self.log.write("closed: %s\n" % e)
        except ValueError as e:
            # The client's mistake; tests check the log for it.
            self.log.write("wrong: %s\n" % e)


def main():
    p = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--log", default=os.devnull,
                   help="a line for each job, and for each that ended badly")
    p.add_argument("--probes", action="store_true",
                   help="questions about the version are answered badly, too")
    p.add_argument("--times", type=int, metavar="N",
                   help="only the first N jobs go wrong")
    p.add_argument("--clang", default=os.environ.get(
        "DTLTO_TEST_CLANG", "/usr/bin/clang-19"))
    p.add_argument("modes", nargs="*", metavar="MODE")
    server = Server(p.parse_args())
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=server.handle, args=(connection,),
                         daemon=True).start()


if __name__ == "__main__":
    main()
