# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes many tiny ThinLTO modules, quickly.

Module number i has one function that calls the one of module i+1; the last
calls the first. Modules import from others, one on average. The program can be
run: it adds one 40 times.

A clang process for each module would take minutes. A module's symbol names are
plain bytes in the bitcode file's string table, and nothing else in the file
depends on them (GUIDs are computed when the file is read). So a module is made
from the bytes of another one by replacing names with ones of the same length.
Each run checks that the result equals clang's own."""

import subprocess

import benchlib
import bitcode

# Read from stdin, so that the file's name isn't part of the module. Several
# shapes, so that modules have different sizes. The third is never imported:
# otherwise each module would import the next eight, and these would dominate
# its cost.
SHAPES = [
    "int {next}(int);\n"
    "int {this}(int x) {{ return x > 0 ? {next}(x - 1) + 1 : 0; }}\n",
    "int {next}(int);\n"
    "int {this}(int x) {{\n"
    "  switch (x) {{\n"
    "  case 0: return 0;\n"
    "  case 1: return 1;\n"
    "  default: return {next}(x - 1) + 1;\n"
    "  }}\n"
    "}}\n",
    "int {next}(int);\n"
    "volatile int {this}_calls;\n"
    "__attribute__((noinline)) int {this}(int x) {{\n"
    "  for (int i = 0; i < (x & 3); ++i)\n"
    "    {this}_calls = {this}_calls + i;\n"
    "  return x > 0 ? {next}(x - 1) + 1 : 0;\n"
    "}}\n",
]
MAIN = "int {next}(int);\nint main(void) {{ return {next}(40); }}\n"
EXIT_CODE = 40

# The number of members of an archive.
ARCHIVE_MEMBERS = 500


def name_of(number):
    return f"module_{number:07}"


def compile_module(shape, this, next_one):
    """Returns the bitcode of one module. clang compiles it, but opt writes it,
    without the module's hash. The hash depends on the names; it is for
    LLVM's cache, which these links don't use."""
    text = subprocess.run(
        [benchlib.CLANG, "-O2", "-flto=thin", "-S", "-x", "c", "-", "-o", "-"],
        input=shape.format(this=this, next=next_one).encode(),
        stdout=subprocess.PIPE, check=True,
    ).stdout
    return subprocess.run(
        [benchlib.LLVM / "bin/opt", "-module-summary", "-passes=", "-"],
        input=text, stdout=subprocess.PIPE, check=True,
    ).stdout


class Template:
    """A compiled shape, whose names can be replaced."""

    THIS, NEXT = b"THIS_is_a_name", b"NEXT_is_a_name"

    def __init__(self, shape):
        self.bitcode = compile_module(
            shape, self.THIS.decode(), self.NEXT.decode()
        )
        this, next_one = name_of(1), name_of(2)
        if self.make(this, next_one) != compile_module(shape, this, next_one):
            benchlib.fail("renaming does not give what clang writes")

    def make(self, this, next_one):
        assert len(this) == len(self.THIS) and len(next_one) == len(self.NEXT)
        return self.bitcode.replace(self.THIS, this.encode()).replace(
            self.NEXT, next_one.encode()
        )


def prepare(count, archives):
    """Returns a folder with `count` modules, main's among them, and their
    link.rsp. Reuses the folder of an earlier call."""
    kind = "archives" if archives else "objects"
    folder = benchlib.cache_folder() / f"modules-{count}-{kind}"
    if (folder / "link.rsp").exists():
        return folder
    (folder / "m").mkdir(parents=True, exist_ok=True)

    templates = [Template(shape) for shape in SHAPES]
    (folder / "main.o").write_bytes(compile_module(MAIN, "", name_of(0)))
    members = count - 1
    files = []
    for number in range(members):
        file = f"m/{name_of(number)}.o"
        (folder / file).write_bytes(
            templates[number % len(templates)].make(
                name_of(number), name_of((number + 1) % members)
            )
        )
        files.append(file)
    inputs = ["main.o"] + files
    if archives:
        inputs = ["main.o"]
        for begin in range(0, members, ARCHIVE_MEMBERS):
            archive = f"m/lib{begin:07}.a"
            (folder / archive).unlink(missing_ok=True)
            benchlib.Run(
                [benchlib.LLVM / "bin/llvm-ar", "rcsD", archive]
                + files[begin : begin + ARCHIVE_MEMBERS], folder)
            inputs.append(archive)
        for file in files:
            (folder / file).unlink()
    # Last: this file marks the folder as complete.
    bitcode.write_link_rsp(folder, inputs)
    return folder


def add_options(parser, count=None):
    """Adds DIR, or options for tiny modules."""
    parser.add_folder("", "tiny modules" if count else "lld in the cache")
    parser.add_number("--modules", count, "how many tiny modules", least=3)
    parser.add_flag("--archives",
                    f"as members of archives, {ARCHIVE_MEMBERS} in each")


def folder_of(options):
    return options.dir or options.modules and prepare(
        options.modules, options.archives)
