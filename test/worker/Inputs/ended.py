# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ended.py TERM|INT|HUP|reader <dtlto-codegen> <job>: ends a worker during a job with
warnings and temporary files, by that signal or by closing its output, and fails if a
file is left.

The worker's standard error is a pipe without room, so it blocks at its first warning.
Without --frame, since warnings would otherwise be in the frame.
"""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time

how, codegen, job = sys.argv[1:]
reader, writer = os.pipe()
flags = fcntl.fcntl(writer, fcntl.F_GETFL)
fcntl.fcntl(writer, fcntl.F_SETFL, flags | os.O_NONBLOCK)
for size in 4096, 1:
    try:
        while True:
            os.write(writer, b"x" * size)
    except BlockingIOError:
        pass
fcntl.fcntl(writer, fcntl.F_SETFL, flags)

with tempfile.TemporaryDirectory() as folder:
    p = subprocess.Popen([codegen, job, "-o", "-"], stderr=writer,
                         stdout=subprocess.PIPE,
                         env=dict(os.environ, TMPDIR=folder),
                         # The tests' parent process may ignore these.
                         preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL)
                                             for s in (signal.SIGHUP,
                                                       signal.SIGINT)])
    end = time.monotonic() + 60
    while not os.listdir(folder):
        if p.poll() is not None or time.monotonic() > end:
            sys.exit("ended: the worker has made no temporary file")
        time.sleep(0.01)
    if how == "reader":
        p.stdout.close()
        expected = 1
    else:
        p.send_signal(getattr(signal, "SIG" + how))
        expected = -getattr(signal, "SIG" + how)
    code = p.wait(60)
    left = os.listdir(folder)
    if code != expected or left:
        sys.exit("ended: exit code %d, left: %s" % (code, left))
