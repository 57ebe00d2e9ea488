#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies the files that messages.py reads: copy.py SOURCES FOLDER"""

import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from messages import DOCUMENT, FOLDERS

top, to = sys.argv[1:]
for folder in FOLDERS:
    shutil.copytree(os.path.join(top, folder), os.path.join(to, folder))
os.makedirs(os.path.join(to, os.path.dirname(DOCUMENT)))
shutil.copy(os.path.join(top, DOCUMENT), os.path.join(to, DOCUMENT))
