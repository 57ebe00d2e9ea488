# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""serve.py SERVER CLANG SLOTS COMMAND...

Runs the command next to the example's server. {address} in it becomes the server's
address."""
import subprocess
import sys

server, clang, slots, *command = sys.argv[1:]
with subprocess.Popen([sys.executable, server, "0", clang, slots],
                      stdout=subprocess.PIPE, text=True) as process:
    try:
        address = process.stdout.readline().strip()
        sys.exit(subprocess.call([arg.replace("{address}", address)
                                  for arg in command]))
    finally:
        process.kill()
