#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""design.py TOP DOCUMENT: fails unless each `file:function` in DOCUMENT is
defined in that file, and DOCUMENT has at most 300 lines."""

import re
import sys
from pathlib import Path

MAX_LINES = 300
NAMED = re.compile(r"`([\w./-]+\.(?:cpp|h)):(\w+)`")
IGNORED = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.S)
# The text after a definition's parameters: the body, maybe after a
# constructor's initializers.
BODY = re.compile(r"\s*(?:const\b|override\b|noexcept\b|\s)*(?:->[^;{]*|:\s[^;]*?)?\{")


def defines(code, function):
    """Returns whether `function` has a body in `code`."""
    for match in re.finditer(r"(?<!\w)%s\(" % function, code):
        depth, end = 1, match.end()
        while depth and end < len(code):
            depth += (code[end] == "(") - (code[end] == ")")
            end += 1
        if BODY.match(code, end):
            return True
    return False


def problem(top, file, function):
    if not (top / file).is_file():
        return "there is no %s" % file
    code = IGNORED.sub(" ", (top / file).read_text(encoding="utf-8"))
    if not defines(code, function):
        return "%s has no function %s" % (file, function)
    return ""


def main():
    top, document = Path(sys.argv[1]), Path(sys.argv[2])
    text = document.read_text(encoding="utf-8")
    named = NAMED.findall(text)
    problems = [why for file, function in named
                if (why := problem(top, file, function))]
    missing = len(problems)
    if text.count("\n") > MAX_LINES:
        problems.append("%s has %d lines, over %d"
                        % (document.name, text.count("\n"), MAX_LINES))
    print("\n".join(problems), end="\n" if problems else "")
    print("%d functions, %d missing" % (len(named), missing))
    return 1 if problems or not named else 0


if __name__ == "__main__":
    sys.exit(main())
