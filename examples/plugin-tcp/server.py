#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A build server: compiles jobs that come over TCP, for plugin.cpp.

    server.py PORT CLANG SLOTS      PORT 0: any; prints the address

A message is a list of byte strings: their number, then the size and the bytes of
each one. Numbers have 16 decimal digits. On a connection,

    the server sends    the compiler's --version; SLOTS
    the client sends    the arguments of the command
    the client sends    the path of the output; the path and the bytes of each input
    the server sends    the exit code; standard error; the object

A client that hangs up cancels its job. Each client can run the compiler, so use this
server in a network of your own.
"""
import pathlib
import select
import socketserver
import subprocess
import sys
import tempfile
import threading

MAX_SIZE = 1 << 31


def is_clean(path):  # stays in the job's folder
    return not {"", ".", ".."} & set(path.split("/"))


class Handler(socketserver.StreamRequestHandler):
    def read(self, size):
        data = self.rfile.read(size) if size <= MAX_SIZE else b""
        if len(data) != size:
            raise ConnectionError("a message is too long or was cut off")
        return data

    def receive(self):
        return [self.read(int(self.read(16))) for _ in range(int(self.read(16)))]

    def send(self, items):
        self.wfile.write(b"%016d" % len(items))
        for item in items:
            self.wfile.write(b"%016d" % len(item) + item)

    def compile(self, args, output, files, folder):
        for path, data in [(output, None)] + files:
            if not is_clean(path):
                return [b"126", b"a path outside of the job's folder", b""]
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            if data is not None:
                (folder / path).write_bytes(data)
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [self.server.clang] + args[1:], cwd=folder, stdin=subprocess.DEVNULL,
                stdout=errors, stderr=errors)
            while process.poll() is None:
                if select.select([self.connection], [], [], 0.02)[0]:
                    process.kill()  # the client has hung up
            errors.seek(0)
            text = errors.read()
        code, made = process.wait(), folder / output
        return [b"%d" % (code if code >= 0 else 128 - code), text,
                made.read_bytes() if made.is_file() else b""]

    def handle(self):
        try:
            self.send([self.server.version, b"%d" % self.server.slots])
            args, (output, *rest) = self.receive(), self.receive()
            files = [(path.decode(), data) for path, data in zip(rest[::2], rest[1::2])]
            with self.server.free, tempfile.TemporaryDirectory() as folder:
                self.send(self.compile(args, output.decode(), files,
                                       pathlib.Path(folder)))
        except ConnectionError:
            pass  # the client has ended


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 100


with Server(("127.0.0.1", int(sys.argv[1])), Handler) as server:
    server.clang, server.slots = sys.argv[2], int(sys.argv[3])
    server.version = subprocess.check_output([server.clang, "--version"])
    server.free = threading.Semaphore(server.slots)
    print("127.0.0.1:%d" % server.server_address[1], flush=True)
    server.serve_forever()
