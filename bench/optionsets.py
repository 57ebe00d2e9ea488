# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links of one program with sets of options, whose results are compared."""

import hashlib
import json
import os
import shutil

import benchlib

# What one would add to clang's command line for LLD.
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
    # All modules are written to the one output; with several threads, a random
    # one remains.
    "-Wl,--lto-emit-llvm -Wl,--thinlto-jobs=1",
    "-Wl,--save-temps",
    "-Wl,--thinlto-emit-index-files",
]
OUTPUT, REPORT = "OUT", "report.json"
# Enough for the option to have an effect.
SAMPLE_PROFILE = "main:10000:100\n 1: 100\n"


class Result:
    """The result of one link: path -> digest of each new file. `stayed` is the
    number of jobs that were compiled in the linker."""

    def __init__(self, run, files, stayed):
        self.run, self.files, self.stayed = run, files, stayed

    def unlike(self, other):
        """Describes how this differs from the in-process link's result; empty
        if equal. Additional files don't count as a difference."""
        if self.run.code is None:
            return "not done in time"
        if self.run.code != 0:
            lines = [x for x in self.run.output.splitlines() if "error" in x]
            return f"fails: {lines[0] if lines else 'without an error message'}"
        names = [name for name in sorted(other.files) if name != OUTPUT]
        lost = [name for name in names if name not in self.files]
        changed = [name for name in names if name not in lost
                   and self.files[name] != other.files[name]]
        said = []
        if self.files.get(OUTPUT) != other.files.get(OUTPUT):
            said.append("other bytes" if OUTPUT in self.files else "no output")
        if lost:
            said.append(f"{len(lost)} files not made, `{lost[0]}` first")
        if changed:
            said.append(f"other bytes in {len(changed)} files, `{changed[0]}` first")
        return ", ".join(said)


class Program:
    """The output of `prepare-program lua`: inputs.rsp and obj/. Each link runs in a
    fresh folder with the same path, so that paths in an output make no difference."""

    def __init__(self, source, work, env, limit):
        self.source, self.env, self.limit = source, env, limit
        self.folder = work / "run"

    def prepare(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.source / "obj", self.folder / "obj",
                        copy_function=os.link)
        shutil.copy(self.source / "inputs.rsp", self.folder)
        (self.folder / "sample.prof").write_text(SAMPLE_PROFILE)
        (self.folder / "objects").mkdir()  # linkers don't make it

    def link(self, words):
        """Runs a command after prepare(). It writes OUTPUT, and may write REPORT."""
        before = set(self.folder.rglob("*"))
        run = benchlib.Run(words, self.folder, self.env, self.limit)
        report, stayed = self.folder / REPORT, 0
        if report.exists():
            jobs = json.loads(report.read_text())["jobs"]
            stayed = sum("why_here" in job for job in jobs)
        return Result(run, {
            str(path.relative_to(self.folder)):
                hashlib.sha256(path.read_bytes()).digest()
            for path in set(self.folder.rglob("*")) - before - {report}
            if path.is_file()
        }, stayed)
