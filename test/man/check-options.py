#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-options.py LINKER DOCUMENT: checks that the manual page or README
DOCUMENT has an entry for exactly the dtlto options in LINKER's help. Entries of
the README must have the same values."""

import re
import subprocess
import sys


def in_help(linker):
    """Returns the options and their values, as
    `thinlto-dist-fallback=local|none`."""
    text = subprocess.run([linker, "--help"], stdout=subprocess.PIPE,
                          check=True, universal_newlines=True).stdout
    return set(re.findall(r"^  --(thinlto-dist.*)", text.split("DTLTO OPTIONS")[1],
                          re.M))


def in_document(text):
    """Returns the options with an entry: an item of a list in mdoc, or the
    first column of a table in Markdown."""
    return set(
        re.findall(r"^\.It Fl Fl (thinlto-\S+)", text, re.M) +
        [entry.replace("\\|", "|")
         for entry in re.findall(r"^\| `--(thinlto-.*?)` \|", text, re.M)])


def main():
    linker, document = sys.argv[1:]
    options = in_help(linker)
    with open(document, encoding="utf-8") as file:
        described = in_document(file.read())
    if not document.endswith(".md"):
        options = {re.match("[a-z-]*", option)[0] for option in options}
    if len(options) < 10:
        sys.exit(f"{linker}: {len(options)} options in its help: correct this script")
    for name in sorted(options - described):
        print(f"{document}: add --{name}, which the help has")
    for name in sorted(described - options):
        print(f"{document}: remove --{name}, which the help hasn't")
    sys.exit(options != described)


if __name__ == "__main__":
    main()
