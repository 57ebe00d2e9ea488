# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds a real program as ThinLTO bitcode, to link it again and again."""

import os
import shlex
import subprocess
from pathlib import Path

import benchlib


def run(command, what, **more):
    """Runs a step of a build. Returns what was run."""
    done = subprocess.run([str(word) for word in command], **more)
    if done.returncode != 0:
        benchlib.fail(f"{what} failed")
    return done


def fetch_source(package, variable):
    """Returns the folder with a Debian source package's files. The environment
    variable may name an existing folder instead."""
    given = os.environ.get(variable)
    if given:
        return Path(given).resolve()
    folder = benchlib.cache_folder() / "src" / package
    run([benchlib.ROOT / "scripts/fetch-source", package, folder],
        f"scripts/fetch-source {package}")
    return folder


def add_target(parser, name=None):
    """Adds DIR, by default `name` in the cache, and --jobs."""
    parser.add_argument(
        "dir", type=Path, nargs="?", metavar="DIR",
        default=name and benchlib.cache_folder() / name,
        help=f"default: {name or 'the program'} in the cache")
    parser.add_jobs("compilations at a time")


def write_if_changed(path, text):
    """Keeps the time stamp if nothing changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def linker_arguments(folder, driver="clang", options=()):
    """The arguments with which clang would call the linker for
    folder/inputs.rsp, without the output. Paths stay relative to `folder`,
    so that module names don't depend on its place."""
    command = [str(benchlib.LLVM / "bin" / driver), "-###", "-fuse-ld=lld"]
    command += ["-flto=thin", "-O2", "-o", "OUT", *options, "@inputs.rsp"]
    # LIBRARY_PATH would add this machine's folders to the command.
    environment = {k: v for k, v in os.environ.items() if k != "LIBRARY_PATH"}
    said = benchlib.Run(command, folder, environment).output
    arguments = shlex.split(said.strip().splitlines()[-1])[1:]
    at = arguments.index("-o")
    del arguments[at : at + 2]
    return arguments


def write_link_rsp(folder, inputs, driver="clang", options=()):
    """Writes `inputs` to folder/inputs.rsp, and the arguments of their link,
    without the output, to folder/link.rsp."""
    write_if_changed(
        folder / "inputs.rsp", "".join(f'"{name}"\n' for name in inputs)
    )
    arguments = linker_arguments(folder, driver, options)
    write_if_changed(
        folder / "link.rsp", "".join(f'"{a}"\n' for a in arguments)
    )


def check_with_stock(folder, name, expected, question="--version"):
    """Checks that the stock linker can link the bitcode, and that the result,
    folder/stock/<name>, runs and prints `expected` for `question`."""
    program = folder / "stock" / name
    program.parent.mkdir(exist_ok=True)
    link = benchlib.Run(
        [benchlib.STOCK, "@link.rsp", "-o", program], cwd=folder
    )
    said = benchlib.Run([program, question]).output.strip()
    if expected not in said:
        benchlib.fail(f"the linked {name} says '{said}'")
    print(f"linked by the stock linker in {link.wall:.1f} s; it says: {said}")
