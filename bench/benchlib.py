# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the benchmarks share: where the tools are, one measured run of a
command, and a comparison of two commands that is fair on a noisy machine."""

import argparse
import filecmp
import json
import os
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LLVM_VERSION = os.environ.get("DTLTO_LLVM_VERSION", "19")
LLVM = Path(os.environ.get("DTLTO_LLVM", f"/usr/lib/llvm-{LLVM_VERSION}"))
BUILD = Path(os.environ.get("DTLTO_BUILD", ROOT / "build"))
STOCK = str(LLVM / "bin/ld.lld")
CLANG = str(LLVM / "bin/clang")


# So that what is under way is ended and temporary files go.
for number in signal.SIGINT, signal.SIGTERM:
    signal.signal(number, lambda number, frame: sys.exit(128 + number))


def cache_folder():
    """Where prepared inputs live when no folder is named."""
    given = os.environ.get("DTLTO_BENCH_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dtlto" / "bench"


def fail(message):
    sys.exit(f"{Path(sys.argv[0]).name}: {message}")


def at_least(least):
    """An argparse type: a whole number."""
    def parse(text):
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"'{text}' is not {least} or more")
        return number
    parse.__name__ = "whole number"
    return parse


positive = at_least(1)


def link_folder(text):
    """An argparse type: a folder with a link that was prepared."""
    folder = Path(text).resolve()
    if not (folder / "link.rsp").exists():
        raise argparse.ArgumentTypeError(
            f"no {folder / 'link.rsp'}: see bench/README.md"
        )
    return folder


def program(text):
    """An argparse type: a program or plugin that was built."""
    if not Path(text).exists():
        raise argparse.ArgumentTypeError(f"no {text}: build it")
    return text


class Parser(argparse.ArgumentParser):
    """With the options that several scripts have."""

    def __init__(self, doc, **more):
        super().__init__(
            description=doc, **more,
            formatter_class=argparse.RawTextHelpFormatter,
        )

    def add_folder(self, name, metavar="DIR"):
        """A program that was prepared, by default the one called `name`."""
        self.add_argument(
            "dir", type=link_folder, nargs="?", metavar=metavar,
            default=str(cache_folder() / name),
            help="what prepare-lld and the like made, or any folder with a "
            f"link.rsp\n(default: {name} in the cache)",
        )

    def add_number(self, name, default, text, least=1):
        self.add_argument(
            name, type=at_least(least), default=default, metavar="N",
            help=f"{text} (default: {default})",
        )

    def add_jobs(self, text="--thinlto-jobs of all links"):
        self.add_argument(
            "--jobs", type=positive, default=os.cpu_count(), metavar="N",
            help=f"{text} (default: the number of cores)",
        )

    def add_linker(self):
        self.add_argument(
            "--linker", type=program, default=str(BUILD / "bin/ld.lld"),
            metavar="PATH", help="ours, if it isn't that of build/",
        )

    def add_plugin(self, name):
        self.add_argument(
            "--plugin", default=name, metavar="NAME",
            help=f"its name or path (default: {name})",
        )

    def add_arg(self, text="for --linker only"):
        self.add_argument(
            "--arg", action="append", default=[], metavar="ARG",
            help=f"one more argument, {text}; repeatable",
        )


def spread(values, digits=2):
    """The median, and from where to where."""
    values = list(values)
    return (
        f"{statistics.median(values):.{digits}f} "
        f"({min(values):.{digits}f}..{max(values):.{digits}f})"
    )


def cpu_of_sessions(sessions):
    """Seconds of CPU that all processes of these sessions, and those that they waited
    for, took so far. So a process's count once it has ended."""
    ticks = 0
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{int(entry)}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except (ValueError, OSError):
            continue  # no process, or one that has ended
        if int(fields[3]) in sessions:
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


class TimeTrace:
    """LLD's --time-trace of a link. Times are seconds since the epoch."""

    def __init__(self, path):
        trace = json.loads(path.read_text())
        self.path, self.zero = path, trace["beginningOfTime"]
        self.spans = [event for event in trace["traceEvents"]
                      if event.get("ph") == "X"]

    def find(self, name):
        """Begin and end of all that is called `name`. Nothing, if it was shorter than
        --time-trace-granularity."""
        found = [event for event in self.spans if event["name"] == name]
        return found and (
            (self.zero + min(event["ts"] for event in found)) / 1e6,
            (self.zero + max(event["ts"] + event["dur"] for event in found)) / 1e6,
        )

    def span(self, name):
        """As find(), where there has to be one."""
        return self.find(name) or fail(
            f"no '{name}' in {self.path}: too short for its granularity")


class Run:
    """One run of a command: seconds of wall time and of CPU, MiB at the peak,
    and what it wrote to stdout and stderr. `begin` is of time.monotonic(),
    `epoch` the same moment of time.time(). `watch` is called with the process
    id once it runs."""

    def __init__(self, command, cwd=None, env=None, watch=None):
        with tempfile.TemporaryFile("w+") as text:
            self.begin, self.epoch = time.monotonic(), time.time()
            try:
                process = subprocess.Popen(
                    [str(word) for word in command], cwd=cwd, env=env,
                    stdin=subprocess.DEVNULL, stdout=text,
                    stderr=subprocess.STDOUT,
                )
            except OSError as problem:
                fail(f"can't run {command[0]}: {problem.strerror} (LLVM is "
                     f"{LLVM}; DTLTO_LLVM_VERSION=N chooses another)")
            try:
                if watch:
                    watch(process.pid)
                _, status, usage = os.wait4(process.pid, 0)
            except BaseException:
                process.kill()
                raise
            self.wall = time.monotonic() - self.begin
            process.returncode = os.waitstatus_to_exitcode(status)
            text.seek(0)
            self.output = text.read()
        self.user = usage.ru_utime
        self.cpu = self.user + usage.ru_stime
        self.peak = usage.ru_maxrss / 1024
        if process.returncode != 0:
            sys.stderr.write(self.output[-4000:])
            fail(
                f"'{shlex.join(str(word) for word in command)[:200]}' "
                f"ended with {process.returncode}"
            )


def warm_up(folder, commands):
    """Brings inputs and linkers into the page cache: no link is the first."""
    for file in folder.rglob("*"):
        if file.is_file():
            file.read_bytes()
    for command in commands:
        Run([command[0], "--version"])


class Comparison:
    """Runs of two link commands, made in turn. A slow minute of the machine
    then slows both halves of a pair, and the ratios are taken pair by pair."""

    MEASURES = [("wall", "s", 2), ("peak", "MiB", 0), ("cpu", "s", 2)]

    def __init__(self, names, commands, folder, runs, check=None, env=None):
        """`check` is called with an output of the first command. `env` is the
        second's environment (default: ours, as the first's)."""
        self.names = names
        self.pairs = []
        self.identical = True
        warm_up(folder, commands)
        with tempfile.TemporaryDirectory(dir=folder) as out:
            outputs = [Path(out) / "a.out", Path(out) / "b.out"]
            for number in range(1, runs + 1):
                pair = [None, None]
                # A B, B A, A B, ...: neither is always the second one.
                for side in (0, 1) if number % 2 else (1, 0):
                    # Replacing a big file takes time of its own.
                    outputs[side].unlink(missing_ok=True)
                    pair[side] = Run(
                        [*commands[side], "-o", outputs[side]], cwd=folder,
                        env=env if side else None,
                    )
                same = filecmp.cmp(*outputs, shallow=False)
                self.identical = self.identical and same
                if check and number == 1:
                    check(outputs[0])
                self.pairs.append(pair)
                print(
                    f"  pair {number}: {pair[0].wall:.2f} s, "
                    f"{pair[1].wall:.2f} s",
                    flush=True,
                )
            self.bytes = outputs[0].stat().st_size

    def ratio(self, measure):
        return statistics.median(
            getattr(b, measure) / getattr(a, measure) for a, b in self.pairs
        )

    def report(self, goals):
        """Prints the medians (and the range), the median of the ratios, and
        the goals: a dict from a measure to the highest ratio wanted."""
        print(f"{'':10}" + "".join(
            f"{f'{name}, {unit}':>28}" for name, unit, _ in self.MEASURES
        ))
        for side, name in enumerate(self.names):
            line = f"{name:10}"
            for measure, _, digits in self.MEASURES:
                values = [getattr(pair[side], measure) for pair in self.pairs]
                line += spread(values, digits).rjust(28)
            print(line)
        line = f"{'ratio':10}"
        for measure, _, _ in self.MEASURES:
            text = f"{self.ratio(measure):.3f}"
            if measure in goals:
                goal = goals[measure]
                over = ": over" if self.ratio(measure) > goal else ""
                text += f" (goal {goal:.2f}{over})"
            line += text.rjust(28)
        print(line)
        print(
            f"outputs: {'identical' if self.identical else 'DIFFERENT'}, "
            f"{self.bytes} bytes"
        )


def add_compare_options(parser, runs):
    """The options of a benchmark that compares two linkers."""
    parser.add_number("--runs", runs, "pairs of measured links")
    parser.add_jobs("--thinlto-jobs of both")
    parser.add_linker()
    parser.add_argument(
        "--plugin", default="local", metavar="NAME",
        help="its plugin (default: local); 'none' for a plain link, which "
        "tells how noisy\nthe machine is",
    )
    parser.add_arg()


def compare(options, folder, **more):
    """Compares the links of folder/link.rsp; returns the exit code. The ratios
    wanted are those of the project: a link through the local plugin costs next
    to nothing more."""
    shared = ["@link.rsp", f"--thinlto-jobs={options.jobs}"]
    ours = [options.linker, *shared, *options.arg]
    name = "plain"
    if options.plugin != "none":
        ours.append(f"--thinlto-dist-plugin={options.plugin}")
        name = Path(options.plugin).stem
    comparison = Comparison(
        ["stock", name], [[STOCK, *shared], ours], folder, options.runs, **more
    )
    comparison.report({"wall": 1.02, "peak": 1.05})
    return 0 if comparison.identical else 1
