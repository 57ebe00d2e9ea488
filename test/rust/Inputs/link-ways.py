#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The linker that rustc calls. Links with stock LLD, and then with ours in each
way of the file LINK_WAYS, whose lines have clang's options. All outputs must be
identical, byte for byte. LINK_CLANG, LINK_STOCK and LINK_OURS name the
programs. Without LINK_WAYS, there is only the stock link."""

import filecmp
import os
import shlex
import subprocess
import sys
from pathlib import Path


def link(linker, options, output, arguments):
    place = arguments.index("-o") + 1
    arguments = [*arguments[:place], output, *arguments[place + 1:]]
    command = [os.environ["LINK_CLANG"], "--ld-path=" + linker, *arguments, *options]
    code = subprocess.run(command).returncode
    if code != 0:
        sys.exit(code)


def main():
    arguments = sys.argv[1:]
    output = arguments[arguments.index("-o") + 1]
    # In place, so that all links use the same path.
    link(os.environ["LINK_STOCK"], [], output, arguments)
    ways = os.environ.get("LINK_WAYS")
    if not ways:
        return
    stock = output + ".stock"
    os.replace(output, stock)
    for way in Path(ways).read_text().splitlines():
        link(os.environ["LINK_OURS"], shlex.split(way), output, arguments)
        if not filecmp.cmp(stock, output, shallow=False):
            sys.exit(f"link-ways: '{output}' is other than stock LLD's with {way}")


main()
