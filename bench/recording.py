# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A recording: the times and objects of a link's jobs, in a folder.

  jobs             a line for each job; replay-plugin/Recording.h has the format
  objects          the jobs' objects, one after another
  recording.json   the link: its folder (where link.rsp is), the linker's
                   further arguments, the SHA-256 of the output, and the times of
                   the same link's jobs without parts of modules"""

import hashlib
import json
from pathlib import Path

import benchlib

VERSION = 2
COUNTS = ["cpu_ns", "primary", "offset", "size"]


class Job:
    """A line of `jobs`. The name stays encoded as in the file."""

    def __init__(self, line):
        words = line.split(" ", len(COUNTS) + 2)
        if len(words) != len(COUNTS) + 3:
            benchlib.fail(f"bad line '{line[:80]}'")
        for key, word in zip(COUNTS, words):
            setattr(self, key, int(word))
        self.digest, self.path, self.name = words[len(COUNTS):]

    def line(self):
        counts = [str(getattr(self, key)) for key in COUNTS]
        return " ".join([*counts, self.digest, self.path, self.name])


def read_jobs(folder):
    lines = (folder / "jobs").read_text().split("\n")
    return [Job(line) for line in lines[2:] if line]


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class Recording:
    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        about = self.folder / "recording.json"
        if not about.exists():
            benchlib.fail(f"no {about}: make it with bench/record")
        about = json.loads(about.read_text())
        if about["version"] != VERSION:
            benchlib.fail(f"{folder} has another format: record it again")
        self.link = Path(about["link"])
        self.name, self.args = about["name"], about["args"]
        self.sha256, self.whole = about["sha256"], about["whole"]
        self.jobs = read_jobs(self.folder)
        if not (self.link / "link.rsp").exists():
            benchlib.fail(f"no {self.link / 'link.rsp'}, which was recorded")

    @classmethod
    def write(cls, folder, jobs, objects, **about):
        """Makes a recording; `about` is the contents of recording.json."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "objects").write_bytes(objects)
        (folder / "jobs").write_text(
            f"dtlto-recording {VERSION}\njobs {len(jobs)}\n"
            + "".join(job.line() + "\n" for job in jobs))
        # Last: this file marks the folder as complete.
        (folder / "recording.json").write_text(
            json.dumps({"version": VERSION, **about}, indent=2) + "\n")
        return cls(folder)

    def work(self):
        """The CPU time of all jobs, in seconds."""
        return sum(job.cpu_ns for job in self.jobs) / 1e9

    def longest(self):
        return max((job.cpu_ns for job in self.jobs), default=0) / 1e9

    def alone(self, slots):
        """The seconds of one machine that does everything, without parts of
        modules."""
        times = self.whole or [job.cpu_ns for job in self.jobs]
        return max(max(times, default=0), sum(times) / slots) / 1e9

    def describe(self):
        size = sum(job.primary for job in self.jobs) / 1e6
        return (f"{self.name}: {len(self.jobs)} jobs, {self.work():.1f} s of CPU, "
                f"the longest {self.longest():.2f} s; {size:.0f} MB of modules")


def plugin(name):
    return benchlib.built(benchlib.BUILD / f"bench/libdtlto_{name}.so").resolve()


def add_options(parser, repeat=None):
    """Adds RECORDING, which a script links `repeat` times, if given; and the path of
    the linker."""
    if repeat:
        parser.add_argument(
            "recording", type=Path, nargs="?", metavar="RECORDING",
            default=benchlib.cache_folder() / "recordings/lld",
            help="of bench/record (default: recordings/lld in the cache)",
        )
        parser.add_number("--repeat", repeat, "links; the one in the middle is "
                          "reported")
    parser.add_linker()
