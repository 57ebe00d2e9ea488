# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links with one set of options after another, in every way, and tells which
give what the in-process link gives. A set is what one would add to clang's
command line; clang itself says what the linker is called with."""

import hashlib
import json
import os
import shlex
import shutil

import benchlib
import bitcode
import ways

SETS = [
    "",
    "-O0",
    "-O1",
    "-O3",
    "-Wl,--lto-CGO0",
    "-Wl,--lto-newpm-passes=default<O2> -Wl,--lto-aa-pipeline=basic-aa",
    "-Wl,-mllvm,-inline-threshold=25",
    "-Wl,-mllvm,-import-instr-limit=5",
    "-Wl,-mllvm,-unroll-count=2",
    "-Wl,-mllvm,-align-all-functions=5",
    "-Wl,-mllvm,-enable-machine-outliner",
    "-Wl,-mllvm,-tailcallopt",
    "-no-pie",
    "-static",
    "-r",
    "-fno-function-sections -fno-data-sections",
    "-Wl,--icf=all -Wl,--gc-sections",
    "-Wl,--lto-basic-block-sections=all "
    "-Wl,--lto-unique-basic-block-section-names",
    "-Wl,--lto-basic-block-address-map",
    "-Wl,--lto-whole-program-visibility",
    "-fcs-profile-generate=profile",
    "-Wl,--lto-sample-profile=sample.prof",
    "-march=haswell",
    "-Wl,-mllvm,-code-model=large",
    "-femulated-tls",
    "-gsplit-dwarf",
    "-glldb",
    "-fsave-optimization-record -foptimization-record-file=remarks.yaml "
    "-foptimization-record-passes=inline",
    "-Wl,--plugin-opt=stats-file=stats.json",
    "-Wl,--lto-obj-path=objects/o",
    "-Wl,--lto-emit-asm",
    # Each module is written to the one output; with several threads it is
    # chance which one stays.
    "-Wl,--lto-emit-llvm -Wl,--thinlto-jobs=1",
    "-Wl,--save-temps",
    "-Wl,--thinlto-emit-index-files",
]

OUTPUT = "OUT"
# Enough for the option to have something to do.
SAMPLE_PROFILE = "main:10000:100\n 1: 100\n"
REPORT = "report.json"


class Result:
    """What one link left behind: path -> digest of each file that is new."""

    def __init__(self, link, files, empty, stayed):
        self.link, self.files, self.empty = link, files, empty
        self.stayed = stayed  # jobs in the linker

    def unlike(self, other):
        """How this differs from the in-process link's, in words, or nothing.
        Files that an in-process link doesn't leave aren't a difference."""
        if self.link.code is None:
            return "not done in time"
        if self.link.code != 0:
            lines = [x for x in self.link.output.splitlines() if "error" in x]
            return f"fails: {lines[0] if lines else 'without a word'}"
        if OUTPUT in other.files and OUTPUT not in self.files:
            return "exit code 0, and no output"
        said = []
        if self.files.get(OUTPUT) != other.files.get(OUTPUT):
            said.append("other bytes")
        names = sorted(set(other.files) - {OUTPUT})
        if lost := [name for name in names if name not in self.files]:
            said.append(f"{self._some(lost)} not made")
        if hollow := [
            name for name in names
            if name in self.empty and name not in other.empty
        ]:
            said.append(f"{self._some(hollow)} empty")
        if changed := [
            name for name in names
            if name in self.files and name not in hollow
            and self.files[name] != other.files[name]
        ]:
            said.append(f"other bytes in {self._some(changed)}")
        return ", ".join(said)

    @staticmethod
    def _some(names):
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return f"`{names[0]}`{more}"


class Linker:
    """Links in a folder that has the same path each time, so that no path in
    an output makes a difference, and nothing of an earlier link in it."""

    def __init__(self, program, work, jobs, env, limit):
        """`program` is what prepare-lua made: inputs.rsp and obj/."""
        self.program, self.jobs, self.limit = program, jobs, limit
        self.env = env
        self.folder = work / "run"

    def link(self, way, options):
        self._fill()
        before = set(self._files())
        words = ways.command(way, self.jobs)
        if way not in (ways.IN_PROCESS, ways.UPSTREAM):
            # Only what can't be done elsewhere is done in the linker.
            words += ["--thinlto-dist-local-jobs=0",
                      f"--thinlto-dist-report={REPORT}"]
        words += bitcode.linker_arguments(
            self.folder, "clang", ["-rdynamic", *shlex.split(options)]
        )
        link = ways.Link(
            [*words, "-o", OUTPUT], self.folder, self.env, self.limit
        )
        report, stayed = self.folder / REPORT, 0
        if report.exists():
            jobs = json.loads(report.read_text())["jobs"]
            stayed = sum("why_here" in job for job in jobs)
        files, empty = {}, set()
        for path in set(self._files()) - before - {REPORT}:
            content = (self.folder / path).read_bytes()
            files[path] = hashlib.sha256(content).digest()
            if not content:
                empty.add(path)
        return Result(link, files, empty, stayed)

    def _fill(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        shutil.copytree(
            self.program / "obj", self.folder / "obj", copy_function=os.link
        )
        shutil.copy(self.program / "inputs.rsp", self.folder)
        (self.folder / "sample.prof").write_text(SAMPLE_PROFILE)
        # LLD makes neither.
        (self.folder / "objects").mkdir()

    def _files(self):
        for base, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(base, name)
                yield os.path.relpath(path, self.folder)


class Table:
    """All sets, linked in all ways. In-process twice: a set that
    then doesn't give the same result says nothing about other ways, and isn't
    counted."""

    def __init__(self, linker, sets=SETS, progress=lambda text: None):
        others = ways.WAYS[1:]
        self.same = {way: 0 for way in others}
        self.stayed = {way: 0 for way in others}
        self.differences = []  # (set, way, words)
        self.alike = []  # sets without any
        self.count = 0
        self.unsteady, self.broken = [], []
        for number, options in enumerate(sets, 1):
            shown = options or "(none)"
            theirs = linker.link(ways.IN_PROCESS, options)
            if theirs.link.code != 0:
                self.broken.append(shown)
                progress(f"the in-process link fails with {shown}:\n"
                         + theirs.link.output[-2000:])
                continue
            if words := linker.link(ways.IN_PROCESS, options).unlike(theirs):
                self.unsteady.append(shown)
                progress(f"  {number}/{len(sets)} {shown}: in-process again: "
                         + words)
                continue
            self.count += 1
            known = len(self.differences)
            for way in others:
                ours = linker.link(way, options)
                words = ours.unlike(theirs)
                if words:
                    self.differences.append((shown, way, words))
                else:
                    self.same[way] += 1
                self.stayed[way] += ours.stayed > 0
                progress(f"  {number}/{len(sets)} {shown}: {way}: "
                         + (words or "the same")
                         + (f" ({ours.stayed} stayed)" if ours.stayed else ""))
            if len(self.differences) == known:
                self.alike.append(shown)

    def print(self):
        print("| link options | the in-process bytes | sets that kept jobs in "
              "the linker |")
        print("|---|---|---|")
        for way in ways.WAYS[1:]:
            print(f"| {ways.DESCRIPTIONS[way]} | {self.same[way]} of "
                  f"{self.count} | {self.stayed[way]} |")
        if self.differences:
            print("\n| options | way | what is different |\n|---|---|---|")
        for shown, way, words in self.differences:
            print(f"| `{shown}` | {way} | {words} |")
        if self.alike:
            print("\nThe same in all ways: "
                  + ", ".join(f"`{shown}`" for shown in self.alike) + ".")
        if self.unsteady:
            print("\nNot counted, since two in-process links differ: "
                  + ", ".join(f"`{shown}`" for shown in self.unsteady) + ".")
        if self.broken:
            benchlib.fail("no in-process link with " + "; ".join(self.broken))
