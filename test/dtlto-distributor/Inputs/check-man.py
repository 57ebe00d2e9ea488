#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-man.py PAGE: checks that the list of options in PAGE has exactly those
of the help on standard input."""

import re
import sys

described = set()
with open(sys.argv[1]) as page:
    for line in page:
        if line.startswith(".It Fl Fl"):
            words = line.split()[3:]
            # mdoc shows one dash before an option, unless the option has its
            # own dashes.
            described.update(re.findall(r"(?:^| , Fl Fl )([a-z-]+)",
                                        " ".join(words)))
told = set(re.findall(r"--([a-z-]+)", sys.stdin.read().partition("index-only.\n")[2]))
told -= {"thinlto-prefix-replace"}
if len(told) < 10 or told != described:
    sys.exit("only in the help: %s; only in the page: %s" %
             (told - described, described - told))
