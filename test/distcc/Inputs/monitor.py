# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""monitor.py <linker> <args>...: under farm.py, whose daemons' compiles never
end. Runs the link until each daemon compiles. Prints distccmon-text's output
once it shows four compiles, ends the link, and prints the output again."""

import os
import subprocess
import sys
import time

LIMIT = 60


def jobs():
    p = subprocess.run(["distccmon-text"], stdout=subprocess.PIPE, check=True,
                       text=True)
    return [line for line in p.stdout.splitlines() if line.strip()]


process = subprocess.Popen(sys.argv[1:])
end = time.monotonic() + LIMIT
while sum("Compile" in line for line in jobs()) < 4:
    if process.poll() is not None or time.monotonic() > end:
        process.kill()
        sys.exit("it never showed four compiles, but:\n" + "\n".join(jobs()))
    time.sleep(0.05)
print("\n".join(jobs()))
process.terminate()
process.wait()
print("after:")
print("\n".join(jobs()), flush=True)
