#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""links.py FOLDER: checks that each relative link in the documents (*.md) of
FOLDER leads to an existing file and, after a '#', to an existing heading."""

import re
import sys
from pathlib import Path

LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?)\s*$", re.M)


def without_code(text):
    """Removes fenced and indented blocks, and text in backquotes."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    text = re.sub(r"(?<=\n\n)(?: {4}.*\n|\n)+", "\n", text)
    return re.sub(r"`[^`\n]+`", "", text)


def anchors(text):
    """Returns the headings in the form that links use."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-")
            for h in HEADING.findall(text)}


def problem(document, link, top):
    path, _, anchor = link.partition("#")
    target = (document.parent / path).resolve() if path else document
    if not target.is_relative_to(top):
        return "leads out of the folder"
    if not target.is_file():
        return "leads to no file"
    if anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
        return "leads to no heading"
    return ""


def main():
    top = Path(sys.argv[1]).resolve()
    number, broken = 0, 0
    for document in sorted(top.rglob("*.md")):
        text = document.read_text(encoding="utf-8")
        for link in LINK.findall(without_code(text)):
            if re.match(r"[a-z]+:", link):
                continue
            number += 1
            why = problem(document, link, top)
            if why:
                broken += 1
                print(f"{document.relative_to(top)}: ({link}) {why}")
    print(f"{number} links, {broken} broken")
    return 1 if broken or not number else 0


if __name__ == "__main__":
    sys.exit(main())
