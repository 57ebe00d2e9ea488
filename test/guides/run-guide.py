#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Follows a guide: writes the files and runs the commands of its fenced blocks, in
order, in one folder.

The text after the language of a block determines its use:

    ```make make file=Makefile     a file of the example "make"
    ```cpp file=main.cpp           a file of all examples
    ```sh make                     commands of the example "make"
    ```sh                          commands of no example: not run

With --checkout, the folder has links to everything in that checkout except build
folders. The shell reads the file of --before first.

With --jobs, each link through a plugin saves its jobs in that folder. It is an error
if there are none, because a link without its plugin gives the same program.
"""

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path


def blocks(text):
    """Yields (language, names, file or None, lines) of each fenced block."""
    for match in re.finditer(r"^```(\S+)(.*)\n((?:.*\n)*?)```$", text, re.M):
        words = match[2].split()
        files = [w.removeprefix("file=") for w in words if w.startswith("file=")]
        names = [w for w in words if not w.startswith("file=")]
        yield match[1], names, files[0] if files else None, match[3]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("guide", type=Path)
    parser.add_argument("example")
    parser.add_argument("folder", type=Path, help="is made if it isn't there")
    parser.add_argument("--jobs", type=Path)
    parser.add_argument("--checkout", type=Path)
    parser.add_argument("--before", type=Path)
    args = parser.parse_args()

    args.folder.mkdir(parents=True, exist_ok=True)
    if args.checkout:
        for entry in args.checkout.absolute().iterdir():
            if not entry.name.startswith((".git", "build")):
                (args.folder / entry.name).symlink_to(entry)
    commands = [args.before.read_text()] if args.before else []
    plugin = "-Wl,--thinlto-dist-plugin="
    for language, names, file, text in blocks(args.guide.read_text()):
        if names and args.example not in names:
            continue
        if args.jobs:
            keep = f"-Wl,--thinlto-dist-save-jobs={args.jobs.absolute()},"
            text = text.replace(plugin, keep + plugin.removeprefix("-Wl,"))
        if file:
            (args.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (args.folder / file).write_text(text)
        elif names and language == "sh":
            commands.append(text)
    if len(commands) == bool(args.before):
        sys.exit(f"{args.guide}: no commands of '{args.example}'")
    # -e: the script ends at the first command that fails.
    script = "set -euxo pipefail\n" + "".join(commands)
    environment = dict(os.environ, LC_ALL="C")
    for name in ("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "AR"):
        environment.pop(name, None)
    done = subprocess.Popen(
        ["bash", "-c", script],
        cwd=args.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        done.wait(timeout=1200)  # seconds; a slow machine takes 300
    finally:  # also servers that a failed script has left
        with contextlib.suppress(ProcessLookupError):
            os.killpg(done.pid, signal.SIGKILL)
    if done.returncode == 0 and args.jobs and not list(args.jobs.glob("*.tar")):
        sys.exit(f"{args.guide}: '{args.example}' links without the plugin")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
