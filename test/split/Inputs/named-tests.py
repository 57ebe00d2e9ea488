# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""named-tests.py TOP: fails if a row of docs/design/parts.md names no test."""

import re
import sys
from pathlib import Path

top = Path(sys.argv[1])
table = (top / "docs/design/parts.md").read_text()
unit_tests = set(re.findall(r"TEST_F\(ModulePartTest, (\w+)\)", (
    top / "unittests/Compile/ModulePartTest.cpp").read_text()))
features = set(re.findall(r"^(?:c|c\+\+|ll) ([\w-]+)", (
    top / "test/split/Inputs/torture/features.py").read_text(), re.M))
rows = [line.strip("|\n ").split(" | ") for line in table.splitlines()
        if line.startswith("| ")][1:]
missing = []
for row in rows:
    tests = [name.strip() for name in row[-1].split(",") if name.strip()]
    missing += ["%s has no test" % row[0]] * (len(row) != 3 or not tests)
    for name in tests:
        if name.endswith(".test"):
            found = (top / "test/split" / name).exists()
        elif name.startswith("torture/"):
            found = name[len("torture/"):] in features
        else:
            found = name in unit_tests
        missing += ["%s: there is no %s" % (row[0], name)] * (not found)
if len(rows) < 40 or missing:
    sys.exit("\n".join(missing) or "the table is too short")
