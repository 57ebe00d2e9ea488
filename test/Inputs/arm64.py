#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command in an environment where programs for arm64 run.

  arm64.py SYSROOT COMMAND...
  arm64.py SYSROOT --try

qemu's user mode runs them, with the libraries in SYSROOT, which
scripts/arm64-sysroot creates. qemu is registered with the kernel in a namespace of
the command's own (Linux 6.7 or later), so the machine's settings don't change.
Root isn't needed. With --try, exits with 0 if all requirements are met; otherwise
prints what is missing.
"""

import ctypes
import os
import shutil
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
BINFMT = "/proc/sys/fs/binfmt_misc"
# The first bytes of an executable or a shared library, and a mask for them.
MAGIC = (r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"
         r"\x02\x00\xb7\x00")
MASK = (r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff"
        r"\xfe\xff\xff\xff")


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def enter():
    """Creates user and mount namespaces that map all users to themselves: as
    root, daemons may change to their own users."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        # Only a process outside of the namespace may write its user map.
        try:
            os.close(go)
            if os.read(ready, 1) != b"x":
                os._exit(1)
            folder = "/proc/%d/" % os.getppid()
            if user == 0:
                every = "0 0 4294967295"
                write(folder + "uid_map", every)
                write(folder + "gid_map", every)
            else:
                write(folder + "setgroups", "deny")
                write(folder + "uid_map", "%d %d 1" % (user, user))
                write(folder + "gid_map", "%d %d 1" % (group, group))
            os._exit(0)
        except OSError as error:
            sys.stderr.write("arm64.py: %s\n" % error)
            os._exit(1)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "no namespaces: " +
                      os.strerror(ctypes.get_errno()))
    os.write(go, b"x")
    os.close(go)
    os.close(ready)
    if os.waitpid(child, 0)[1] != 0:
        raise OSError(0, "no users in the namespace")
    if libc.mount(b"binfmt_misc", BINFMT.encode(), b"binfmt_misc", 0, None) != 0:
        raise OSError(ctypes.get_errno(), "can't mount " + BINFMT + ": " +
                      os.strerror(ctypes.get_errno()))


def main():
    sysroot = os.path.realpath(sys.argv[1])
    command = sys.argv[2:]
    qemu = shutil.which("qemu-aarch64-static")
    if not qemu:
        sys.exit("arm64.py: there is no qemu-aarch64-static; install Debian's "
                 "qemu-user-static")
    if not os.path.exists(os.path.join(sysroot, ".complete")):
        sys.exit("arm64.py: '%s' is nothing that scripts/arm64-sysroot made" %
                 sysroot)
    try:
        enter()
        # F opens the interpreter now, so that it is available in a chroot as
        # well.
        write(BINFMT + "/register",
              ":dtlto-arm64:M::%s:%s:%s:F" % (MAGIC, MASK, qemu))
    except OSError as error:
        sys.exit("arm64.py: %s" % (error.strerror or error))
    if command == ["--try"]:
        return
    os.environ["QEMU_LD_PREFIX"] = sysroot
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
