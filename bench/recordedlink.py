# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What fake-farm and fake-icecream share: a recorded link through a real plugin and
a farm, at the other end of a shaped network, that only answers; and the least time
that it could take."""

import os
import resource
import subprocess
import threading
from pathlib import Path

import benchlib
import recording


def parser(doc):
    parser = benchlib.Parser(doc)
    parser.add_argument("recording", type=Path, nargs="?", metavar="RECORDING",
                        default=benchlib.cache_folder() / "recordings/lld")
    parser.add_number("--hosts", 16, "of the farm")
    parser.add_number("--slots", 6, "of each host")
    parser.add_argument("--gbps", type=float, default=1,
                        help="of the linker's link (default: 1)")
    parser.add_number("--repeat", 3, "links; that with the median efficiency is "
                      "reported")
    parser.add_argument("--watch", action="store_true",
                        help="count the linker's threads and descriptors, which "
                        "takes some CPU time")
    parser.add_linker()
    parser.add_arg("for the linker")
    return parser


def open_recording(options):
    rec = recording.Recording(options.recording)
    if rec.whole or rec.drawn:
        benchlib.fail("parts of modules and drawn ones have no object of their "
                      "own here: record whole modules")
    return rec


def raise_limit():
    """A descriptor for each connection, of the other side as well."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def shape(gbps, near, far, there):
    """The devices at both ends of a cable send no faster than that. `there` leads to
    the far one's network, in front of a command."""
    for prefix, device in ([], near), (there, far):
        # A burst is what an interrupt of a network card is.
        subprocess.run([*prefix, "tc", "qdisc", "add", "dev", device, "root",
                        "tbf", "rate", f"{gbps * 1000:g}mbit",
                        "burst", "256kb", "latency", "1s"], check=True)


class Watch(threading.Thread):
    """The most threads and descriptors that a child of this process has."""

    def __init__(self):
        super().__init__(daemon=True)
        self.threads = self.descriptors = 0
        self.ends = threading.Event()
        self.start()

    def run(self):
        me = str(os.getpid())
        while not self.ends.wait(0.02):
            for status in Path("/proc").glob("[0-9]*/status"):
                try:
                    text = status.read_text()
                    if f"\nPPid:\t{me}\n" not in text or "ld.lld" not in text:
                        continue
                    self.threads = max(self.threads, int(
                        text.split("\nThreads:\t")[1].split()[0]))
                    self.descriptors = max(self.descriptors, len(
                        os.listdir(status.parent / "fd")))
                except (OSError, IndexError):
                    continue


class Link:
    """One link, in which nothing is compiled here. Files of it are in `folder`."""

    def __init__(self, options, rec, plugin, environment, folder):
        words = [
            options.linker, "@link.rsp", *rec.args, "-o", folder / "output",
            f"--time-trace={folder / 'trace'}", "--time-trace-granularity=0",
            f"--thinlto-jobs={os.cpu_count()}", *plugin,
            "--thinlto-dist-fallback=none", "--thinlto-dist-local-jobs=0",
            f"--thinlto-dist-costs={rec.folder / 'costs.txt'}", *options.arg,
        ]
        self.watch = Watch() if options.watch else None
        self.run = benchlib.Run(words, cwd=rec.link, env=environment)
        if self.watch:
            self.watch.ends.set()
            self.watch.join()
        if recording.sha256(folder / "output") != rec.sha256:
            benchlib.fail("the output isn't the recorded link's")
        trace = benchlib.TimeTrace(folder / "trace")
        self.thin = trace.span("ThinLink")[1] - self.run.epoch
        lto = trace.span("LTO")[1] - self.run.epoch
        self.final = self.run.wall - lto

    def compare(self, options, rec, sent):
        """With what it could be, if so many bytes are sent."""
        self.parts = (max(job.cpu_ns for job in rec.jobs) / 1e9,
                      rec.work() / (options.hosts * options.slots),
                      sent / (options.gbps * 125e6))
        self.bound = self.thin + max(self.parts) + self.final
        self.efficiency = self.bound / self.run.wall


def repeat(options, link):
    """The one of several links whose efficiency is the median."""
    links = []
    for number in range(options.repeat):
        one = link()
        links.append(one)
        print(f"  link {number + 1}: {one.run.wall:.2f} s, bound "
              f"{one.bound:.2f} s; load {os.getloadavg()[0]:.2f}", flush=True)
    links.sort(key=lambda one: -one.efficiency)
    return links[(len(links) - 1) // 2]


def report(one, rec, jobs, others):
    """`jobs` is a line about them, `others` what else took CPU time here."""
    longest, work, network_time = one.parts
    print(f"thin link {one.thin:.3f} s, final link {one.final:.3f} s")
    print(f"longest job {longest:.2f} s, work / slots {work:.2f} s, bytes / "
          f"bandwidth {network_time:.2f} s")
    print(jobs)
    print(f"linker: {one.run.cpu:.2f} s of CPU, "
          f"{1e3 * one.run.cpu / len(rec.jobs):.2f} ms a job with thin and final "
          f"link, {one.run.peak:.0f} MiB; {others}")
    if one.watch:
        print(f"at most {one.watch.threads} threads, "
              f"{one.watch.descriptors} descriptors")
    print(f"efficiency: {one.efficiency:.2f} (bound {one.bound:.2f} s, measured "
          f"{one.run.wall:.2f} s)")
