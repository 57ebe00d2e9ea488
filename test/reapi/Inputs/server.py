#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command with a stock server of the Remote Execution API on this machine.

  server.py [--limit=SECONDS] [--instance=NAME] [--just] -- COMMAND...

starts buildbox-casd, or with --just justbuild, which are content, action cache and
execution in one, waits until it listens, runs COMMAND, and stops the server with
all that it started, by process id, however COMMAND ended. The exit code is
COMMAND's.

COMMAND gets RECC_SERVER (and RECC_INSTANCE), REAPI_SESSION, the session of the
server's processes, and no other variable of recc's or
reclient's.

Debian has buildbox from sid on, and justbuild from Debian 13 on. Elsewhere, as root,
that of a chroot is used: DTLTO_BUILDBOX_ROOT, or what `scripts/in-debian sid apt-get
install buildbox justbuild` made. The chroot shares the network.
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
from daemons import Error, kill_session

START_LIMIT = 60
PROGRAM = "buildbox-casd"
JUST = "justbuild"


def chroot(program=PROGRAM):
    """A folder with a system that has the server, or None."""
    if os.geteuid() != 0:
        return None
    cache = os.environ.get("DTLTO_DEBIAN_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or
        os.path.join(os.environ.get("HOME") or "/root", ".cache"),
        "dtlto", "debian")
    root = (os.environ.get("DTLTO_BUILDBOX_ROOT") or
            os.path.join(cache, "sid", "root"))
    return root if os.path.exists(root + "/usr/bin/" + program) else None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, instance="", program=PROGRAM):
        self.program = program
        self.root = None if shutil.which(program) else chroot(program)
        if not self.root and not shutil.which(program):
            raise Error("there is no %s; Debian's sid has it" % program)
        self.folder = tempfile.mkdtemp(prefix="dtlto-casd-",
                                       dir=(self.root or "") + "/tmp")
        inside = self.folder[len(self.root or ""):]
        self.port = free_port()
        command = [JUST, "execute", "--compatible", "-p", str(self.port), "-i",
                   "127.0.0.1", "--local-build-root", inside + "/build"]
        if program == PROGRAM:
            command = [PROGRAM, "--buildbox-run=/usr/bin/buildbox-run-hosttools",
                       "--runner-arg=--staging-mode=copy-or-link",
                       "--bind=127.0.0.1:%d" % self.port]
            if instance:
                command.append("--server-instance=" + instance)
            command.append(inside)
        if self.root:
            command = ["chroot", self.root] + command
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, start_new_session=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": inside})

    def wait(self):
        end = time.monotonic() + START_LIMIT
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise Error("%s doesn't listen: %s" % (self.program, self.text()[-2000:]))

    def text(self):
        self.log.flush()
        with open(os.path.join(self.folder, "log"), errors="replace") as f:
            return f.read()

    def stop(self):
        kill_session(self.process.pid)
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--instance", default="")
    parser.add_argument("--just", action="store_true", help="justbuild")
    parser.add_argument("--where", action="store_true",
                        help="only say where the server is: / or a chroot; fails "
                             "if there is none")
    parser.add_argument("command", nargs="*")
    args = parser.parse_args()
    program = JUST if args.just else PROGRAM
    if args.where:
        where = "/" if shutil.which(program) else chroot(program)
        print(where or "nowhere")
        return 0 if where else 1
    server = Server(args.instance, program)
    try:
        server.wait()
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("RECC_", "RBE_"))}
        env["RECC_SERVER"] = "grpc://127.0.0.1:%d" % server.port
        env["REAPI_SESSION"] = str(server.process.pid)
        if args.instance:
            env["RECC_INSTANCE"] = args.instance
        return subprocess.run(args.command, env=env,
                              timeout=args.limit).returncode
    finally:
        server.stop()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Error, subprocess.TimeoutExpired, OSError) as e:
        sys.exit("server.py: %s" % e)
