#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""setup.py CLANG LLD_LINK SOURCES COMPILER [FLAG...]: compiles the program in
SOURCES for x86_64-pc-windows-msvc into this folder, as FILE.o. Writes
list.json, lld-link's jobs for it, with Windows-style names and COMPILER as the
compiler. Moves the objects of in-process ThinLTO to want/, as FILE.native.o."""

import glob
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import names

clang, lld_link, sources, compiler = sys.argv[1:5]
flags = sys.argv[5:]
target = "--target=x86_64-pc-windows-msvc"


def link(*args):
    order = sorted(modules, key=lambda m: not m.endswith("main.o"))
    subprocess.run([lld_link, "/entry:start", "/subsystem:console", *order,
                    "/out:out.exe", *args], cwd=names.NAMES, check=True)


for source in glob.glob(os.path.join(sources, "*.c")):
    subprocess.run([clang, target, "-O2", *flags, "-flto=thin", "-ffreestanding",
                    "-nostdinc", "-I", sources, "-c", source, "-o",
                    os.path.basename(source)[:-2] + ".o"], check=True)
modules = sorted(names.windows(f) for f in glob.glob("*.o"))
for module in modules:
    names.copy_in(names.linux(module))

link("/lldsavetemps")
os.mkdir("want")
for module in modules:
    stem = names.linux(module)[:-2]
    shutil.copy(os.path.join(names.NAMES, "out.exe.lto." + module[:-2] + ".obj"),
                "want/" + os.path.basename(stem) + ".native.o")

link("/thinlto-index-only", "/thinlto-emit-imports-files")
jobs = []
for module in modules:
    shard = module + ".thinlto.bc"
    made = module[:-2] + ".native.o"
    names.copy_out(shard)
    with open(os.path.join(names.NAMES, module + ".imports")) as f:
        imports = f.read().splitlines()
    # In the form of LLD 22.
    jobs.append({"args": [module, "-fthinlto-index=" + shard, "-o", made],
                 "inputs": [module, shard] + imports, "outputs": [made]})
common = [compiler, "-c", target, "-O2", "-ffunction-sections", "-fdata-sections"]
with open("list.json", "w") as f:
    json.dump({"common": {"linker_output": names.windows("out.exe"), "args": common,
                          "inputs": []}, "jobs": jobs}, f, indent=1)
