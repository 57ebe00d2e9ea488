# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that are linked, and stock LLD's outputs for them."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("DTLTO_BUILD", ROOT / "build"))
OURS = BUILD / "bin/ld.lld"


def llvm_version():
    """The major version of LLVM that our linker is built with."""
    try:
        text = subprocess.run([OURS, "--version"], capture_output=True, text=True).stdout
    except OSError as e:
        sys.exit("%s; build it, or set DTLTO_BUILD" % e)
    return re.search(r"LLD (\d+)", text)[1]


LLVM = Path(os.environ.get("DTLTO_LLVM") or "/usr/lib/llvm-" + llvm_version())
STOCK = LLVM / "bin/ld.lld"
CODEGEN = BUILD / "bin/dtlto-codegen"
STATIC_CODEGEN = BUILD / "lib/dtlto/dtlto-codegen-static"
FLAGS = ["--target=x86_64-linux-gnu", "-O2", "-flto=thin", "-ffreestanding",
         "-nostdinc", "-c"]

# A module that takes 0.1 s to compile.
LARGE = "".join("""
int f_%%(module)s_%d(int *p, int x) {
  for (int i = 0; i < x; ++i)
    for (int k = 0; k < i; ++k)
      p[i] += p[k] * (x ^ %d) + (p[i + k] >> (%d %%%% 7));
  return x > %d ? p[x] : p[%d %%%% 13] - x;
}""" % (n, n, n, n, n) for n in range(16))


# By the names of their folders.
PROGRAMS = {
    "small": ["-e", "start", "main.o", "alpha.o", "beta.o", "gamma.o", "libd.a"],
    "large": ["-shared", *(module + ".o" for module in "abcd")],
    "many": ["-shared", *("m%d.o" % n for n in range(60))],
}


def run(*words, **more):
    subprocess.run(words, check=True, **more)


class Program:
    """Creates and links the program in a folder of its own."""

    def __init__(self, folder, name):
        self.folder = folder = Path(folder) / name
        self.inputs = PROGRAMS[name]
        self.name = name
        if folder.exists():
            self.stock = (folder / "stock").read_bytes()
            self.caches = {name: read_folder(folder / ("cache." + name))
                           for name in ("stock", "ours")}

    def prepare(self):
        self.folder.mkdir()
        clang = [LLVM / "bin/clang", *FLAGS]
        if self.name == "large":
            for module in "abcd":
                source = self.folder / (module + ".c")
                source.write_text(LARGE % {"module": module})
                run(*clang, source.name, cwd=self.folder)
        elif self.name == "many":
            for n in range(60):
                (self.folder / ("m%d.c" % n)).write_text(
                    "int m%d(int x) { return x * %d; }\n" % (n, n + 2))
            run(*clang, *("m%d.c" % n for n in range(60)), cwd=self.folder)
        else:
            sources = sorted((ROOT / "test/Inputs/prog").glob("*.c"))
            run(*clang, *sources, cwd=self.folder)
            run(LLVM / "bin/llvm-ar", "rcs", "libd.a", "delta.o", "put.o",
                cwd=self.folder)
        self.link_alone(self.folder / "stock", self.folder / "cache.stock")
        # The cache's objects were made by another process.
        run(OURS, *self.inputs, "-o", "ours", "--thinlto-cache-dir=cache.ours",
            "--thinlto-dist-plugin=local", "--thinlto-dist-plugin-arg=mode=process",
            "--thinlto-dist-costs=off", cwd=self.folder)
        (self.folder / "ours").unlink()

    def link_alone(self, out, cache, **more):
        """Links with stock LLD. Returns the seconds it took."""
        begin = time.monotonic()
        run(STOCK, *self.inputs, "-o", out, "--thinlto-cache-dir=%s" % cache,
            cwd=self.folder, **more)
        return time.monotonic() - begin

    def fill(self, cache, case):
        """Prepares a cache as the case requires."""
        cache.mkdir(parents=True)
        if case["cache"] != "warm":
            return
        for index, (name, content) in enumerate(sorted(
                self.caches["stock"].items())):
            if index in case["warm"] and name.startswith("llvmcache-"):
                (cache / name).write_bytes(content)


def read_folder(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def prepare(folder, programs):
    for name in programs:
        Program(folder, name).prepare()


def prepare_workers(folder):
    """Creates the environments for icecream's nodes that are faulty."""
    folder = Path(folder)
    clang = [LLVM / "bin/clang", "-O1", "-static"]
    inputs = ROOT / "test/icecc/Inputs"
    run(*clang, "-DHOW=Leaving", inputs / "worker.c", "-o", folder / "failing")
    for name, flags in (("object", []), ("job", ["-DOTHER_JOB"])):
        tree = folder / name
        (tree / "usr/bin").mkdir(parents=True)
        (tree / "bin").mkdir()
        run(*clang, *flags, inputs / "flipper.c", "-o", tree / "usr/bin/clang")
        # A hard link would change the inode's ctime, by which a concurrent link
        # recognizes the worker.
        shutil.copy(STATIC_CODEGEN, tree / "usr/bin/codegen")
        for link in "gcc", "g++", "as":
            (tree / "usr/bin" / link).symlink_to("clang")
        (tree / "bin/true").symlink_to("../usr/bin/clang")

        def owned(info):
            info.uid = info.gid = 0
            return info
        with tarfile.open(folder / (name + ".tar.gz"), "w:gz",
                          compresslevel=1) as tar:
            for top in "usr", "bin":
                tar.add(tree / top, top, filter=owned)
        shutil.rmtree(tree)
