# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a job costs through a farm over running its compiler directly; distcc-cost
and icecc-cost are this with a farm each."""

import os
import statistics
import time

import benchlib
import modules


def parser(doc):
    parser = benchlib.Parser(doc)
    parser.add_argument(
        "dir", type=benchlib.link_folder, nargs="?", metavar="DIR",
        help="the jobs of this program instead of tiny modules",
    )
    parser.add_number("--runs", 6, "pairs of rounds over all jobs")
    parser.add_linker()
    modules.add_options(parser, 100)
    return parser


class Linker:
    """Links a program again and again, and compares each output with stock LLD's."""

    def __init__(self, options, out):
        self.linker, self.out = options.linker, out
        self.folder = options.dir or modules.folder_of(options)
        self.report = out / "report.json"
        benchlib.Run([benchlib.STOCK, "@link.rsp", "-o", out / "stock"],
                     cwd=self.folder)

    def link(self, plugin, environment, args=()):
        """The attempts (benchlib.attempts) of a link in which `plugin` has each job
        compiled."""
        output = self.out / "a.out"
        benchlib.Run(
            [
                self.linker, "@link.rsp", "-o", output, *args,
                f"--thinlto-dist-plugin={plugin}",
                "--thinlto-dist-fallback=none", "--thinlto-dist-duplicate=0",
                f"--thinlto-dist-report={self.report}",
            ],
            cwd=self.folder, env=environment,
        )
        if output.read_bytes() != (self.out / "stock").read_bytes():
            benchlib.fail("the output differs from stock LLD's")
        attempts = benchlib.attempts(self.report)
        if len(attempts) < 3:
            benchlib.fail("too few jobs")
        if not all(attempt["used"] for attempt in attempts):
            benchlib.fail("a job was done twice")
        return attempts


def seconds_between(attempts):
    """Seconds of each job but the first, by module."""
    if any(attempt["in_linker"] for attempt in attempts):
        benchlib.fail("a job didn't go to the farm")
    return {
        attempt["module"]: attempt["done"] - before["done"]
        for before, attempt in zip(attempts, attempts[1:])
    }


def run_directly(jobs, names):
    """Seconds of each job, by module. `jobs` has a folder to run in, a command line
    and the file that it makes."""
    write = os.O_WRONLY | os.O_CREAT
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "out.log", write, 0o666),
        (os.POSIX_SPAWN_OPEN, 2, "err.log", write, 0o666),
    ]
    seconds = {}
    for name in names:
        folder, command, output = jobs[name]
        os.chdir(folder)
        begin = time.monotonic()
        pid = os.posix_spawn(
            command[0], command, os.environ, file_actions=files
        )
        _, status = os.waitpid(pid, 0)
        seconds[name] = time.monotonic() - begin
        if status != 0 or os.stat(output).st_size == 0:
            benchlib.fail(f"{command[0]} failed in {folder}")
        os.unlink(output)
    os.chdir("/")
    return seconds


def ms(values):
    values = sorted(1000 * v for v in values)
    quarter = len(values) // 4
    return (
        f"median {statistics.median(values):7.2f} ms, "
        f"half of them within {values[quarter]:.2f}..{values[-1 - quarter]:.2f}"
    )


def compare(name, runs, jobs, link):
    """`jobs` directly, and by link(), which returns attempts, in turn. Returns the
    median of the differences, in ms."""
    direct, through, cost = [], [], []
    for number in range(runs):
        times = {}
        for side in ("AB", "BA")[number % 2]:
            times[side] = (run_directly(jobs, jobs) if side == "A"
                           else seconds_between(link()))
        differences = [t - times["A"][n] for n, t in times["B"].items()]
        direct += [times["A"][n] for n in times["B"]]
        through += times["B"].values()
        cost += differences
        print(
            f"  pair {number + 1}: "
            f"{1000 * statistics.median(differences):.2f} ms a job", flush=True,
        )
    print(f"direct:     {ms(direct)}")
    print(f"{name + ':':12}{ms(through)}")
    print(f"difference: {ms(cost)}")
    return 1000 * statistics.median(cost)
