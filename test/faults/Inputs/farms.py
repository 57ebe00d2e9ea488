# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stock daemons for runs of the campaign, and their faults."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

INPUTS = os.path.dirname(os.path.abspath(__file__))
for folder in "Inputs", "distcc/Inputs", "icecc/Inputs":
    sys.path.insert(0, os.path.join(INPUTS, "..", "..", folder))
import cases
import cluster
import daemons
import farm
import links
import scheduler
from daemons import kill, kill_session, session_members

CODEGEN_NAME = "dtlto-codegen"

# A compiler that is faulty on one host.
WRONG = """#!/bin/sh
case $TMPDIR in {whose}) ;; *) exec {real} "$@" ;; esac
case " $* " in
*" --version "*)
  test {how} = version || exec {real} "$@"
  {real} "$@" | sed 's/19\\.1\\../19.1.99/'
  exit ;;
esac
output= before=
for arg; do
  test "$before" = -o && output=$arg
  before=$arg
done
test {how} != failure || {{ echo "fatal error: no luck today" >&2; exit 1; }}
{real} "$@" || exit
case {how} in
object) printf '\\376' | dd of="$output" bs=1 seek=100 conv=notrunc 2>/dev/null ;;
job) ln "$output" {folder}/first.o 2>/dev/null || cat {folder}/first.o >"$output" ;;
esac
"""


class NoGuard:
    """No guard is needed: all processes end with the namespace."""

    def watch(self, session):
        pass


def wait_until(condition, limit):
    """Waits until condition() is true, at most `limit` seconds. Returns whether
    it is."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Farm:
    """`hosts` are the machines that compile."""

    key = None  # a farm with the same key can be reused

    def __init__(self):
        self.folder = daemons.make_folder()
        self.started = []
        self.hurt = False
        self.mounted = []

    def sessions(self):
        return [server.process.pid for server in self.started]

    def compilers(self):
        return [pid for server in self.hosts
                for pid, name in session_members(server.process.pid).items()
                if name != self.daemon]

    def stop(self):
        for server in self.started:
            server.stop()
        for path in self.mounted:
            subprocess.run(["umount", path], check=True)
        shutil.rmtree(self.folder)

    def each(self, which, number):
        for server in which:
            for pid in session_members(server.process.pid):
                kill(pid, number)

    def act(self, event, host):
        """Injects the process fault. Returns false if there was no such
        process."""
        server = self.hosts[host]
        self.hurt = True
        if event == "daemon killed":
            kill_session(server.process.pid)
        elif event == "all daemons killed":
            self.each(self.hosts, signal.SIGSTOP)
            for server in self.hosts:
                kill_session(server.process.pid)
        elif event == "child killed":
            return self.kill_child(server)
        elif event == "frozen":
            self.each([server], signal.SIGSTOP)
        elif event == "all frozen":
            self.each(self.hosts, signal.SIGSTOP)
        elif event == "thawed":
            self.each(self.hosts, signal.SIGSTOP)
            threading.Timer(0.7, self.each, (self.hosts, signal.SIGCONT)).start()
        return True

    def kill_child(self, server):
        """Returns a process of the daemon that serves a job."""
        def serving():
            return {farm.parent_of(pid) for pid, name in session_members(
                server.process.pid).items() if name != self.daemon} - {
                    server.process.pid, 0}
        if not wait_until(serving, 0.3):
            return False
        for pid in list(serving())[:1]:
            kill(pid)
        return True

    def fill_disk(self, path):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k,mode=1777", "tmpfs",
                        path], check=True)
        self.mounted.append(path)
        self.hurt = True


class DistccFarm(Farm):
    daemon = "distccd"

    def __init__(self, case):
        super().__init__()
        self.key = self.key_of(case)
        codegen = case["plugin"] == "codegen"
        self.compiler = str(links.CODEGEN) if codegen else None
        words = ["--jobs=%d" % cases.SLOTS, "--daemon-arg=--nice",
                 "--daemon-arg=0"]
        if case["event"] in cases.WRONG:
            self.hurt = True
            whose = "|".join("*/daemon%d/*" % (host + 1)
                             for host in range(cases.HOSTS)
                             if cases.is_wrong(case, host))
            shared = os.path.join(self.folder, "shared")
            os.mkdir(shared)
            os.chmod(shared, 0o777)
            path = os.path.join(self.folder, CODEGEN_NAME)
            with open(path, "w") as f:
                f.write(WRONG.format(
                    whose=whose, how=case["event"].split()[1], folder=shared,
                    real=links.CODEGEN if codegen else farm.CLANG))
            os.chmod(path, 0o755)
            if codegen:
                self.compiler = path
            else:
                words += ["--compiler=%d:%s" % (host + 1, path)
                          for host in range(cases.HOSTS)]
        if codegen:
            words += ["--only-allow=%d:%s" % (host + 1, self.compiler)
                      for host in range(cases.HOSTS)]
        opts = farm.parse_args(words + [str(cases.HOSTS), "--", "x"])
        self.hosts, _ = farm.start(opts, self.folder, NoGuard(), self.started)
        if case["event"] == cases.SERVER_FULL:
            for number, host in enumerate(self.hosts):
                if cases.is_wrong(case, number):
                    self.fill_disk(host.temp)

    @staticmethod
    def key_of(case):
        return case["plugin"]

    def lacks_worker(self):
        return False

    def temporary_files(self):
        return [name for host in self.hosts for name in os.listdir(host.temp)]


class IceccFarm(Farm):
    daemon = "iceccd"
    compiler = None

    def __init__(self, case):
        super().__init__()
        self.key = self.key_of(case)
        opts = cluster.parse_args(
            ["--jobs=%d" % cases.SLOTS, "--daemon-arg=--nice", "--daemon-arg=0",
             str(cases.HOSTS), "--", "x"])
        self.scheduler, self.local, self.hosts, _ = cluster.start(
            opts, self.folder, NoGuard(), self.started)
        # A node that was sent something wrong can't be reused.
        self.hurt = case["event"] in cases.WRONG
        self.ended = threading.Event()
        threading.Thread(target=self._wake, daemon=True).start()

    def _wake(self):
        """Wakes the scheduler regularly: it may not look at a message until
        something else happens."""
        while not self.ended.wait(0.25):
            scheduler.wake()

    @staticmethod
    def key_of(case):
        """Returns no key if the environment matters: it is sent only once."""
        return None if case["state"] == "environment" else case["plugin"]

    def act(self, event, host):
        if event.startswith(("scheduler", "local")):
            self.hurt = True
            server = self.local if event[0] == "l" else self.scheduler
            if event.endswith("frozen"):
                self.each([server], signal.SIGSTOP)
            else:
                kill_session(server.process.pid)
            return True
        return super().act(event, host)

    def kill_child(self, server):
        """Returns the processes that serve a job: in a chroot, an iceccd runs
        the compiler, so there may be one or two."""
        def children():
            return set(session_members(server.process.pid)) - {server.process.pid}
        if not wait_until(children, 0.3):
            return False
        for pid in list(children())[:1]:
            kill(pid)
        return True

    def stop(self):
        self.ended.set()
        super().stop()

    def lacks_worker(self):
        """Returns whether a node must be sent the environment first."""
        return not all(node.environments() for node in self.hosts)

    def temporary_files(self):
        return []
