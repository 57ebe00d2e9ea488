#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""silent.py [--end=SIGNAL] COMMAND...

Runs COMMAND with $HOME in a file system whose server is stopped, so that it
doesn't answer. HOME in an argument is replaced by its path. With --end, sends
the command SIGNAL after a second. Exits as the command does, or with 99 if that
hasn't ended within 30 s."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

args = sys.argv[1:]
end = None
if args[0].startswith("--end="):
    end = getattr(signal, args.pop(0)[len("--end="):])
top = tempfile.mkdtemp()
home = os.path.join(top, "home")
os.makedirs(os.path.join(top, "real"))
os.makedirs(home)
server = subprocess.Popen(["bindfs", "-f", os.path.join(top, "real"), home],
                          stdin=subprocess.DEVNULL, start_new_session=True)
try:
    for _ in range(600):
        if os.path.ismount(home):
            break
        time.sleep(0.05)
    else:
        sys.exit(98)
    os.kill(server.pid, signal.SIGSTOP)
    environment = dict(os.environ, HOME=home)
    environment.pop("XDG_CACHE_HOME", None)
    command = subprocess.Popen([a.replace("HOME", home) for a in args],
                               env=environment)
    try:
        if end:
            try:
                command.wait(timeout=1)
            except subprocess.TimeoutExpired:
                command.send_signal(end)
        code = command.wait(timeout=30)
    except subprocess.TimeoutExpired:
        command.kill()
        code = 99
finally:
    os.kill(server.pid, signal.SIGCONT)
    command = None
    subprocess.run(["fusermount", "-u", "-z", home], stderr=subprocess.DEVNULL)
    server.terminate()
    server.wait()
    shutil.rmtree(top, ignore_errors=True)
sys.exit(128 - code if code < 0 else code)
