# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names a program's files by their paths on wine's drive Z:. Linux allows file names
such as Z:\\a\\main.o, so names/ is a folder of files with literally these names. Given
these, LLD for Linux writes what LLD for Windows would.

names.py FOLDER WORD...: copies FOLDER's modules to names/, and prints a response file
with WORDs and the modules' Windows paths."""

import glob
import os
import shutil
import sys

NAMES = "names"


def windows(path):
    """Returns wine's path for `path`."""
    return "Z:" + os.path.abspath(path).replace("/", "\\")


def linux(name):
    return name[2:].replace("\\", "/") if name.startswith("Z:") else name


def copy_in(path):
    os.makedirs(NAMES, exist_ok=True)
    shutil.copy(path, os.path.join(NAMES, windows(path)))


def copy_out(name):
    """Copies the file `name` of names/ to its Windows path."""
    shutil.copy(os.path.join(NAMES, name), linux(name))


if __name__ == "__main__":
    modules = sorted(glob.glob(os.path.join(sys.argv[1], "*.o")))
    for module in modules:
        copy_in(module)
    # In quotes, a backslash is literal except before a quote.
    print("\n".join(sys.argv[2:] + ['"%s"' % windows(m) for m in modules]))
