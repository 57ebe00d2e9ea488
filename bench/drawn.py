# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many modules that look to a scheduler like those of a real program.

Each module is drawn, with a fixed seed, from the jobs of a recorded link. It is
a real ThinLTO module that really links, and costs next to nothing to compile.
What it has of the job it was drawn from:

  its size         divided by a factor, so that all of them fit on a disk; both
                   bytes and instructions, since the rest of the module is
                   instructions in a block that is never reached, which LLVM
                   throws away first
  its imports      the same number of modules, each for one small function:
                   every other one from the hundredth of all modules that all
                   import from, the rest from the modules around it

As in modules.py, only a few are compiled, and the others get other names of the
same length in their string table. Here each drawn job is one such shape."""

import itertools
import random
import subprocess

import benchlib
import bitcode

SEED = 2021
NEIGHBOURS = 50  # on either side
COMMON = 100  # every so-many-th module is one that all import from
EXIT_CODE = 40

NEXT, THIS, LEAF = b"NEXT_is_a_name", b"THIS_is_a_name", b"LEAF_is_a_name"


def called(number):
    return f"C{number:03}_is_a_name".encode()


def root_of(number):
    return f"module_{number:07}".encode()


def leaf_of(number):
    return f"leafof_{number:07}".encode()


def source(imports, names):
    """The C text: a function that others import, and one that nobody does,
    which calls the next module's and some that it imports."""
    lines = [f"int {names[NEXT]}(int);"]
    lines += [f"int {names[called(i)]}(int);" for i in range(imports)]
    lines += [
        f"int {names[LEAF]}(int x) {{ return x * 3 + 1; }}",
        f"__attribute__((noinline)) int {names[THIS]}(int x) {{",
        "  int sum = 0;",
    ]
    lines += [f"  sum += {names[called(i)]}(x);" for i in range(imports)]
    lines += [
        # Keeps the calls, and is never seen.
        "  if (sum == 0x12345678) return sum;",
        f"  return x > 0 ? {names[NEXT]}(x - 1) + 1 : 0;", "}",
    ]
    return "\n".join(lines) + "\n"


def compile_shape(imports, padding, names=None):
    """The bitcode of a module with `padding` instructions that don't count."""
    if names is None:
        names = {}
    every = [NEXT, THIS, LEAF] + [called(i) for i in range(imports)]
    names = {name: names.get(name, name).decode() for name in every}
    text = subprocess.run(
        [benchlib.CLANG, "-O2", "-flto=thin", "-S", "-x", "c", "-", "-o", "-"],
        input=source(imports, names).encode(), stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()
    at = text.index("define", text.index(f"@{names[LEAF]}(i32 noundef"))
    end = text.index("\n}\n", at)
    block = ["", "never:"]
    block += [
        f"  %p{i} = {('add', 'xor', 'mul')[i % 3]} i32 "
        f"{f'%p{i - 1}' if i else '7'}, {(i * 7919) % 65521 + 3}"
        for i in range(padding)
    ]
    block.append("  unreachable")
    text = text[:end] + "\n".join(block) + text[end:]
    return subprocess.run(
        [benchlib.LLVM / "bin/opt", "-module-summary", "-passes=", "-"],
        input=text.encode(), stdout=subprocess.PIPE, check=True,
    ).stdout


class Shape:
    """A compiled module, and how to give it other names."""

    def __init__(self, imports, size):
        self.imports = imports
        bare = compile_shape(imports, 0)
        self.bitcode = bare
        # Later instructions take more bytes than early ones.
        padding = 1000
        for _ in range(3):
            filled = compile_shape(imports, padding)
            each = (len(filled) - len(bare)) / padding
            padding = int((size - len(bare)) / each)
            if padding <= 0:
                return
        self.bitcode = filled

    def make(self, names):
        data = self.bitcode
        for old, new in names.items():
            assert len(old) == len(new)
            data = data.replace(old, new)
        return data


def names_of(number, imports, count, draw):
    """The names in module `number` of `count`."""
    others = set()
    common = range(0, count, COMMON)
    for i in range(imports * 20):
        if len(others) == imports:
            break
        if i % 2 and len(common) > 1:
            other = draw.choice(common)
        else:
            other = number + draw.randint(-NEIGHBOURS, NEIGHBOURS)
        if 0 <= other < count and other != number:
            others.add(other)
    # Small programs may not have so many there. No name may come twice.
    others.update(itertools.islice(
        (i for i in range(count) if i != number and i not in others),
        imports - len(others),
    ))
    if len(others) < imports:
        benchlib.fail(f"{count} modules can't import from {imports} others each")
    names = {THIS: root_of(number), LEAF: leaf_of(number),
             NEXT: root_of((number + 1) % count)}
    for i, other in enumerate(sorted(others)):
        names[called(i)] = leaf_of(other)
    return names


def check_renaming():
    """Other names in the string table must be what clang would write."""
    imports = 3
    names = names_of(7, imports, 100, random.Random(SEED))
    renamed = Shape(imports, 0).make(names)
    if renamed != compile_shape(imports, 0, names):
        benchlib.fail("renaming doesn't give what clang writes")


def prepare(folder, jobs, count, factor):
    """Makes `count` modules, main's among them, and their link.rsp in `folder`,
    drawn from `jobs` (recording.Job). Returns a dict from a file's name to its
    job. What an earlier call with the same arguments made is used again."""
    draw = random.Random(SEED)
    members = count - 1
    drawn = {
        f"m/{root_of(number).decode()}.o": draw.choice(jobs)
        for number in range(members)
    }
    if (folder / "link.rsp").exists():
        return drawn
    (folder / "m").mkdir(parents=True, exist_ok=True)
    check_renaming()
    shapes = {}
    for number, (file, job) in enumerate(drawn.items()):
        if id(job) not in shapes:
            shapes[id(job)] = Shape(job.imports, job.primary / factor)
        shape = shapes[id(job)]
        names = names_of(number, shape.imports, members, draw)
        (folder / file).write_bytes(shape.make(names))
    main = subprocess.run(
        [benchlib.CLANG, "-O2", "-flto=thin", "-c", "-x", "c", "-", "-o", "-"],
        input=f"int {root_of(0).decode()}(int);\n"
        f"int main(void) {{ return {root_of(0).decode()}({EXIT_CODE}); }}\n"
        .encode(), stdout=subprocess.PIPE, check=True,
    ).stdout
    (folder / "main.o").write_bytes(main)
    # Last: the folder is complete once it has this.
    bitcode.write_link_rsp(folder, ["main.o", *drawn])
    return drawn
