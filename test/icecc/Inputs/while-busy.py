# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""while-busy.py <node> <jobs> <command>... -- <link>...: under cluster.py.
Starts the link, whose jobs never end. Once the node has that many jobs, runs
the command and returns its exit code; then ends the link."""

import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import scheduler

LIMIT = 120

at = sys.argv.index("--")
wanted = r" %s \(.* jobs=%s/" % (re.escape(sys.argv[1]), sys.argv[2])
port = scheduler.TextPort()
link = subprocess.Popen(sys.argv[at + 1:], stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
try:
    end = time.monotonic() + LIMIT
    while True:
        lines = port.ask("listcs")
        if any(re.match(wanted, line) for line in lines):
            break
        if link.poll() is not None or time.monotonic() > end:
            sys.exit("while-busy.py: the node never has so many jobs: %s" % lines)
        time.sleep(0.05)
    code = subprocess.run(sys.argv[3:at]).returncode
finally:
    link.kill()
    link.wait()
sys.exit(code)
