# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""limited.py MEGABYTES command...: runs the command in a control group with
this memory limit and no swap. Exits as it does, with 137 if it was killed, or
with 125 if the group can't be created. Needs the right to create a group below
that of this process or of one above it."""

import os
import subprocess
import sys
import time

ROOT = "/sys/fs/cgroup"


def candidates():
    """Yields folders of groups, nearest first, and for each the limit files,
    with whether each is required."""
    with open("/proc/self/cgroup") as f:
        lines = f.read().splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            root = ROOT + "/memory"
            files = (("memory.limit_in_bytes", True), ("memory.memsw.limit_in_bytes", False))
        elif not controllers:
            root = ROOT
            files = (("memory.max", True), ("memory.swap.max", False))
        else:
            continue
        while True:
            yield root + path, files
            if path in ("", "/"):
                break
            path = os.path.dirname(path)


def make_group(limit):
    for parent, files in candidates():
        group = os.path.join(parent, "dtlto-test-%d" % os.getpid())
        try:
            os.mkdir(group)
        except OSError:
            continue
        try:
            for name, is_needed in files:
                path = os.path.join(group, name)
                if is_needed or os.path.exists(path):
                    # The file system refuses O_CREAT.
                    with open(path, "r+") as f:
                        f.write("0" if name == "memory.swap.max" else str(limit))
            return group
        except OSError:
            os.rmdir(group)
    return None


def main():
    group = make_group(int(sys.argv[1]) << 20)
    if not group:
        return 125

    def enter():
        with open(os.path.join(group, "cgroup.procs"), "w") as f:
            f.write(str(os.getpid()))

    try:
        status = subprocess.run(sys.argv[2:], preexec_fn=enter).returncode
    finally:
        for _ in range(100):
            try:
                os.rmdir(group)
                break
            except OSError:  # some of its processes still exist
                time.sleep(0.05)
    return status if status >= 0 else 128 - status


sys.exit(main())
