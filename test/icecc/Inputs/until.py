# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""until.py <regex> <command>...: runs the command until a line of its output
matches, prints that line, and ends the command. Fails if the command ends
before that."""

import re
import signal
import subprocess
import sys

LIMIT = 120

# A timeout raises an exception.
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.alarm(LIMIT)
process = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
seen = []
try:
    for line in process.stdout:
        if re.search(sys.argv[1], line):
            print(line, end="")
            sys.exit(0)
        seen.append(line)
    sys.exit("it ended, and said only:\n" + "".join(seen))
except KeyboardInterrupt:
    sys.exit("after %d s it had said only:\n%s" % (LIMIT, "".join(seen)))
finally:
    process.terminate()
    process.wait()
