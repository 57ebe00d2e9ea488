# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jobserver.py [--pipe] N command...: runs the command like `make` with N
additional tokens, and exits as it does. Prints the number of tokens
afterwards."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile

# If we were started in the background, or with nohup, these are ignored.
for which in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
    signal.signal(which, signal.SIG_DFL)
args = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    if args[0] == "--pipe":
        del args[0]
        read, write = os.pipe()
        auth = "%d,%d" % (read, write)
    else:
        path = os.path.join(folder, "fifo")
        os.mkfifo(path)
        read = write = os.open(path, os.O_RDWR)
        auth = "fifo:" + path
    number = int(args[0])
    # Each token is a different byte, so that a wrong one is detected.
    tokens = bytes(range(ord("a"), ord("a") + number))
    os.write(write, tokens)
    status = subprocess.run(
        args[1:], pass_fds=(read, write),
        env=dict(os.environ, MAKEFLAGS="k -j%d --jobserver-auth=%s" %
                 (number + 1, auth))).returncode
    fcntl.fcntl(read, fcntl.F_SETFL, os.O_NONBLOCK)
    try:
        left = os.read(read, 100)
    except BlockingIOError:
        left = b""
    print("tokens: %d of %d%s" % (
        len(left), number, "" if sorted(left) == sorted(tokens) else ", not the same"))
    sys.exit(status if status >= 0 else 128 - status)
