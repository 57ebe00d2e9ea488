#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the headers of a later minor version of the ABI: each struct with a size
has more fields at its end.

  grow.py INCLUDE OUTPUT

INCLUDE and OUTPUT are folders with dtlto/PluginAPI.h."""

import pathlib
import re
import shutil
import sys


def main():
    include, output = map(pathlib.Path, sys.argv[1:])
    shutil.copytree(include, output)
    grown = 0
    for path in (output / "dtlto").rglob("*.h"):
        text, n = re.subn(
            r"(typedef struct \w+ \{\n  uint32_t size;.*?)(\n\} \w+;)",
            r"\1\n  uint64_t later[4];\2", path.read_text(), flags=re.DOTALL)
        text = text.replace("#define DTLTO_ABI_MINOR 0",
                            "#define DTLTO_ABI_MINOR 9")
        path.write_text(text)
        grown += n
    print("%d structs have grown" % grown)


if __name__ == "__main__":
    main()
