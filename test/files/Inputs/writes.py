# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""writes.py <command>...: runs the command under strace and prints, sorted, all
changes of the file system by it and its children: a line for each path that was
opened for writing, created, removed or renamed. Temporary names of LLVM
(x.tmp1234abc) are shown as x.tmp."""

import os
import re
import subprocess
import sys
import tempfile

CALLS = ("open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,"
         "mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,truncate,mknod,"
         "mknodat,memfd_create")

with tempfile.NamedTemporaryFile("r") as log:
    code = subprocess.call(["strace", "-f", "-y", "-qq", "-o", log.name,
                            "-e", "trace=" + CALLS, "--"] + sys.argv[1:])
    trace = log.read()
if code:
    sys.exit(code)

# If another thread interrupts a call, strace prints it in two pieces.
pending = {}
calls = []
for line in trace.splitlines():
    pid, _, rest = line.partition(" ")
    rest = rest.strip()
    if rest.endswith("<unfinished ...>"):
        pending[pid] = rest[:-len("<unfinished ...>")]
        continue
    resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", rest)
    if resumed:
        rest = pending.pop(pid, "") + resumed.group(1)
    calls.append(rest)

seen = set()
for call in calls:
    m = re.match(r"(\w+)\((.*)\)\s+= (-?\d+|\?)", call)
    if not m or m.group(3) == "-1":
        continue
    name, args = m.group(1), m.group(2)
    if name.startswith("open") and not re.search(r"O_(WRONLY|RDWR|CREAT)",
                                                 args):
        continue
    paths = [os.path.relpath(p) if not p.startswith("/dev/") else p
             for p in re.findall(r'"((?:[^"\\]|\\.)*)"', args)]
    paths = [re.sub(r"\.tmp[0-9a-f]+$", ".tmp", p) for p in paths]
    if paths != ["/dev/null"]:
        seen.add(" ".join([re.sub(r"(at2?|2)$", "", name)] + paths))
print("\n".join(sorted(seen)))
