#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-options.py OPTIONS.CPP DOCUMENT: whether the manual page or README
DOCUMENT has an entry for each option of the linker's table, and for no other."""

import re
import sys


def in_table(source):
    """The options of the linker, from the initializers of its table."""
    table = re.search(r"OptionInfo Table\[\] = \{(.*?)\n\};", source, re.S)
    if not table:
        sys.exit("no OptionInfo Table[] in the source: correct this script")
    return set(re.findall(r'^    \{"([^"]+)",', table.group(1), re.M))


def in_document(text):
    """The options that have an entry: an item of a list in mdoc, or the first
    column of a table in Markdown."""
    return set(
        re.findall(r"^\.It Fl Fl (thinlto-\S+)", text, re.M) +
        re.findall(r"^\| `--(thinlto-[a-z-]+)", text, re.M))


def main():
    source, document = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        options = in_table(file.read())
    with open(document, encoding="utf-8") as file:
        described = in_document(file.read())
    if not options:
        sys.exit(f"{source}: the table has no option: correct this script")
    for name in sorted(options - described):
        print(f"{document}: add --{name}, which {source} has")
    for name in sorted(described - options):
        print(f"{document}: remove --{name}, which {source} hasn't")
    sys.exit(options != described)


if __name__ == "__main__":
    main()
