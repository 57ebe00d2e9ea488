# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stock distccds on this machine, for as long as a benchmark needs them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import benchlib

FARM = benchlib.ROOT / "test/distcc/Inputs/farm.py"
PLUGIN = benchlib.BUILD / "lib/dtlto/libdtlto_distcc.so"
MOVED = re.compile(r"sent (\d+) KiB, received (\d+) KiB")


class Farm:
    """Use with `with`. `environment` is what a link through them needs.

    The tests' farm.py starts and stops them, and runs a command as long as
    they live: here one that waits for the end of a pipe. So they also end if
    we are killed."""

    name = "distcc"

    def __init__(self, count, jobs, options=(), wrap=()):
        """`count` daemons with `jobs` slots each; `options` are farm.py's.
        `wrap` are words to put before the command that starts them all."""
        # distccd makes its compilers nicer than others, which would be all
        # that one sees on a busy machine.
        self.command = [
            *wrap, sys.executable, str(FARM), "--jobs", str(jobs),
            "--limit", "86400", "--daemon-arg=--nice", "--daemon-arg=0",
            *options, str(count),
            "--", "sh", "-c", 'echo "$DISTCC_DIR"; echo "$DISTCC_HOSTS"; '
            'echo "$FARM_SESSIONS"; cat',
        ]

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )
        folder, hosts, sessions = (
            self.process.stdout.readline().strip() for _ in range(3)
        )
        if not hosts:
            self.process.wait()
            benchlib.fail("distccd doesn't start")
        self.folder = Path(folder).parent
        self.sessions = {int(session) for session in sessions.split()}
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith("DISTCC")
        }
        self.environment.update(
            DISTCC_DIR=folder, DISTCC_HOSTS=hosts, DISTCC_VERBOSE="1"
        )
        return self

    @staticmethod
    def moved(link=None):
        """Bytes that a link through a farm moved, without any headers, compressed:
        only the plugin's log has them. Nothing without a link."""
        if link is None:
            return {}
        counts = MOVED.search(link.output)
        if not counts:
            sys.stderr.write(link.output[-2000:])
            benchlib.fail("the plugin doesn't tell how much it moved")
        return {what: int(count) * 1024
                for what, count in zip(("sent", "received"), counts.groups())}

    def cpu(self):
        """Seconds of CPU that the daemons and all that they started took so far."""
        return benchlib.cpu_of_sessions(self.sessions)

    def __exit__(self, *problem):
        self.process.stdin.close()
        if self.process.wait() != 0 and not any(problem):
            benchlib.fail("farm.py failed")
