# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""freeze-local.py <command>...: under cluster.py; runs the command while the
local daemon is stopped, and returns its exit code."""

import os
import signal
import socket
import struct
import subprocess
import sys

with socket.socket(socket.AF_UNIX) as peer:
    peer.connect(os.environ["ICECC_TEST_SOCKET"])
    daemon, _, _ = struct.unpack("3i", peer.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
os.kill(daemon, signal.SIGSTOP)
try:
    code = subprocess.call(sys.argv[1:])
finally:
    os.kill(daemon, signal.SIGCONT)
sys.exit(code)
