#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-options.py LINKER DISTRIBUTOR: each option of the linker's help is in
the distributor's help, or the distributor refuses it."""

import re
import subprocess
import sys


def output(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True).stdout


linker, distributor = sys.argv[1:]
of_linker = set(re.findall(r"^  --thinlto-dist-([a-z-]+)",
                           output(linker, "--help"), re.M))
taken = set(re.findall(r" --([a-z-]+)", output(distributor, "--help")))
refused = {name for name in of_linker
           if "does not apply" in output(distributor, "--" + name + "=x", "a.json")}
if len(of_linker) < 10 or of_linker - taken != refused:
    sys.exit("neither taken nor refused, or both: %s" %
             ((of_linker - taken) ^ refused))
