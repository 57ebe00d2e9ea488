# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints how many objects the cache FOLDER has, and how many of them have the
name and the bytes of one in STOCKS: entries.py FOLDER STOCKS"""

import glob
import os
import sys


def entries(folder):
    return {os.path.basename(path): open(path, "rb").read()
            for path in glob.glob(os.path.join(folder, "llvmcache-*"))}


have, stocks = entries(sys.argv[1]), entries(sys.argv[2])
for name in have:
    # LLVM's pruning considers names of this form.
    assert len(name) == len("llvmcache-") + 40, name
same = sum(have[name] == stocks[name] for name in have if name in stocks)
known = sum(bytes in stocks.values() for bytes in have.values())
print(f"{len(have)} objects, {same} of stock's, {known} with stock's bytes")
