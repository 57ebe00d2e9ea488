#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command with a stock icecream cluster on this machine.

  cluster.py [options] N -- COMMAND...

Starts a scheduler, a local daemon that runs no jobs, and N nodes in a network
namespace with only the loopback device. Waits until the scheduler knows all of
them, runs COMMAND there, and stops all daemons with their child processes by
process id, however COMMAND ended. The exit code is COMMAND's. Root isn't needed; as
root, the daemons change to the user icecc.

iceccd gives a node no job while the machine is busy, maybe with the next test. So
the daemons see a /proc/stat of an idle machine.

With --apart, the nodes are in another network namespace, at the end of a cable.

COMMAND gets ICECC_TEST_SOCKET (the local daemon), ICECC_TEST_REMOTEBUILD and
ICECC_TESTS (not with --apart: all nodes are at 127.0.0.1), ICECC_SCHEDULER, HOME,
CLUSTER_DIR, CLUSTER_SESSIONS (those of the nodes), and no other variable of
icecream's except those of --env.

An EVENT is <node>:<n>:<victim>, or any:<n>:<victim>: once that node (all nodes
together) has begun <n> jobs, the victim is killed with SIGKILL:

  node       that node with all its processes, compilers included
  busy       likewise, but not before it has a job
  scheduler  the scheduler
  local      the local daemon
  all        all nodes
  cable      no process: with --apart, the nodes' end of the cable goes down
"""

import argparse
import ctypes
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import daemons
from daemons import Error, kill_session, session_members
from network import NEAR, Cable, loopback_up
from scheduler import PORT as SCHEDULER_PORT, TextPort, wake

# Limits for waits, in seconds. The daemons search for a scheduler every 3 s.
START_LIMIT = 60

FIRST_PORT = 10246
INSIDE = "DTLTO_CLUSTER_INSIDE"


def enter_network():
    """Restarts this script with its own network and mount namespaces."""
    if os.environ.pop(INSIDE, None):
        return
    unshare = ["unshare", "-n", "-m"]
    if os.geteuid() != 0:
        unshare += ["-U", "-c", "--keep-caps"]
    os.execvpe(unshare[0], unshare + [sys.executable] + sys.argv,
               dict(os.environ, **{INSIDE: "1"}))


def look_idle(folder):
    MS_BIND = 4096
    with open("/proc/stat") as f:
        rest = f.readlines()[1:]
    path = os.path.join(folder, "stat")
    with open(path, "w") as f:
        f.write("cpu  0 0 0 1000 0 0 0 0 0 0\n" + "".join(rest))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(path.encode(), b"/proc/stat", None, MS_BIND, None) != 0:
        raise Error("can't mount over /proc/stat: " +
                    os.strerror(ctypes.get_errno()))


class Daemon(daemons.Server):
    def __init__(self, name, folder, cable=None, program="iceccd"):
        self.name, self.program = name, program
        self.there = cable.there if cable else []
        self.address = NEAR if cable else "127.0.0.1"
        self.log = os.path.join(folder, name + ".log")
        self.socket = os.path.join(folder, name + ".socket")
        self.base = os.path.join(folder, name + ".envs")

    def start(self, command, guard, **env):
        base = {k: v for k, v in os.environ.items()
                if not k.startswith("ICECC") and k != "USE_SCHEDULER"}
        self.spawn(guard, self.there + command, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, cwd="/",
                   env=dict(base, ICECC_TESTS="1", **env))

    def start_daemon(self, opts, guard, args):
        os.mkdir(self.base)
        if os.geteuid() == 0:
            os.chown(self.base, pwd.getpwnam("icecc").pw_uid, -1)
        self.start([self.program, "-s", "%s:%d" % (self.address, SCHEDULER_PORT),
                    "-n", "dtlto-test", "-N", self.name, "-b", self.base,
                    "-l", self.log, "-vvv"] + args + opts.daemon_arg,
                   guard, ICECC_TEST_SOCKET=self.socket)

    def wake(self):
        """Makes the daemon search for the scheduler: it does so every 3 s, and
        when something happens, such as a new client."""
        with socket.socket(socket.AF_UNIX) as s:
            try:
                s.connect(self.socket)
            except OSError:
                pass

    def begun(self):
        return len(re.findall(r"request for job \d+", self.read_log()))

    def done(self):
        return self.read_log().count(
            "Remote compilation completed with exit code 0")

    def environments(self):
        """Returns how many environments the node was sent."""
        return self.read_log().count("handle_transfer_env")


def wait_until(condition, what):
    end = time.monotonic() + START_LIMIT
    while not condition():
        if time.monotonic() > end:
            raise Error("%s after %d s" % (what, START_LIMIT))
        time.sleep(0.05)


class Killer(daemons.Killer):
    def __init__(self, event, scheduler, local, nodes, cable):
        super().__init__(event)
        which, self.count, victim = event
        self.nodes = nodes if which == "any" else [nodes[which - 1]]
        self.cable = cable if victim == "cable" else None
        self.is_busy_wanted = victim == "busy"
        self.victims = {"node": self.nodes, "busy": self.nodes,
                        "all": nodes, "local": [local],
                        "scheduler": [scheduler], "cable": []}[victim]

    def strike(self):
        if sum(node.begun() for node in self.nodes) < self.count:
            return False
        if self.cable:
            self.cable.cut()
        if self.is_busy_wanted and not self.hold():
            return False
        for daemon in self.victims:
            kill_session(daemon.process.pid)
        return True

    def hold(self):
        """Stops the nodes if they have a job; a short one may have ended in the
        meantime."""
        self.signal(signal.SIGSTOP)
        if (sum(node.begun() for node in self.nodes)
                > sum(node.done() for node in self.nodes)):
            return True
        self.signal(signal.SIGCONT)
        return False

    def signal(self, number):
        for node in self.nodes:
            for pid in session_members(node.process.pid):
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass


def event(text):
    match = re.fullmatch(
        r"(\d+|any):(\d+):(node|busy|scheduler|local|all|cable)", text)
    if not match:
        raise argparse.ArgumentTypeError("not an event: " + text)
    which = match[1] if match[1] == "any" else int(match[1])
    return which, int(match[2]), match[3]


def program(text):
    node, colon, path = text.partition(":")
    if not (node.isdigit() and colon and path):
        raise argparse.ArgumentTypeError("expected NODE:PROGRAM, not " + text)
    return int(node), path


def parse_args(words):
    p = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    daemons.add_options(p, event, limit=300)
    p.add_argument("--no-scheduler", action="store_true",
                   help="there is a local daemon, but no scheduler")
    p.add_argument("--apart", action="store_true",
                   help="the nodes are in another network, see above")
    p.add_argument("--iceccd", type=program, action="append", default=[],
                   metavar="NODE:PROGRAM",
                   help="that node's daemon is this one, of another platform")
    p.add_argument("--begun", type=int, metavar="MOST",
                   help="fail if the nodes began more jobs than that")
    p.add_argument("--environments", type=int, metavar="N",
                   help="fail unless environments were sent so often")
    opts = daemons.parse_args(p, words)
    for which, _, victim in opts.kill:
        if which != "any" and which > opts.count:
            p.error("there is no node %d" % which)
        if victim == "cable" and not opts.apart:
            p.error("there is no cable without --apart")
    return opts


def start(opts, folder, guard, started):
    """Starts the scheduler, the local daemon, the nodes and the cable, and adds
    them to `started`."""
    os.environ["PATH"] += ":/usr/sbin:/usr/local/sbin"
    for program in "iceccd", "icecc-scheduler":
        if not shutil.which(program):
            raise Error("there is no %s; install Debian's icecc" % program)
    # As root, the daemons change their user before they write.
    os.chmod(folder, 0o1777)

    scheduler = Daemon("scheduler", folder)
    local = Daemon("local", folder)
    cable = None
    if opts.apart:
        cable = Cable(guard)
        started.append(cable)
    nodes = [Daemon("node%d" % (i + 1), folder, cable,
                    dict(opts.iceccd).get(i + 1, "iceccd"))
             for i in range(opts.count)]
    if not opts.no_scheduler:
        started.append(scheduler)
        scheduler.start(["icecc-scheduler", "-p", str(SCHEDULER_PORT),
                         "-n", "dtlto-test", "-l", scheduler.log, "-vvv"],
                        guard)
        wait_until(lambda: "scheduler ready" in scheduler.read_log(),
                   "the scheduler isn't ready")
        port = TextPort(START_LIMIT)
    started.append(local)
    local.start_daemon(opts, guard, ["--no-remote", "-m", "0"])
    for i, node in enumerate(nodes):
        started.append(node)
        node.start_daemon(opts, guard, ["-p", str(FIRST_PORT + i),
                                        "-m", str(opts.jobs)])

    def ready():
        if opts.no_scheduler:
            return os.path.exists(local.socket)
        wake()
        for daemon in [local] + nodes:
            daemon.wake()
        known = port.nodes()
        return os.path.exists(local.socket) and all(
            daemon.name in known and not re.search(
                r"load=\d{4}", known[daemon.name])
            for daemon in [local] + nodes)
    wait_until(ready, "not all daemons are ready")
    if not opts.no_scheduler:
        port.close()
    return scheduler, local, nodes, cable


def run(opts, folder, guard, started):
    path = os.environ.setdefault("PATH", "")
    loopback_up()
    look_idle(folder)
    scheduler, local, nodes, cable = start(opts, folder, guard, started)
    home = os.path.join(folder, "home")
    os.mkdir(home)
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("ICECC") and k not in
           ("USE_SCHEDULER", "XDG_CACHE_HOME", "DTLTO_WORKER")}
    env.update(PATH=path, HOME=home, CLUSTER_DIR=folder,
               ICECC_TEST_SOCKET=local.socket,
               CLUSTER_SESSIONS=" ".join(str(node.process.pid)
                                         for node in nodes),
               ICECC_SCHEDULER="127.0.0.1:%d" % SCHEDULER_PORT)
    if not opts.apart:
        # Nodes at the loopback address, and broadcasts there.
        env.update(ICECC_TEST_REMOTEBUILD="1", ICECC_TESTS="1")
    for item in opts.env:
        name, _, value = item.partition("=")
        env[name] = value

    # The scheduler may have read a message without handling it until something
    # else happens. On a real farm, that is soon.
    ended = threading.Event()

    def others():
        while not ended.wait(0.5):
            wake()
    threading.Thread(target=others, daemon=True).start()
    try:
        code = daemons.run_command(
            opts.command, env, opts.limit,
            [Killer(event, scheduler, local, nodes, cable)
             for event in opts.kill])
    finally:
        ended.set()

    counts = daemons.count_jobs(opts, lambda: [node.done() for node in nodes])
    sent = sum(node.environments() for node in nodes)
    if opts.report:
        for node, jobs in zip(nodes, counts):
            print("cluster: %s: %d jobs" % (node.name, jobs))
        print("cluster: environments sent: %d" % sent)
        sys.stdout.flush()
    daemons.check_jobs(opts, counts)
    begun = sum(node.begun() for node in nodes)
    if opts.begun is not None and begun > opts.begun:
        raise Error("the nodes began %d jobs, not %d at the most" %
                    (begun, opts.begun))
    if opts.environments is not None and sent != opts.environments:
        raise Error("environments were sent %d times, not %d" %
                    (sent, opts.environments))
    return code


def print_stopped(servers):
    sessions = [server.process.pid for server in servers if server.process]
    left = sorted(pid for session in sessions for pid in session_members(session))
    print("cluster: stopped the sessions %s; processes left: %s" %
          (" ".join(map(str, sessions)),
           " ".join(map(str, left)) or "none"))
    sys.stdout.flush()


def main():
    opts = parse_args(sys.argv[1:])
    enter_network()
    return daemons.main(
        "cluster",
        lambda folder, guard, started: run(opts, folder, guard, started),
        print_stopped if opts.report else lambda servers: None)


if __name__ == "__main__":
    sys.exit(main())
