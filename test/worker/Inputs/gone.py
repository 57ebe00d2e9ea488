# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gone.py <file>: checks that none of the process ids in the file is alive.
Ends those that are."""

import os
import signal
import sys

with open(sys.argv[1]) as f:
    pids = [int(line) for line in f]
if not pids:
    sys.exit("gone: there was none")
left = []
for pid in pids:
    try:
        os.kill(pid, signal.SIGKILL)
        left.append(pid)
    except ProcessLookupError:
        pass
if left:
    sys.exit("gone: these were alive: %s" % left)
