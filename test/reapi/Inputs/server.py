#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command with a stock Remote Execution server on this machine.

  server.py [--limit=SECONDS] [--instance=NAME] [--just [--tls]] [--room=SIZE]
            [--restart-at=CALL [--wipe]] [--drop-at=CALL]
            [--proxy=certificates|tokens [--renew-at=CALL]] -- COMMAND...

Starts buildbox-casd, or with --just justbuild. Each is a content store, an action
cache and an execution service in one. Waits until the server listens, runs COMMAND,
and stops the server with all its child processes by process id, however COMMAND
ended. The exit code is COMMAND's.

COMMAND gets RECC_SERVER (and RECC_INSTANCE), REAPI_SESSION, the session of the
server's processes, REAPI_FOLDER, the folder of its contents, and no other variable
of recc's or reclient's.

  --tls        (justbuild) the server has a certificate. $REAPI_FOLDER has ca.pem,
               which signed it, client.pem, client.key, and other.pem, another
               authority
  --room       its contents are on a disk of that size, e.g. 100m. Needs root
  --restart-at (buildbox-casd) kills the server with all its processes and starts it
               again, when its log shows that call of the linker's, e.g. Execute, or
               `runner`, its first action. With --wipe, all contents are removed. It
               is an error if the call never appears
  --drop-at    from that call on, as above, the network drops all packets to and from
               the server. Needs root, the caller's own network namespace, and nft
  --proxy      a stock nginx with a certificate is in front of the server. It requires
               a client certificate that ca.pem has signed, or the token of
               $REAPI_FOLDER/token. COMMAND also gets stranger.pem and stranger.key,
               of the other authority, and wrong-token
  --renew-at   from that call on, as above, nginx requires another token, which is
               then in that file. It is an error if nginx refused nothing

Debian has buildbox since sid, and justbuild since Debian 13. On other systems, as
root, a chroot with them is used: DTLTO_BUILDBOX_ROOT, or the result of `scripts/in-debian
sid apt-get install buildbox justbuild`. The chroot shares the network.
"""

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
from daemons import Error, kill_session
import proxy

START_LIMIT = 60
PROGRAM = "buildbox-casd"
JUST = "justbuild"


def chroot(program=PROGRAM):
    """Returns the root folder of a system with the server, or None."""
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


def make_certificates(folder):
    """Creates an authority with certificates for a server and a client, and a
    second authority."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    new = ["req", "-newkey", "rsa:2048", "-nodes"]
    for name in "ca", "other":
        openssl(*new, "-x509", "-days", "2", "-subj", "/CN=" + name, "-keyout",
                name + ".key", "-out", name + ".pem")
    with open(os.path.join(folder, "names"), "w") as f:
        f.write("subjectAltName=IP:127.0.0.1\n")
    for name, ca in (("server", "ca"), ("client", "ca"), ("stranger", "other")):
        openssl(*new, "-subj", "/CN=" + name, "-keyout", name + ".key", "-out",
                name + ".csr")
        openssl("x509", "-req", "-days", "2", "-in", name + ".csr", "-CA",
                ca + ".pem", "-CAkey", ca + ".key", "-CAcreateserial", "-extfile",
                "names", "-out", name + ".pem")


def nft(*words):
    subprocess.run(["nft", *words], check=True,
                   env={"PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"})


def prepare_to_drop():
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    nft("add table inet dtlto")
    nft("add chain inet dtlto in { type filter hook input priority 0; }")


class Server:
    def __init__(self, instance="", program=PROGRAM, tls=False, room="",
                 log_level="error", before=""):
        self.program = program
        self.tls = tls
        self.before = before  # what a proxy requires; empty without a proxy
        self.proxy = None
        self.room = room
        self.process = None
        self.root = None if shutil.which(program) else chroot(program)
        if not self.root and not shutil.which(program):
            raise Error("there is no %s; Debian's sid has it" % program)
        self.folder = tempfile.mkdtemp(prefix="dtlto-casd-",
                                       dir=(self.root or "") + "/tmp")
        self.log_name = self.folder + ".log"
        self.log = open(self.log_name, "wb")
        try:
            self.prepare(instance, log_level)
            self.start()
        except BaseException:
            self.stop()
            raise

    def prepare(self, instance, log_level):
        if self.room:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + self.room,
                            "dtlto-test", self.folder], check=True)
        inside = self.folder[len(self.root or ""):]
        self.inside = inside
        self.port = free_port()
        if self.program == PROGRAM:
            self.command = [
                PROGRAM, "--buildbox-run=/usr/bin/buildbox-run-hosttools",
                "--runner-arg=--staging-mode=copy-or-link",
                "--bind=127.0.0.1:%d" % self.port, "--log-level=" + log_level]
            if self.room:
                # By default, it would reserve more space than there is.
                self.command.append("--reserved=0")
            if instance:
                self.command.append("--server-instance=" + instance)
            self.command.append(inside + "/contents")
        else:
            self.command = [JUST, "execute", "--compatible", "-p", str(self.port),
                            "-i", "127.0.0.1", "--local-build-root",
                            inside + "/contents"]
        if self.tls or self.before:
            make_certificates(self.folder)
        if self.before:
            self.proxy = proxy.Proxy(self.folder, free_port(), self.port,
                                     self.before == "tokens")
        if self.tls:
            for option, name in (("ca-cert", "ca.pem"),
                                 ("server-cert", "server.pem"),
                                 ("server-key", "server.key")):
                self.command += ["--tls-" + option, inside + "/" + name]
        if self.root:
            self.command = ["chroot", self.root] + self.command

    def start(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, start_new_session=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.inside})
        if self.proxy and not self.proxy.process:
            self.proxy.start()

    def wait(self):
        self.wait_for(self, self.program)
        if self.proxy:
            self.wait_for(self.proxy, "nginx")

    @staticmethod
    def wait_for(one, name):
        end = time.monotonic() + START_LIMIT
        while time.monotonic() < end:
            if one.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", one.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise Error("%s doesn't listen: %s" % (name, one.text()[-2000:]))

    def url(self):
        return "grpc%s://127.0.0.1:%d" % ("s" if self.tls or self.proxy else "",
                                          (self.proxy or self).port)

    def text(self):
        self.log.flush()
        with open(self.log_name, errors="replace") as f:
            return f.read()

    def kill(self):
        if self.process:
            kill_session(self.process.pid)
            self.process.wait()

    def restart(self, wipe):
        self.kill()
        if wipe:
            shutil.rmtree(self.folder + "/contents", ignore_errors=True)
        self.start()
        self.wait()

    def drop(self):
        for side in "sport", "dport":
            nft("add rule inet dtlto in tcp %s %d drop" % (side, self.port))

    def stop(self):
        self.kill()
        if self.proxy:
            self.proxy.stop()
        self.log.close()
        if self.room:
            subprocess.run(["umount", "--lazy", self.folder])
        shutil.rmtree(self.folder, ignore_errors=True)
        os.unlink(self.log_name)


class Watch(threading.Thread):
    """Acts on a server once, when its log shows a call."""

    def __init__(self, server, call, act):
        super().__init__()
        self.server, self.act = server, act
        # buildbox's own calls have another tool_name.
        self.sign = ("Forked runner process" if call == "runner" else
                     call + " request from .*tool_name=\"dtlto\",")
        self.ended = threading.Event()
        self.done = False
        self.problem = None

    def run(self):
        pattern = re.compile(self.sign)
        while not self.ended.wait(0.005):
            if pattern.search(self.server.text()):
                try:
                    self.act()
                    self.done = True
                except (Error, OSError) as e:
                    self.problem = str(e)
                return

    def end(self):
        self.ended.set()
        self.join()
        if not self.done:
            raise Error(self.problem or
                        "the server's log never had " + self.sign)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--instance", default="")
    parser.add_argument("--just", action="store_true", help="justbuild")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--room", default="", metavar="SIZE")
    parser.add_argument("--restart-at", default="", metavar="CALL")
    parser.add_argument("--wipe", action="store_true")
    parser.add_argument("--drop-at", default="", metavar="CALL")
    parser.add_argument("--proxy", default="", choices=("certificates", "tokens"))
    parser.add_argument("--renew-at", default="", metavar="CALL")
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
    call = args.restart_at or args.renew_at or args.drop_at
    if args.drop_at:
        prepare_to_drop()
    server = Server(args.instance, program, args.tls, args.room,
                    "debug" if call else "error", args.proxy)
    watch = None
    try:
        server.wait()
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("RECC_", "RBE_"))}
        env["RECC_SERVER"] = server.url()
        env["REAPI_SESSION"] = str(server.process.pid)
        env["REAPI_FOLDER"] = server.folder
        if args.instance:
            env["RECC_INSTANCE"] = args.instance
        if call:
            watch = Watch(server, call,
                          (lambda: server.restart(args.wipe)) if args.restart_at
                          else server.drop if args.drop_at else server.proxy.renew)
            watch.start()
        status = subprocess.run(args.command, env=env,
                                timeout=args.limit).returncode
        if watch:
            ended, watch = watch, None
            ended.end()
        if args.renew_at and not server.proxy.refused():
            raise Error("all calls had the new token, or none had to")
        return status
    finally:
        if watch:
            watch.ended.set()
            watch.join()
        server.stop()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Error, subprocess.TimeoutExpired, OSError) as e:
        sys.exit("server.py: %s" % e)
