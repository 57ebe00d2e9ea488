# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program's files on wine's drive Z:, and names/, a folder of files that are called
literally what they are called there: Linux allows a name such as Z:\\a\\main.o. Given
these, LLD for Linux writes what LLD for Windows would.

names.py FOLDER WORD...: copies FOLDER's modules to names/, and prints a response file
with their names on Windows, after WORDs."""

import glob
import os
import shutil
import sys

NAMES = "names"


def windows(path):
    """What wine calls `path`."""
    return "Z:" + os.path.abspath(path).replace("/", "\\")


def linux(name):
    return name[2:].replace("\\", "/") if name.startswith("Z:") else name


def copy_in(path):
    os.makedirs(NAMES, exist_ok=True)
    shutil.copy(path, os.path.join(NAMES, windows(path)))


def copy_out(name):
    """What is called `name` in names/ to where Windows has it."""
    shutil.copy(os.path.join(NAMES, name), linux(name))


if __name__ == "__main__":
    modules = sorted(glob.glob(os.path.join(sys.argv[1], "*.o")))
    for module in modules:
        copy_in(module)
    # A quoted backslash is itself, but before a quote.
    print("\n".join(sys.argv[2:] + ['"%s"' % windows(m) for m in modules]))
