#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a plugin's description with its manual page.

  check-man.py LINKER PAGE...

Fails if an argument or a variable is only in the output of
--thinlto-dist-plugin-help=NAME, or only in the page dtlto-NAME.7."""

import os
import re
import subprocess
import sys


def described(linker, plugin):
    """Returns the names in the plugin's help, by their section."""
    text = subprocess.run([linker, "--thinlto-dist-plugin-help=" + plugin],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    names = {"arguments": set(), "environment": set()}
    for line in text.splitlines():
        if title := re.match(r"(\w+).*:$", line):
            section = title[1]
        elif name := re.match(r"  ([^\s=<]+)", line):
            if not line.startswith("   "):
                names[section].add(name[1])
    return names


def documented(page):
    """Returns the names in the page, by their section."""
    text = open(page, encoding="utf-8").read()
    names = {}
    for section, macro in ("arguments", "Cm"), ("environment", "Ev"):
        part = re.search(r"^\.Sh %s\n([\s\S]*?)^\.Sh" % section.upper(), text, re.M)
        items = re.findall(r"^\.It %s (.*)" % macro, part[1] if part else "", re.M)
        names[section] = {name.split()[0].removeprefix(macro + " ")
                          for item in items
                          for name in re.sub(r", %s " % macro, ", ", item).split(", ")}
    return names


def main():
    linker, *pages = sys.argv[1:]
    wrong = False
    for page in pages:
        plugin = re.match(r"dtlto-(\w+)\.7", os.path.basename(page))[1]
        helped, paged = described(linker, plugin), documented(page)
        for section in helped:
            for name in sorted(helped[section] ^ paged[section]):
                wrong = True
                print("%s: %s is only in the %s" % (
                    plugin, name, "help" if name in helped[section] else "page"))
        print("%s: %d names" % (plugin, sum(map(len, helped.values()))))
    sys.exit(wrong)


main()
