#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""terminal.py COMMAND...: runs it on a terminal, which wine treats as a
console."""

import os
import shlex
import sys

os.execvp("script", ["script", "-qec", shlex.join(sys.argv[1:]), "/dev/null"])
