#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes compatible and incompatible changes to PluginAPI.h, and checks whether
check-baseline.py distinguishes them.

  mutate.py INCLUDE BASELINE

INCLUDE is the folder of the header. The changes are made in copies."""

import os
import re
import shutil
import subprocess
import sys

# Old text, new text, and whether the change is compatible.
CHANGES = [
    ("", "", True),
    ("  const char *avoid;\n", "  const char *avoid;\n  uint64_t later;\n", True),
    ("  const char *no_fallback;\n", "  const char *no_fallback;\n  int later;\n",
     True),
    # A field in the middle, a removed field, another type, another order.
    ("  const char *triple;", "  const char *new; const char *triple;", False),
    ("  const char *worker;\n} dtlto_result;", "} dtlto_result;", False),
    ("  uint64_t cost;\n", "  double cost;\n", False),
    ("  uint32_t reserved; /* 0 */\n", "", False),
    ("  uint32_t num_inputs;\n  uint32_t num_args;",
     "  uint32_t num_args;\n  uint32_t num_inputs;", False),
    # Structs without a size can't grow.
    ("size);\n} dtlto_buffer;", "size);\n  void *later;\n} dtlto_buffer;", False),
    # Other parameters, another return type.
    ("(*cancel)(dtlto_session *session, uint64_t job)",
     "(*cancel)(dtlto_session *session, const dtlto_job *job)", False),
    ("  void (*close)(dtlto_session *session);",
     "  int32_t (*close)(dtlto_session *session);", False),
]


def main():
    include, baseline = sys.argv[1:]
    check = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                         "check-baseline.py")
    with open(os.path.join(include, "dtlto", "PluginAPI.h")) as f:
        # Independent of clang-format's alignment of comments.
        header = re.sub(r"(?<=\S) +", " ", f.read())
    bad = 0
    for number, (old, new, compatible) in enumerate(CHANGES):
        if old not in header:
            sys.exit("'%s' is not in the header: correct this script" % old)
        folder = "change-%d" % number
        shutil.copytree(os.path.join(include, "dtlto"),
                        os.path.join(folder, "dtlto"))
        with open(os.path.join(folder, "dtlto", "PluginAPI.h"), "w") as f:
            f.write(header.replace(old, new, 1) if old else header)
        run = subprocess.run([sys.executable, check, "--include=" + folder,
                              baseline], stdout=subprocess.PIPE, text=True)
        if (run.returncode == 0) != compatible:
            bad += 1
            print("'%s' -> '%s': expected %s, but:\n%s" %
                  (old, new, "success" if compatible else "an error",
                   run.stdout))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
