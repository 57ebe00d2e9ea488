# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stock distccds on this machine, for as long as a benchmark needs them."""

import os
import subprocess
import sys

import benchlib

FARM = benchlib.ROOT / "test/distcc/Inputs/farm.py"
PLUGIN = benchlib.BUILD / "lib/dtlto/libdtlto_distcc.so"


class Farm:
    """Use with `with`. `environment` is what a link through them needs.

    The tests' farm.py starts and stops them, and runs a command as long as
    they live: here one that waits for the end of a pipe. So they also end if
    we are killed."""

    def __init__(self, count, jobs, options=()):
        """`count` daemons with `jobs` slots each; `options` are farm.py's."""
        # distccd makes its compilers nicer than others, which would be all
        # that one sees on a busy machine.
        self.command = [
            sys.executable, str(FARM), "--jobs", str(jobs), "--limit", "86400",
            "--daemon-arg=--nice", "--daemon-arg=0", *options, str(count),
            "--", "sh", "-c", 'echo "$DISTCC_DIR"; echo "$DISTCC_HOSTS"; cat',
        ]

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )
        folder, hosts = (self.process.stdout.readline().strip() for _ in "ab")
        if not hosts:
            self.process.wait()
            benchlib.fail("distccd doesn't start")
        self.hosts = hosts.split()
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith("DISTCC")
        }
        self.environment.update(
            DISTCC_DIR=folder, DISTCC_HOSTS=hosts, DISTCC_VERBOSE="1"
        )
        return self

    def __exit__(self, *problem):
        self.process.stdin.close()
        if self.process.wait() != 0 and not any(problem):
            benchlib.fail("farm.py failed")
