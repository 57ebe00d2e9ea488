# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The common code of the benchmarks: the paths of the tools, one measured run
of a command, and a fair comparison of two commands on a noisy machine."""

import argparse
import filecmp
import json
import os
import re
import select
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("DTLTO_BUILD", ROOT / "build"))


def llvm_version():
    """LLVM's major version: the one that is asked for, or BUILD's."""
    given = os.environ.get("DTLTO_LLVM_VERSION")
    cache = BUILD / "CMakeCache.txt"
    if not given and cache.exists():
        given = re.search(r"^DTLTO_LLVM_VERSION:\w+=(\d+)", cache.read_text(), re.M)
        given = given and given[1]
    return given or "22"


LLVM_VERSION = llvm_version()
LLVM = Path(os.environ.get("DTLTO_LLVM", f"/usr/lib/llvm-{LLVM_VERSION}"))
STOCK = str(LLVM / "bin/ld.lld")
CLANG = str(LLVM / "bin/clang")


# So that child processes end and temporary files are removed.
for number in signal.SIGINT, signal.SIGTERM:
    signal.signal(number, lambda number, frame: sys.exit(128 + number))


def cache_folder():
    """The folder of prepared inputs, unless one is given."""
    given = os.environ.get("DTLTO_BENCH_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dtlto" / "bench"


def fail(message):
    sys.exit(f"{Path(sys.argv[0]).name}: {message}")


def at_least(least):
    """An argparse type: a whole number of at least `least`."""
    def parse(text):
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"'{text}' is not {least} or more")
        return number
    parse.__name__ = "whole number"
    return parse


def link_folder(text):
    """An argparse type: a folder with a prepared link."""
    folder = Path(text).resolve()
    if not (folder / "link.rsp").exists():
        fail(f"no {folder / 'link.rsp'}: see bench/README.md")
    return folder


def built(path):
    """An argparse type: a program or plugin that must have been built."""
    if not Path(path).exists():
        fail(f"no {path}: build it")
    return path


class Parser(argparse.ArgumentParser):
    """A parser with the options that several scripts have."""

    def __init__(self, doc, **more):
        super().__init__(
            description=doc, **more,
            formatter_class=argparse.RawTextHelpFormatter,
        )

    def add_folder(self, name, default=None):
        """Adds the argument for a prepared program, by default the one called
        `name`. If that is empty, the script has the `default` that it describes."""
        self.add_argument(
            "dir", type=link_folder, nargs="?", metavar="DIR",
            default=str(cache_folder() / name) if name else None,
            help="what prepare-lld and the like made, or any folder with a "
            f"link.rsp\n(default: {default or name + ' in the cache'})",
        )

    def add_value(self, name, default, text, type=float, metavar="X"):
        if default is not None:
            text += f" (default: {default})"
        self.add_argument(name, type=type, default=default, metavar=metavar,
                          help=text)

    def add_number(self, name, default, text, least=1):
        self.add_value(name, default, text, at_least(least), "N")

    def add_flag(self, name, text):
        self.add_argument(name, action="store_true", help=text)

    def add_list(self, name, metavar, text):
        self.add_argument(name, action="append", default=[], metavar=metavar,
                          help=f"{text}; repeatable")

    def add_jobs(self, text="--thinlto-jobs of all links"):
        self.add_number("--jobs", os.cpu_count(), text)

    def add_linker(self):
        self.add_value("--linker", str(BUILD / "bin/ld.lld"), "our linker",
                       built, "PATH")


def spread(values, digits=2):
    """The median and the range."""
    values = list(values)
    return (
        f"{statistics.median(values):.{digits}f} "
        f"({min(values):.{digits}f}..{max(values):.{digits}f})"
    )


def trace_span(path, name):
    """The begin and end of all events called `name` in LLD's --time-trace, in
    seconds since the epoch. None if they were shorter than
    --time-trace-granularity."""
    trace = json.loads(path.read_text())
    zero = trace["beginningOfTime"]
    spans = [(zero + event["ts"], zero + event["ts"] + event["dur"])
             for event in trace["traceEvents"]
             if event.get("ph") == "X" and event["name"] == name]
    return spans and (min(begin for begin, _ in spans) / 1e6,
                      max(end for _, end in spans) / 1e6) or None


def peak_of(pid):
    """The peak memory of a process in MiB; 0 once it has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    at = text.find("VmHWM:")
    return int(text[at:].split(maxsplit=2)[1]) / 1024 if at >= 0 else 0


class Run:
    """One run of a command: seconds of wall time; seconds of CPU, including processes
    that it waited for; MiB at the peak; its output (stdout and stderr). `begin` is the
    start in time.monotonic(), `epoch` the same moment in time.time().

    With a `limit` in seconds, the peak is the process's own, without its children,
    and the run may fail: `code` is the exit code, or None if it timed out."""

    def __init__(self, command, cwd=None, env=None, limit=None):
        with tempfile.TemporaryFile("w+", errors="replace") as text:
            self.begin, self.epoch = time.monotonic(), time.time()
            try:
                process = subprocess.Popen(
                    [str(word) for word in command], cwd=cwd, env=env,
                    stdin=subprocess.DEVNULL, stdout=text,
                    stderr=subprocess.STDOUT, start_new_session=True,
                )
            except OSError as problem:
                fail(f"cannot run {command[0]}: {problem.strerror} (LLVM is "
                     f"{LLVM}; DTLTO_LLVM_VERSION=N chooses another)")
            own_peak, ended = 0, False
            try:
                handle = os.pidfd_open(process.pid)
                poll = select.poll()
                poll.register(handle, select.POLLIN)
                # The kernel keeps the peak, so only a rise in the last
                # hundredth of a second can be missed.
                while not (ended := poll.poll(10 if limit else None)):
                    own_peak = max(own_peak, peak_of(process.pid))
                    if time.monotonic() > self.begin + limit:
                        break
                os.close(handle)
                self.wall = time.monotonic() - self.begin
            finally:
                # Kill the whole group. The process id can't be reused before
                # the wait.
                os.killpg(process.pid, signal.SIGKILL)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            text.seek(0)
            self.output = text.read()
        self.code = process.returncode if ended else None
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak = own_peak if limit else usage.ru_maxrss / 1024
        if self.code != 0 and not limit:
            sys.stderr.write(self.output[-4000:])
            fail(f"'{shlex.join(str(word) for word in command)[:200]}' ended with "
                 f"{self.code}")


def warm_up(folder, commands):
    """Reads inputs and linkers into the page cache, so that the first link
    isn't slower."""
    for file in folder.rglob("*"):
        if file.is_file():
            file.read_bytes()
    for command in commands:
        Run([command[0], "--version"])


class Comparison:
    """Runs of two link commands in turn. A slow minute of the machine then
    slows both halves of a pair, and the ratios are taken pair by pair."""

    def __init__(self, commands, folder, runs, check=None, env=None):
        """`check` is called after each pair, with the output of the first command.
        `env` is the environment of the second command (default: the same as the
        first's)."""
        self.pairs = []
        self.identical = True
        warm_up(folder, commands)
        with tempfile.TemporaryDirectory(dir=folder) as out:
            outputs = [Path(out) / "a.out", Path(out) / "b.out"]
            for number in range(1, runs + 1):
                pair = [None, None]
                # A B, B A, A B, ...: so that neither command is always second.
                for side in (0, 1) if number % 2 else (1, 0):
                    # Replacing a big file takes extra time.
                    outputs[side].unlink(missing_ok=True)
                    pair[side] = Run(
                        [*commands[side], "-o", outputs[side]], cwd=folder,
                        env=env if side else None,
                    )
                same = filecmp.cmp(*outputs, shallow=False)
                self.identical = self.identical and same
                if check:
                    check(outputs[0])
                self.pairs.append(pair)
                print(f"  pair {number}: {pair[0].wall:.2f} s, "
                      f"{pair[1].wall:.2f} s", flush=True)
            self.bytes = outputs[0].stat().st_size

    def ratio(self, measure):
        return statistics.median(
            getattr(b, measure) / getattr(a, measure) for a, b in self.pairs
        )
