#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""link.py LLD_LINK COMPILER COMMAND...: links the modules that setup.py left in
names/ in-process, and with COMMAND, dtlto-distributor.exe under wine with its
arguments, as the distributor of an lld-link that supports one (LLVM 22). Fails
if the programs differ."""

import glob
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import names

lld_link, compiler, *command = sys.argv[1:]
relay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py")
modules = sorted(names.windows(f) for f in glob.glob("*.o") if ".native." not in f)
program = names.windows("out.exe")


def link(*args):
    subprocess.run([lld_link, "/entry:start", "/subsystem:console", "/Brepro",
                    *modules, "/out:" + program, *args], cwd=names.NAMES, check=True)
    with open(os.path.join(names.NAMES, program), "rb") as f:
        return f.read()


want = link()
have = link("/thinlto-remote-compiler:" + compiler,
            "/thinlto-distributor:" + sys.executable,
            *("/thinlto-distributor-arg:" + a for a in [relay, *command]))
if want != have:
    sys.exit("the programs differ")
print("the programs are the same, %d bytes" % len(want))
