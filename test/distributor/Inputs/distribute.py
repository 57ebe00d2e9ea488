# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A distributor, as described in LLVM's documentation (llvm.org/docs/DTLTO.html):
the last argument is the JSON file. Runs jobs on this machine, in reverse order.

  --log=FILE        appends a line for each run: the number of jobs
  --do=WHAT         for the jobs whose module's name contains the text of --to:
    run             runs them normally
    fail            exits with 3, after all others
    nothing         writes no object, and exits with 0
    half            writes half an object, and exits with 0
    half-first      writes half an object, closes the file, then writes the rest
    other           writes the object of another job
    text            writes a text instead of an object
    big             writes an object of 1 GB
    hang            waits forever, after all others
    killed          kills itself, after all others
    no-import       compiles them without the modules that they import
  --to=TEXT         default: all jobs
  --once=FILE       only if this file doesn't exist; creates it
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import sys
import time


def command(data, job):
    return data["common"]["args"] + job["args"]


def validate(data):
    """Checks the exact schema."""
    assert sorted(data) == ["common", "jobs"]
    common = data["common"]
    assert sorted(common) == ["args", "inputs", "linker_output"]
    assert isinstance(common["linker_output"], str)
    texts = [common["args"], common["inputs"]]
    for job in data["jobs"]:
        assert sorted(job) == ["args", "inputs", "outputs"]
        texts += job.values()
        assert len(job["inputs"]) >= 2 and len(job["outputs"]) == 1
        for name in job["inputs"] + common["inputs"]:
            assert os.path.isfile(name), name
        assert not os.path.exists(job["outputs"][0])
        assert job["inputs"][1] in " ".join(command(data, job)) or \
            job["inputs"][0].endswith(".i")
    for text in texts:
        assert isinstance(text, list) and all(type(t) is str for t in text)
    names = [job["outputs"][0] for job in data["jobs"]]
    assert len(set(names)) == len(names) > 0 and common["args"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--log")
    parser.add_argument("--do", default="run")
    parser.add_argument("--to", default="")
    parser.add_argument("--once")
    parser.add_argument("json")
    options = parser.parse_args()
    with open(options.json) as f:
        data = json.load(f)
    validate(data)
    if options.log:
        with open(options.log, "a") as f:
            f.write("%d jobs\n" % len(data["jobs"]))
    what = options.do
    if options.once and os.path.exists(options.once):
        what = "run"
    elif options.once:
        open(options.once, "w").close()

    def is_chosen(job):
        return what != "run" and options.to in job["inputs"][0]

    def compile(job, output=None):
        words = command(data, job)
        if output:
            words[words.index(job["outputs"][0])] = output
        subprocess.run(words, check=True)

    chosen = [job for job in data["jobs"] if is_chosen(job)]
    others = [job for job in data["jobs"] if not is_chosen(job)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(compile, reversed(others)))
    for job in chosen:
        output = job["outputs"][0]
        if what in ("half", "half-first"):
            compile(job, "whole.o")
            with open("whole.o", "rb") as f:
                whole = f.read()
            with open(output, "wb") as f:
                f.write(whole[:len(whole) // 2])
            if what == "half-first":
                time.sleep(0.2)
                with open(output, "ab") as f:
                    f.write(whole[len(whole) // 2:])
        elif what == "other":
            other = next(j for j in data["jobs"] if j is not job)
            compile(other, output)
        elif what == "text":
            with open(output, "w") as f:
                f.write("int main() {}\n")
        elif what == "big":
            with open(output, "wb") as f:
                f.truncate(1 << 30)
        elif what == "no-import":
            os.makedirs("alone", exist_ok=True)
            for name in job["inputs"][:2]:
                shutil.copy(name, "alone")
            subprocess.run(command(data, job), check=True, cwd="alone")
            shutil.copy("alone/" + output, output)
    if chosen and what == "hang":
        # Only a signal ends this.
        time.sleep(3600)
    if chosen and what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if chosen and what == "fail":
        print("distribute: no machine", file=sys.stderr)
        sys.exit(3)


main()
