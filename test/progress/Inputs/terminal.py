#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command on its own terminal, and prints what the terminal showed.

    terminal.py [--columns=N] [--frames=FILE] COMMAND...

Standard output gets the final screen, line by line. FILE gets each text that a line
had when it was overwritten, erased or left. The terminal supports a carriage return
and `ESC [ K`, and shows a `?` for anything else. The exit code is the command's.
"""

import argparse
import fcntl
import os
import pty
import select
import struct
import sys
import termios

LIMIT = 120  # seconds


class Screen:
    def __init__(self):
        self.lines, self.line, self.column, self.frames = [], [], 0, []

    def leave(self):
        if self.line:
            self.frames.append("".join(self.line))

    def feed(self, text):
        i = 0
        while i < len(text):
            if text.startswith("\x1b[K", i):
                self.leave()
                del self.line[self.column:]
                i += 3
                continue
            c = text[i]
            i += 1
            if c == "\r":
                self.column = 0
            elif c == "\n":
                self.leave()
                self.lines.append("".join(self.line))
                self.line, self.column = [], 0
            else:
                self.line[self.column:self.column + 1] = c if c >= " " else "?"
                self.column += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("--frames")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()

    pid, fd = pty.fork()
    if pid == 0:
        size = struct.pack("HHHH", 24, args.columns, 0, 0)
        fcntl.ioctl(2, termios.TIOCSWINSZ, size)
        os.environ.pop("COLUMNS", None)
        os.execvp(args.command[0], args.command)
    data = b""
    while True:
        if not select.select([fd], [], [], LIMIT)[0]:
            os.kill(pid, 9)
            sys.exit("terminal.py: nothing for {} s".format(LIMIT))
        try:
            part = os.read(fd, 65536)
        except OSError:  # end of file on a terminal in Linux
            part = b""
        if not part:
            break
        data += part
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    screen = Screen()
    # The terminal itself converts \n to \r\n.
    screen.feed(data.decode("utf-8", "replace").replace("\r\n", "\n"))
    screen.leave()
    for line in screen.lines + (["".join(screen.line)] if screen.line else []):
        print(line)
    if args.frames:
        with open(args.frames, "w", encoding="utf-8") as f:
            f.writelines(line + "\n" for line in screen.frames)
    sys.exit(code if code >= 0 else 128 - code)


main()
