# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py <log> <command>...: runs the command, waits until the log has a
line that begins with `submit`, and sends SIGINT. Succeeds if the command ends
then without success, which it must not do before."""

import signal
import subprocess
import sys
import time

log, command = sys.argv[1], sys.argv[2:]
# Whoever started us in the background had SIGINT ignored.
process = subprocess.Popen(
    command,
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
while True:
    if process.poll() is not None:
        sys.exit("ended by itself, with exit code %d" % process.returncode)
    try:
        with open(log) as f:
            if any(line.startswith("submit") for line in f):
                break
    except FileNotFoundError:
        pass
    time.sleep(0.02)
process.send_signal(signal.SIGINT)
try:
    # Far less than what the plugin would need, far more than the linker does.
    code = process.wait(60)
except subprocess.TimeoutExpired:
    process.kill()
    sys.exit("SIGINT had no effect")
if code == 0:
    sys.exit("exit code 0")
