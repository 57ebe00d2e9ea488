# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A recording: what each job of a link takes, in a folder.

  jobs             a line for each job; replay-plugin/Recording.h has the format
  objects          the jobs' objects, one after another
  recording.json   the link: its folder (where link.rsp is), the linker's
                   further arguments, the SHA-256 of the output, and how it was
                   recorded"""

import collections
import hashlib
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import benchlib

VERSION = 1
COUNTS = ["cpu_ns", "primary", "imports", "import_bytes", "index", "offset",
          "size", "back"]


class Job:
    """A line of `jobs`. The name stays as it is written there."""

    def __init__(self, line):
        words = line.split(" ", len(COUNTS) + 1)
        if len(words) != len(COUNTS) + 2:
            raise ValueError(f"bad line '{line[:80]}'")
        for key, word in zip(COUNTS, words):
            setattr(self, key, int(word))
        self.digest, self.name = words[-2:]

    def linker_name(self):
        """The name as it is in the linker: here it has %XX for some bytes."""
        return re.sub(b"%(..)", lambda code: bytes([int(code[1], 16)]),
                      self.name.encode()).decode()

    def line(self):
        return " ".join(
            [str(getattr(self, key)) for key in COUNTS]
            + [self.digest, self.name]
        )


def _encode(name):
    """As Host/ModuleNames.cpp names modules on other machines."""
    def code(c):
        if c < ord("-"):
            return f"+{c:02x}"
        if c <= ord("/"):
            return chr(c - 1)
        if c <= ord("9") or ord("_") <= c <= ord("z"):
            return chr(c)
        if c > ord("z"):
            return f"~{c:02x}"
        if c < ord("A"):
            return "=" + chr(ord("0") + c - ord(":"))
        if c <= ord("Z"):
            return "=" + chr(c - ord("A") + ord("a"))
        return "=~" + chr(ord("0") + c - ord("["))
    if name.startswith("/"):
        benchlib.fail(f"'{name}' is not below the folder of the link")
    return "m." + "".join(code(c) for c in name.encode())


def travel_names(jobs):
    """By the name in the linker, of all of a link: members of archives are counted."""
    members = collections.Counter()
    result = {}
    for name in sorted({job.linker_name() for job in jobs}):
        match = re.fullmatch(r"(.*\(.*) at \d+\)", name)
        short = name
        if match:
            if members[match[1]] > 9:
                benchlib.fail(f"more than ten members are called '{name}'")
            short = f"{match[1]} at {members[match[1]]})"
            members[match[1]] += 1
        result[name] = _encode(short)
    return result


def read_jobs(folder):
    """The header of `jobs`, as a dict, and the jobs."""
    lines = (folder / "jobs").read_text().split("\n")
    header = dict(line.rsplit(" ", 1) for line in lines[:4])
    return header, [Job(line) for line in lines[4:] if line]


def write_jobs(folder, jobs, drawn=False, factor=1000):
    text = (
        f"dtlto-recording {VERSION}\ndrawn {int(drawn)}\n"
        f"input-factor {factor}\njobs {len(jobs)}\n"
    )
    text += "".join(job.line() + "\n" for job in jobs)
    unfinished = folder / "jobs.new"
    unfinished.write_text(text)
    unfinished.rename(folder / "jobs")


def sha256(path):
    sha = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            sha.update(chunk)
    return sha.hexdigest()


class Recording:
    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        about = self.folder / "recording.json"
        if not about.exists():
            benchlib.fail(f"no {about}: make it with bench/record")
        about = json.loads(about.read_text())
        if about.get("version") != VERSION:
            benchlib.fail(f"{folder} has another format: record it again")
        self.link = Path(about["link"])
        self.args = about["args"]
        self.sha256 = about["sha256"]
        self.name = about["name"]
        self.drawn = about["drawn"]
        self.whole = about.get("whole")
        _, self.jobs = read_jobs(self.folder)
        if not (self.link / "link.rsp").exists():
            benchlib.fail(f"no {self.link / 'link.rsp'}, which was recorded")

    def work(self):
        """Seconds of CPU of all jobs."""
        return sum(job.cpu_ns for job in self.jobs) / 1e9

    def alone(self, slots):
        """Seconds of one machine that does it all, without parts of modules."""
        times = self.whole or [job.cpu_ns for job in self.jobs]
        return max(max(times, default=0), sum(times) / slots) / 1e9

    def describe(self):
        longest = max((job.cpu_ns for job in self.jobs), default=0) / 1e9
        sent = sum(job.primary for job in self.jobs) / 1e6
        drawn = " (drawn)" if self.drawn else ""
        return (
            f"{self.name}: {len(self.jobs)} jobs{drawn}, {self.work():.1f} s "
            f"of CPU, the longest {longest:.2f} s; {sent:.0f} MB of modules"
        )


def make_folder(given, name, mark):
    """The folder of a recording that is to be made, emptied: `given`, or the
    cache's for `name`. It may be there if it is one, and so it or its `whole` has the
    file `mark`."""
    out = given or benchlib.cache_folder() / "recordings" / name
    out = out.resolve()
    if out.exists():
        ours = (out / mark).exists() or (out / "whole" / mark).exists()
        if not ours and any(out.iterdir()):
            benchlib.fail(f"{out} isn't empty and no recording")
        shutil.rmtree(out)
    return out


def write_about(folder, name, link, args, sha256, drawn=False, whole=()):
    """Last: a folder with this file is complete. `whole` are the times of the same
    link's jobs without parts of modules."""
    (folder / "recording.json").write_text(json.dumps({
        "version": VERSION, "name": name, "link": str(link), "args": args,
        "sha256": sha256, "drawn": drawn, "whole": list(whole),
    }, indent=2) + "\n")


def plugin(name, folder=None):
    path = Path(folder or benchlib.BUILD / "bench") / f"libdtlto_{name}.so"
    if not path.exists():
        benchlib.fail(f"no {path}: build it")
    return path.resolve()


def record_once(options, link, args, out, jobs=1):
    """One link through the record plugin; leaves `jobs` and `objects` in the
    folder `out`, and the output as out/output. Returns the run."""
    out.mkdir(parents=True, exist_ok=True)
    return benchlib.Run([
        options.linker, "@link.rsp", *args, "-o", out / "output",
        f"--thinlto-dist-plugin={plugin('record', options.plugin_dir)}",
        f"--thinlto-dist-plugin-arg=out={out}",
        f"--thinlto-dist-plugin-arg=jobs={jobs}",
        f"--thinlto-jobs={jobs}", "--thinlto-dist-fallback=none",
        "--thinlto-dist-local-jobs=0", "--thinlto-dist-duplicate=0",
    ], cwd=link)


def local_sha256(options, link, args):
    """Of what our linker makes by itself."""
    with tempfile.TemporaryDirectory() as name:
        benchlib.Run([
            options.linker, "@link.rsp", *args, "-o", Path(name) / "output",
            "--thinlto-dist-plugin=local", f"--thinlto-jobs={os.cpu_count()}",
        ], cwd=link)
        return sha256(Path(name) / "output")


def stock_sha256(link, args):
    """Of what the stock linker makes of a link, or has made when it was prepared."""
    made = [] if args else list((link / "stock").glob("*"))
    return sha256(made[0]) if len(made) == 1 else stock_output(link, args)[0]


def stock_output(link, args, jobs=None):
    """What the stock linker makes of a link: its SHA-256, and the seconds."""
    with tempfile.TemporaryDirectory() as name:
        run = benchlib.Run([
            benchlib.STOCK, "@link.rsp", *args, "-o", Path(name) / "output",
            f"--thinlto-jobs={jobs or os.cpu_count()}",
        ], cwd=link)
        return sha256(Path(name) / "output"), run


def add_tool_options(parser):
    parser.add_linker()
    parser.add_argument(
        "--plugin-dir", type=Path, metavar="DIR",
        help="where libdtlto_record.so and libdtlto_replay.so are",
    )
