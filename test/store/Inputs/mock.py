#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command with a server that answers each request wrongly, in a way that stock
servers can't be made to.

  mock.py MODE -- COMMAND...

COMMAND gets SERVER, the server's HOST:PORT. The modes for both:

  reset       no answer: the connection is reset after the first bytes of a request

The modes for HTTP:

  endless     a body without a length that never ends
  huge        a Content-Length of 100 GB, and bytes without an end
  headers     headers without an end
  cut         10 of 1000 bytes
  drip        one byte of 1000000 in 50 ms
  garbage     no HTTP
  see-other   303, and 200 for a GET

The modes for Redis:

  bulk        a text of 10 TB, and bytes without an end
  line        an error without an end
  array       an array of 2147483647 elements
  nested      arrays in arrays
  unfinished  10 of 1000 bytes
  drip, garbage  as for HTTP
  two         two replies for each command
  repeats     an error that repeats the command
  escape      an error with control characters
"""

import os
import socket
import struct
import subprocess
import sys
import threading
import time

LIMIT = 300
OK = b"HTTP/1.1 200 OK\r\n"


def forever(data):
    while True:
        yield data


def drip(head):
    yield head
    for _ in range(1000000):
        yield b"x"
        time.sleep(0.05)


def see_other(request):
    if request.startswith(b"PUT"):
        return [b"HTTP/1.1 303 See Other\r\nLocation: /other\r\n"
                b"Content-Length: 0\r\n\r\n"]
    return [OK + b"Content-Length: 0\r\n\r\n"]


def pieces(mode, request):
    """Yields the answer."""
    chunk = b"x" * (1 << 16)
    if mode == "endless":
        yield OK + b"\r\n"
        yield from forever(chunk)
    elif mode == "huge":
        yield OK + b"Content-Length: 100000000000\r\n\r\n"
        yield from forever(chunk)
    elif mode == "headers":
        yield OK
        yield from forever(b"X-Header: " + b"x" * 1000 + b"\r\n")
    elif mode == "cut":
        yield OK + b"Content-Length: 1000\r\n\r\n" + b"x" * 10
    elif mode == "drip":
        is_http = b"HTTP" in request
        yield from drip(OK + b"Content-Length: 1000000\r\n\r\n" if is_http
                        else b"$1000000\r\n")
    elif mode == "garbage":
        yield b"\0\1\2garbage\x1b[31m\r\n\r\n" + chunk
    elif mode == "see-other":
        yield from see_other(request)
    elif mode == "bulk":
        yield b"$10000000000000\r\n"
        yield from forever(chunk)
    elif mode == "line":
        yield b"-ERR "
        yield from forever(chunk)
    elif mode == "array":
        yield b"*2147483647\r\n" + b":1\r\n" * 100
    elif mode == "nested":
        yield b"*1\r\n" * 100
    elif mode == "unfinished":
        yield b"$1000\r\n" + b"x" * 10
    elif mode == "two":
        yield b"+OK\r\n$1\r\nx\r\n"
    elif mode == "repeats":
        yield b"-ERR unknown command with args " + request.replace(b"\r\n", b" ") + b"\r\n"
    elif mode == "escape":
        yield b"-ERR \x1b[31mred\x07\xff\r\n"


def serve(mode, connection):
    try:
        with connection:
            while True:
                request = connection.recv(1 << 16)
                if not request:
                    return
                if mode == "reset":
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                          struct.pack("ii", 1, 0))
                    return
                for piece in pieces(mode, request):
                    connection.sendall(piece)
                if mode in ("cut", "garbage", "unfinished"):
                    return
    except OSError:
        pass  # the client has closed the connection


def accept(mode, listener):
    while True:
        threading.Thread(target=serve, args=(mode, listener.accept()[0]),
                         daemon=True).start()


def main():
    mode, dashes, *command = sys.argv[1:]
    assert dashes == "--" and command
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        threading.Thread(target=accept, args=(mode, listener), daemon=True).start()
        env = dict(os.environ, SERVER="127.0.0.1:%d" % listener.getsockname()[1])
        return subprocess.run(command, env=env, timeout=LIMIT).returncode


if __name__ == "__main__":
    sys.exit(main())
