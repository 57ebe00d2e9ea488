# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What files a command makes, and how many bytes it puts into files, by strace.

Bytes are those that write() and its like put into regular files, and the sizes
of shared mappings for writing, which is how LLD writes its output. Pipes,
sockets, devices and memory files are none. A call that copies from file to file
within the kernel would be missed, so it is an error."""

import re
import shutil

import benchlib

WRITES = {"write", "pwrite64", "writev", "pwritev", "pwritev2"}
COPIES = {"sendfile", "copy_file_range", "splice"}
OPENS = {"open", "openat", "openat2", "creat"}
FORKS = {"clone", "clone3", "fork", "vfork"}
TRACED = [*WRITES, *COPIES, *OPENS, *FORKS, "mmap"]

# <thread> <call>(<arguments>) = <result>
CALL = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+)(.*)")
RESUMED = re.compile(r"(\d+) +<\.\.\. \w+ resumed>(.*)")
UNFINISHED = " <unfinished ...>"
# A descriptor as `strace -y` writes it, of something with a path.
FILE = r"<(/[^<>]*)>"
MAPPING = re.compile(
    r"\w+, (\d+), \S*PROT_WRITE\S*, MAP_SHARED\S*, \d+" + FILE
)
NO_FILES = ("/dev/", "/proc/", "/sys/", "/memfd:")


def wrap(output):
    """Words to put before a command, for a trace of it in the file `output`."""
    if not shutil.which("strace"):
        benchlib.fail("there is no strace; scripts/bootstrap installs it")
    return [
        "strace", "--follow-forks", "--seccomp-bpf", "-qq", "--decode-fds=path",
        "-s", "0", "-e", f"trace={','.join(TRACED)}", "-e", "signal=none",
        "-o", str(output),
    ]


def whole(lines):
    """The lines of a trace, without those that another thread's came between:
    these are put together."""
    begun = {}
    for line in lines:
        resumed = RESUMED.match(line)
        if resumed:
            line = begun.pop(resumed[1], "") + resumed[2]
        if line.endswith(UNFINISHED):
            begun[line.split(" ", 1)[0]] = line[: -len(UNFINISHED)]
        else:
            yield line


class Files:
    """Bytes put into files, and names of files that were made."""

    def __init__(self):
        self.bytes = 0
        self.made = set()

    def put(self, path, count):
        if not path.startswith(NO_FILES):
            self.bytes += count

    def make(self, path):
        if not path.startswith(NO_FILES):
            self.made.add(path)


class Trace:
    """What the command itself did (`own`, with its threads), and what the
    processes that it started did (`others`)."""

    def __init__(self, path):
        self.own, self.others = Files(), Files()
        text = path.read_text(errors="replace")
        calls = [CALL.match(line) for line in whole(text.splitlines())]
        calls = [call for call in calls if call]
        if not calls:
            benchlib.fail(f"strace wrote nothing of use to {path}")
        # A thread's first call may come before the line that starts it.
        own = {calls[0][1]}
        for call in calls:
            if call[2] in FORKS and "CLONE_THREAD" in call[3]:
                if call[1] in own:
                    own.add(call[4])
        for call in calls:
            if not call[4].startswith("-"):
                files = self.own if call[1] in own else self.others
                self._read(files, call[2], call[3], call[4], call[5])

    @staticmethod
    def _read(files, name, arguments, result, rest):
        if name in COPIES:
            benchlib.fail(f"a call that isn't counted: {name}({arguments})")
        if name in WRITES:
            target = re.match(r"\d+" + FILE, arguments)
            if target:
                files.put(target[1], int(result))
        elif name == "mmap":
            target = MAPPING.match(arguments)
            if target:
                files.put(target[2], int(target[1]))
        elif name in OPENS:
            target = re.match(FILE, rest)
            flags = "O_CREAT" in arguments or "O_TMPFILE" in arguments
            if target and (flags or name == "creat"):
                files.make(target[1])
