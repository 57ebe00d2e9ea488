#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command in namespaces of its own, with a name server that never answers:

  unshare -n -m no-dns.py COMMAND...
"""

import socket
import subprocess
import sys
import tempfile

subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
with tempfile.NamedTemporaryFile("w", suffix=".conf") as conf:
    conf.write("nameserver 127.0.0.1\n")
    conf.flush()
    subprocess.run(["mount", "--bind", conf.name, "/etc/resolv.conf"], check=True)
    with socket.socket(type=socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 53))
        sys.exit(subprocess.run(sys.argv[1:], timeout=300).returncode)
