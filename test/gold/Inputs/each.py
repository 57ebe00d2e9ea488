# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command once for each linker.

  each.py LINKERS compare COMMAND... [OPTION...] -- ARGUMENT...
  each.py LINKERS FOLDER WORD...

With compare, COMMAND gets the linker's name before its arguments. Otherwise, in each
WORD, {} stands for the launcher in FOLDER and {name} for its name. LINKERS has
commas. Exits with the code of the first command that fails.
"""

import os
import subprocess
import sys

linkers, folder, *words = sys.argv[1:]
for linker in linkers.split(","):
    if folder == "compare":
        at = words.index("--")
        command = words[:at] + [linker] + words[at + 1:]
    else:
        command = [word.replace("{}", os.path.join(folder, linker)).replace("{name}", linker)
                   for word in words]
    print("%s:" % linker, flush=True)
    code = subprocess.run(command, stderr=subprocess.STDOUT).returncode
    if code != 0:
        sys.exit(code)
