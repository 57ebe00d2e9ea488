#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""left.py [--objects]: fails if a program of ours still runs in this wine
prefix, or if one has left a temporary file or, without --objects, an object in
this folder. Waits a little for both."""

import glob
import os
import sys
import time

prefix = os.environ["WINEPREFIX"]


def processes():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as f:
                ours = ("WINEPREFIX=" + prefix).encode() in f.read().split(b"\0")
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                line = f.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if ours and any(name in line for name in (
                "clang.exe", "dtlto-distributor", "lld.exe", "lld-link.exe")):
            yield line


def files():
    return glob.glob(prefix + "/drive_c/users/*/AppData/Local/Temp/dtlto*") + \
        glob.glob(prefix + "/drive_c/users/*/Temp/dtlto*") + \
        glob.glob("*.tmp") + ([] if "--objects" in sys.argv else
                              glob.glob("*.native.o"))


end = time.monotonic() + 20
while True:
    left = list(processes()) + files()
    if not left:
        break
    if time.monotonic() > end:
        sys.exit("left: %s" % left)
    time.sleep(0.1)
