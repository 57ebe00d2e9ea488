# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways to link that bench/upstream compares, and one measured link."""

import os
import select
import signal
import subprocess
import tempfile
import time

import benchlib

OURS = benchlib.BUILD / "bin/ld.lld"
WORKER = benchlib.BUILD / "bin/dtlto-codegen"
DISTRIBUTOR = benchlib.ROOT / "bench/distributor"
OUR_DISTRIBUTOR = benchlib.BUILD / "bin/dtlto-distributor"

# As the tables call them.
IN_PROCESS, UPSTREAM, LOCAL, PROCESS, DISTCC, PROGRAM, MAKE = WAYS = [
    "in-process", "upstream", "local", "process", "distcc", "distributor",
    "make"
]
# Stock LLD, which starts our dtlto-distributor: the objects are those of LLD's own
# command lines, so sets of options say nothing new of it.
BESIDE, BESIDE_DISTCC = ["beside-local", "beside-distcc"]
# With the compiler that `process` has, which starts quicker than clang.
PROGRAM_CODEGEN, MAKE_CODEGEN = ["distributor-codegen", "make-codegen"]
MORE_WAYS = [BESIDE, BESIDE_DISTCC, PROGRAM_CODEGEN, MAKE_CODEGEN]
DESCRIPTIONS = {
    IN_PROCESS: "in-process",
    UPSTREAM: "upstream's DTLTO, a local distributor",
    LOCAL: "dtlto, `local`",
    PROCESS: "dtlto, `local`, `mode=process`",
    DISTCC: "dtlto, `distcc`, two distccds here",
    PROGRAM: "dtlto, `distributor`, upstream's one",
    MAKE: "dtlto, `make`",
    PROGRAM_CODEGEN:
        "dtlto, `distributor`, upstream's one, `dtlto-codegen`",
    MAKE_CODEGEN: "dtlto, `make`, `dtlto-codegen`",
    BESIDE: "stock LLD, `dtlto-distributor`, `local`",
    BESIDE_DISTCC: "stock LLD, `dtlto-distributor`, two distccds here",
}


def command(way, jobs, fallback=True, distributor_args=()):
    """The linker, and the options that make it go this way; `jobs` at a time.
    Without `fallback` all of our jobs have to be done by the plugin."""
    shared = [f"--thinlto-jobs={jobs}"]
    if way == IN_PROCESS:
        return [benchlib.STOCK, *shared]
    if way in (UPSTREAM, BESIDE, BESIDE_DISTCC):
        program, given = DISTRIBUTOR, [f"--jobs={jobs}", *distributor_args]
        if way != UPSTREAM:
            program = OUR_DISTRIBUTOR
            plugin = DISTCC if way == BESIDE_DISTCC else LOCAL
            given = [f"--jobs={jobs}", f"--plugin={plugin}"]
            if not fallback:
                given.append("--fallback=none")
            if way == BESIDE_DISTCC:
                given.append("--local-jobs=0")
        return [
            benchlib.STOCK, *shared, f"--thinlto-distributor={program}",
            *[f"--thinlto-distributor-arg={arg}" for arg in given],
            f"--thinlto-remote-compiler={benchlib.CLANG}",
        ]
    name = way.removesuffix("-codegen")
    if name not in (DISTCC, PROGRAM, MAKE):
        name = "local"
    compiler = WORKER if way.endswith("-codegen") else benchlib.CLANG
    ours = [str(OURS), *shared, f"--thinlto-dist-plugin={name}"]
    arguments = {
        "local": ["mode=process"] if way == PROCESS else [],
        PROGRAM: [f"program={DISTRIBUTOR}", f"arg=--jobs={jobs}",
                  f"compiler={compiler}"],
        MAKE: [f"jobs={jobs}", f"compiler={compiler}"],
    }
    ours += [f"--thinlto-dist-plugin-arg={arg}"
             for arg in arguments.get(name, [])]
    if not fallback:
        ours.append("--thinlto-dist-fallback=none")
    return ours


def peak_of(pid):
    """MiB; 0 once it has ended."""
    try:
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0


class Link:
    """One link, with all that it starts: seconds of wall time; seconds of CPU,
    also of the processes that it waited for; MiB at the linker's own peak;
    what it printed. Ended after `limit` seconds: then `code` is None."""

    # Seconds. The kernel keeps the peak, so only a rise in the last moment
    # can be missed.
    POLL = 0.01

    def __init__(self, words, cwd, env, limit):
        with tempfile.TemporaryFile("w+", errors="replace") as text:
            begin = time.monotonic()
            process = subprocess.Popen(
                [str(word) for word in words], cwd=cwd, env=env,
                stdin=subprocess.DEVNULL, stdout=text,
                stderr=subprocess.STDOUT, start_new_session=True,
            )
            try:
                ended = self._watch(process.pid, begin + limit)
                self.wall = time.monotonic() - begin
            finally:
                # Whatever is left of the link, also when it isn't its end.
                self._end_group(process.pid)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            text.seek(0)
            self.output = text.read()
        self.code = process.returncode if ended else None
        self.cpu = usage.ru_utime + usage.ru_stime

    def _watch(self, pid, end):
        """False if it didn't end in time."""
        self.peak = 0
        handle = os.pidfd_open(pid)
        try:
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            while not poll.poll(self.POLL * 1000):
                self.peak = max(self.peak, peak_of(pid))
                if time.monotonic() > end:
                    return False
            return True
        finally:
            os.close(handle)

    @staticmethod
    def _end_group(pid):
        # Its leader is dead or ours to wait for, so the number is its own.
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
