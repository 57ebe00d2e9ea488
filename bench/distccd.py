# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stock distccds on this machine, for the duration of a benchmark."""

import os
import subprocess
import sys

import benchlib

FARM = benchlib.ROOT / "test/distcc/Inputs/farm.py"
PLUGIN = benchlib.BUILD / "lib/dtlto/libdtlto_distcc.so"


class Farm:
    """Use with `with`. `environment` is what a link through the daemons needs.

    The tests' farm.py starts and stops the daemons, and runs a command that ends
    at the end of a pipe. So the daemons also end if this program is killed."""

    def __init__(self, count, jobs):
        """`count` daemons with `jobs` slots each."""
        # By default, distccd lowers the priority of its compilers. On a busy
        # machine, that would dominate the results.
        self.command = [
            sys.executable, FARM, "--jobs", str(jobs), "--limit", "86400",
            "--daemon-arg=--nice", "--daemon-arg=0", str(count), "--", "sh", "-c",
            'echo "$DISTCC_DIR"; echo "$DISTCC_HOSTS"; echo "$FARM_SESSIONS"; cat',
        ]

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        folder, hosts, sessions = (
            self.process.stdout.readline().strip() for _ in range(3)
        )
        if not hosts:
            self.process.wait()
            benchlib.fail("distccd does not start")
        self.sessions = {int(session) for session in sessions.split()}
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith("DISTCC")
        }
        self.environment.update(
            DISTCC_DIR=folder, DISTCC_HOSTS=hosts, DISTCC_VERBOSE="1"
        )
        return self

    def cpu(self):
        """The CPU time in seconds that the daemons and their children have
        taken so far. A process counts once it has ended."""
        ticks = 0
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{int(entry)}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
            except (ValueError, OSError):
                continue  # not a process, or one that has ended
            if int(fields[3]) in self.sessions:
                ticks += sum(int(field) for field in fields[11:15])
        return ticks / os.sysconf("SC_CLK_TCK")

    def __exit__(self, *problem):
        self.process.stdin.close()
        if self.process.wait() != 0 and not any(problem):
            benchlib.fail("farm.py failed")
