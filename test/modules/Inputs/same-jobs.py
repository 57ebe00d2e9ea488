# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same-jobs.py FOLDER FOLDER: compares saved jobs except for the names for
users, which jobs for farms don't contain."""

import json
import sys
import tarfile
from pathlib import Path


def job(path):
    with tarfile.open(path) as tar:
        files = {m.name: tar.extractfile(m).read() for m in tar.getmembers()}
    manifest = json.loads(files.pop("manifest.json"))
    del manifest["name"], manifest["blake3"]
    return manifest, files


before, after = ({path.name: job(path) for path in Path(folder).iterdir()}
                 for folder in sys.argv[1:3])
print("\n".join(sorted(before)))
for name in sorted(before.keys() | after.keys()):
    if name not in before or name not in after or before[name] != after[name]:
        sys.exit(f"{name} differs")
if not before:
    sys.exit("no jobs")
