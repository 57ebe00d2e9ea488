#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the messages in the sources with those in docs/MESSAGES.md.

    messages.py SOURCES [--list]

A message is what is passed to one of CALLS below, or assigned to one of VARIABLES:
the text of its string literals, with `...` for the text between them. A message that
is put together elsewhere isn't found, so the check can't prove that the document is
complete. But it reminds authors of usual messages to document them. --list prints
the messages that were found.

The document has messages as items in backquotes at the beginning of a line:

    - `unknown option ...`

The document must have exactly the messages of the sources.
"""

import glob
import os
import re
import sys

FOLDERS = ("lib/Core", "lld-hooks", "plugins/common", "plugins/local",
           "plugins/distcc", "plugins/icecc", "plugins/distributor",
           "plugins/make", "plugins/reapi", "tools/dtlto-codegen", "tools/dtlto-distributor",
           "include/dtlto/sdk")
DOCUMENT = "docs/MESSAGES.md"

# Functions whose arguments reach the user. Notes of --verbose don't count.
CALLS = ("warning", "emit", "error", "note", "fail", "Fail", "invalid",
         "wrongValue", "failure", "failed", "broken", "createStringError", "addError",
         "warnLimited", "failWithoutFallback", "violation", "leaveOut", "push_back",
         "rest", "recordFailure", "infrastructure", "withFirstLine", "nodeFailed", "refuse",
         "Error", "Fault")

# Variables in which messages are often put together.
VARIABLES = ("Error", "Problem", "Text", "Why", "WhyNot", "Reason")

CALL = re.compile(r"(?<![\w:~])(?:\w+(?:\.|->))*(%s)\(" % "|".join(CALLS))
ASSIGNMENT = re.compile(r"(?<!\w)(?:\w+(?:\.|->))*(?:%s) \+?=(?!=)"
                        % "|".join(VARIABLES))
# Functions that return a part of a message, and the text for it.
PARTS = {r'join\(NotExpressible, ", "\)': "X",
         r"\bplugin\(\)": '"plugin \'" + X + "\': "',
         r"\bargumentProblem\([^()]*\)": '"unknown argument " + X',
         r"\bmodule\([^()]*\)": '"module \'" + X + "\'"',
         r"\bofJob\([^()]*\)": '"plugin \'" + X + "\': module \'" + X + "\': "',
         r"\bofAll\((?:[^()]|\(\))*\)": 'X + " of " + X'}
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def without_comments(text):
    """Removes comments, and keeps line breaks and string literals."""
    def blank(match):
        found = match.group(0)
        return found if found[0] in "\"'" else re.sub(r"[^\n]", " ", found)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*.*?\*/',
                  blank, text, flags=re.S)


def arguments(text, at):
    """Returns the text from `at` to the parenthesis that closes an open one, or
    to the end of the statement."""
    depth, i = 1, at
    while i < len(text) and depth and text[i] != ";":
        c = text[i]
        if c == '"':
            i = STRING.match(text, i).end()
            continue
        if c == "'":
            i = re.compile(r"'(?:[^'\\]|\\.)+'").match(text, i).end()
            continue
        depth += (c == "(") - (c == ")")
        i += 1
    return text[at:i - 1] if depth == 0 else text[at:i]


def message(code):
    """Returns the template of the literals in `code`; empty if there is no
    word."""
    for part, text in PARTS.items():
        code = re.sub(part, text, code)
    parts, end = [], 0
    for match in STRING.finditer(code):
        if code[end:match.start()].strip() not in ("", "+"):
            parts.append("...")
        parts.append(match.group(1).replace('\\"', '"').replace("\\\\", "\\"))
        end = match.end()
    if end and code[end:].strip():
        parts.append("...")
    text = re.sub(r"(\.\.\.\s*)+", lambda m: "... " if m.group(0)[-1] == " "
                  else "...", "".join(parts))
    text = re.sub(r"^[.\s:,;']+|[\s,;:]*(\.\.\.)?[\s]*$", "", text)
    return text if re.search(r"[A-Za-z]{3,} [A-Za-z]{2,}", text) else ""


def in_sources(top):
    found = {}
    for folder in FOLDERS:
        for name in sorted(glob.glob("**/*", root_dir=os.path.join(top, folder),
                                     recursive=True)):
            if not name.endswith((".cpp", ".h", ".hpp")):
                continue
            path = os.path.join(folder, name)
            with open(os.path.join(top, path), encoding="utf-8") as f:
                text = without_comments(f.read())
            for match in [*CALL.finditer(text), *ASSIGNMENT.finditer(text)]:
                template = message(arguments(text, match.end()))
                if template:
                    line = text.count("\n", 0, match.start()) + 1
                    found.setdefault(template, "%s:%d" % (path, line))
    return found


def in_document(top):
    with open(os.path.join(top, DOCUMENT), encoding="utf-8") as f:
        return re.findall(r"^- ``? ?(.*?) ?``?(?:$|[ :])", f.read(), re.M)


def main():
    top = sys.argv[1]
    sources = in_sources(top)
    if "--list" in sys.argv[2:]:
        for template, where in sources.items():
            print("%s\t%s" % (where, template))
        return 0
    document = in_document(top)
    missing = [t for t in sources if t not in document]
    stale = [t for t in document if t not in sources]
    for template in missing:
        print("%s: not in %s: %s" % (sources[template], DOCUMENT, template))
    for template in stale:
        print("%s: no such message in the sources: %s" % (DOCUMENT, template))
    print("%d messages" % len(sources))
    return 1 if missing or stale or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
