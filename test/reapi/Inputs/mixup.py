# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mixup.py FOLDER: gives each result in buildbox-casd's action cache to another
action."""

import os
import sys

files = sorted(os.path.join(folder, name) for folder, _, names in
               os.walk(sys.argv[1]) for name in names)
texts = []
for name in files:
    with open(name, "rb") as f:
        texts.append(f.read())
if len(set(texts)) < 2:
    sys.exit("mixup.py: %s has no two results" % sys.argv[1])
for name, text in zip(files, texts[1:] + texts[:1]):
    os.unlink(name)  # it may be read-only
    with open(name, "wb") as f:
        f.write(text)
