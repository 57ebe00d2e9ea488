#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command with a farm of stock distccd daemons on this machine.

  farm.py [options] N -- COMMAND...

Starts N daemons, each with its own port, log and folder, and waits until each
answers. Runs COMMAND, and stops the daemons with all their child processes by
process id, however COMMAND ended. The exit code is COMMAND's. Root isn't needed; as
root, the daemons change to their own user, as distccd does.

COMMAND gets DISTCC_HOSTS, DISTCC_DIR and HOME, and no other DISTCC_ variable of the
caller's. In COMMAND and in --hosts, --env, --file and --daemon-arg these are
replaced:

  {port1} {port2} ...    the ports of the daemons
  {stats1} {stats2} ...  the ports of their statistics (with --stats)
  {mock1} {mock2} ...    the ports of the mocks (with --mock)
  {closed}               a port where no process listens
  {dir}                  DISTCC_DIR, a temporary folder

and PORT1, MOCK1, FARM_DIR are set in the environment.

An EVENT is <daemon>:<begun|done>:<n>:<victim>; once daemon <daemon> has begun or
done <n> jobs, the victim is killed with SIGKILL, or frozen with SIGSTOP:

  daemon    that daemon with all its processes, compilers included
  all       all daemons
  child     a process of the daemon that serves a job; the compiler keeps running
  compiler  the compilers of that daemon
  frozen    that daemon with all its processes: they are stopped, and keep their
            connections open
"""

import argparse
import os
import pwd
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
import daemons
from daemons import Error, kill, kill_session, session_members

# The limit for a wait, in seconds. A wait is short unless something is broken.
START_LIMIT = 30

# The linker's clang, under a name that Debian's distccd allows.
CLANG = os.environ.get("DTLTO_TEST_CLANG", "/usr/bin/clang-19")

# A daemon's compiler if it isn't the plain one. Queries for its version are
# answered at once.
COMPILER = """#!/bin/sh
for arg; do
  case $arg in @*)
{job}
  esac
done
exec {clang} "$@"
"""

# Compiles never end: the real clang waits for a response file that is never
# written.
GATED = """\
    : > {folder}/begun
    exec {clang} "$@" @{folder}/gate;;"""

# Compiles wait until all servers have begun one. If a client leaves a server
# out, its link never ends.
MEETING = """\
    : > {folder}/begun
    tries=0
    until {condition}; do
      tries=$((tries + 1))
      test $tries -lt 600 || exit 1
      sleep 0.1
    done;;"""


def parent_of(pid):
    """Returns a process's parent, 0 if the process has ended."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return int(f.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def free_port(listen):
    family = socket.AF_INET6 if ":" in listen else socket.AF_INET
    with socket.socket(family) as s:
        s.bind((listen, 0))
        return s.getsockname()[1]


def answers(listen, port):
    try:
        socket.create_connection((listen, port), timeout=1).close()
        return True
    except OSError:
        return False


def as_own_user():
    """Returns a command prefix for root to start a distccd. distccd would
    change to its own user and run programs of the build tree. That user may
    have no access to a checkout in root's home. The prefix starts distccd as
    that user with the capability to read all files."""
    folders = [os.path.abspath(__file__)]
    while folders[-1] != os.path.dirname(folders[-1]):
        folders.append(os.path.dirname(folders[-1]))
    if os.geteuid() != 0 or all(os.stat(f).st_mode & 1 for f in folders[1:]):
        return []
    for name in "distcc", "nobody":  # as distccd
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return ["setpriv", "--reuid", str(user.pw_uid), "--regid",
                str(user.pw_gid), "--clear-groups", "--inh-caps",
                "+dac_read_search", "--ambient-caps", "+dac_read_search"]
    return []


class Daemon(daemons.Server):
    """A stock distccd."""

    def __init__(self, number, folder, opts):
        self.number, self.listen = number, opts.listen
        self.name = "daemon %d" % number
        self.folder = os.path.join(folder, "daemon%d" % number)
        self.temp = os.path.join(self.folder, "tmp")
        self.log = os.path.join(self.folder, "log")
        self.gated = number in opts.gate
        self.begun_file = os.path.join(self.folder, "begun")
        os.mkdir(self.folder)
        os.mkdir(self.temp)
        # As root, the daemon changes its user before it writes.
        os.chmod(self.folder, 0o1777)
        os.chmod(self.temp, 0o1777)

        # The folder of Debian's clang. A daemon finds its compiler in the PATH.
        path = "/usr/local/bin:/usr/bin:/bin"
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith("DISTCC")}
        script = self._script(opts)
        if script is not None:
            bin_folder = os.path.join(self.folder, "bin")
            os.mkdir(bin_folder)
            target = os.path.join(bin_folder,
                                  os.path.basename(CLANG))
            with open(target, "w") as f:
                f.write(script)
            os.chmod(target, 0o755)
            path = bin_folder + ":" + path
        # Passed to the daemon unchanged.
        self.env.update(PATH=path, DISTCCD_PATH=path, TMPDIR=self.temp)
        if number in opts.no_compiler:
            path = "/nonexistent"
            self.env.update(PATH=os.environ["PATH"], DISTCCD_PATH=path)
        for which, names in opts.only_allow:
            if which == number:
                names_file = os.path.join(self.folder, "cmdlist")
                with open(names_file, "w") as f:
                    f.write(names.replace(",", "\n") + "\n")
                self.env["DISTCC_CMDLIST"] = names_file

    def _script(self, opts):
        if self.number in opts.gate:
            fifo = os.path.join(self.folder, "gate")
            os.mkfifo(fifo)
            os.chmod(fifo, 0o644)
            return COMPILER.format(
                clang=CLANG,
                job=GATED.format(folder=self.folder, clang=CLANG))
        if opts.meet:
            parent = os.path.dirname(self.folder)
            conditions = ["test -e %s/daemon%d/begun" % (parent, i + 1)
                          for i in range(opts.count)]
            conditions += ["grep -q ^job %s/mock%d.log" % (parent, i + 1)
                           for i in range(len(opts.mock))]
            return COMPILER.format(clang=CLANG, job=MEETING.format(
                folder=self.folder, condition=" && ".join(conditions)))
        for which, name in opts.compiler:
            if which == self.number:
                with open(name) as f:
                    return f.read()
        return None

    def start(self, opts, guard):
        for _ in range(20):
            self.port = free_port(self.listen)
            # distccd can't choose a port itself, so there is a short race.
            self.stats = self.port + 1 if opts.stats_above else (
                free_port(self.listen) if opts.stats else 0)
            command = ["distccd", "--no-detach", "--daemon",
                       "--listen", self.listen, "--port", str(self.port),
                       "--allow", opts.allow or self.listen,
                       "--jobs", str(opts.jobs),
                       "--log-level", "info", "--log-file", self.log]
            if self.stats:
                command += ["--stats", "--stats-port", str(self.stats)]
            command += opts.daemon_arg
            self.spawn(guard, as_own_user() + command, env=self.env, cwd=self.temp)
            if self._wait():
                return
            kill_session(self.process.pid)
        raise Error("distccd doesn't start")

    def _wait(self):
        """Returns false if the daemon has ended, probably because another
        process took the port."""
        end = time.monotonic() + START_LIMIT
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return False
            # Another process could answer at the port as well.
            if "preforking daemon started" in self.read_log():
                if answers(self.listen, self.port) and (
                        not self.stats or answers(self.listen, self.stats)):
                    return True
            time.sleep(0.01)
        return False

    def jobs(self):
        """Returns the pids that began a job, in order, and the number of done jobs.

        A job's source has a name with an @, or is called job.c (with dtlto-codegen
        as the compiler) or, for stock distcc (test/make), m.MODULE. All other
        requests are probes. distccd logs OTHER for a job without a list of its
        headers."""
        begun, done = [], 0
        serving = {}  # pid -> has its compiler ended?
        for line in self.read_log().splitlines():
            match = re.match(r"distccd\[(\d+)\] (.*)", line)
            if not match:
                continue
            pid, text = int(match[1]), match[2]
            if text.startswith(("compile from @", "compile from job.c ",
                                "compile from m.")):
                begun.append(pid)
                serving[pid] = False
            elif text.startswith("(dcc_collect_child) cc times"):
                if pid in serving:
                    serving[pid] = True
            elif "(dcc_job_summary)" in text and serving.pop(pid, False):
                done += bool(re.search(
                    r" (COMPILE_OK|OTHER) exit:0 sig:0 ", text))
        return begun, done

    def compilers(self):
        """Returns the compilers that the daemon runs: pid -> name."""
        return {pid: name
                for pid, name in session_members(self.process.pid).items()
                if name != "distccd"}


class Mock(daemons.Server):
    """Runs mock-distccd.py with these arguments."""

    def __init__(self, number, folder, args):
        self.number, self.folder = number, folder
        self.name = "mock %d" % number
        self.log = os.path.join(folder, "mock%d.log" % number)
        # For daemons that wait for the mock's first job.
        with open(self.log, "w"):
            os.chmod(self.log, 0o644)
        self.command = [
            sys.executable, os.path.join(os.path.dirname(__file__),
                                         "mock-distccd.py"),
            "--log", self.log] + shlex.split(args)

    def start(self, guard):
        self.spawn(guard, self.command, stdout=subprocess.PIPE,
                   env=dict(os.environ, TMPDIR=self.folder))
        # The port, once the mock listens; empty if it ends.
        line = self.process.stdout.readline()
        if not line:
            raise Error("mock %d doesn't start" % self.number)
        self.port = int(line)

    def jobs(self):
        return sum(line.startswith("job ")
                   for line in self.read_log().splitlines())


def freeze(daemon):
    for pid in session_members(daemon.process.pid):
        kill(pid, signal.SIGSTOP)


class Killer(daemons.Killer):
    def __init__(self, event, farm):
        super().__init__(event)
        number, self.kind, self.count, self.victim = event
        self.target, self.farm = farm[number - 1], farm

    def strike(self):
        begun, done = self.target.jobs()
        if (len(begun) if self.kind == "begun" else done) < self.count:
            return False
        # Other daemons may wait for a gated compiler to begin.
        if self.kind == "begun" and self.target.gated and (
                not os.path.exists(self.target.begun_file)):
            return False
        if self.victim == "daemon":
            kill_session(self.target.process.pid)
            return True
        if self.victim == "frozen":
            freeze(self.target)
            return True
        if self.victim == "all":
            # Freeze all first, so that none takes the jobs of a killed one.
            for daemon in self.farm:
                freeze(daemon)
            for daemon in self.farm:
                kill_session(daemon.process.pid)
            return True
        victims = list(self.target.compilers())
        if self.victim == "child":
            # Only a process with a compiler, which then remains.
            parents = [parent_of(pid) for pid in victims]
            victims = [pid for pid in parents if pid in begun][:1]
        for pid in victims:
            kill(pid)
        return bool(victims)


def numbered(text):
    """Parses <daemon>:<text>."""
    number, colon, rest = text.partition(":")
    if not colon or not number.isdigit():
        raise argparse.ArgumentTypeError("not <daemon>:<text>: " + text)
    return int(number), rest


def event(text):
    match = re.fullmatch(
        r"(\d+):(begun|done):(\d+):(daemon|all|child|compiler|frozen)", text)
    if not match:
        raise argparse.ArgumentTypeError("not an event: " + text)
    return int(match[1]), match[2], int(match[3]), match[4]


def parse_args(words):
    p = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    daemons.add_options(p, event, limit=300)
    p.add_argument("--hosts", metavar="TEMPLATE",
                   help="DISTCC_HOSTS; without it, all daemons (or all mocks, "
                        "if there are no daemons) with a limit of K jobs")
    p.add_argument("--no-hosts", action="store_true",
                   help="DISTCC_HOSTS is not set")
    p.add_argument("--file", action="append", default=[],
                   metavar="PATH=CONTENT", help="written before COMMAND runs")
    p.add_argument("--listen", default="127.0.0.1", metavar="ADDRESS")
    p.add_argument("--allow", metavar="ADDRESS",
                   help="whom the daemons let in; else, the address that they "
                        "listen on")
    p.add_argument("--stats", action="store_true",
                   help="daemons tell statistics")
    p.add_argument("--stats-above", action="store_true",
                   help="the same, one above each daemon's port")
    p.add_argument("--compiler", action="append", default=[], type=numbered,
                   metavar="I:SCRIPT", help="the clang of daemon I")
    p.add_argument("--gate", action="append", default=[], type=int,
                   metavar="I", help="no compile of daemon I ever ends")
    p.add_argument("--meet", action="store_true",
                   help="compiles wait until each daemon and each mock has "
                        "begun one")
    p.add_argument("--no-compiler", action="append", default=[], type=int,
                   metavar="I", help="daemon I finds no compiler at all")
    p.add_argument("--only-allow", action="append", default=[], type=numbered,
                   metavar="I:NAME,...", help="the compilers that daemon I runs")
    p.add_argument("--mock", action="append", default=[], metavar="ARGS",
                   help="starts mock-distccd.py with these arguments")
    opts = daemons.parse_args(p, words)
    for number, *_ in opts.compiler + opts.only_allow + opts.kill + [
            (i,) for i in opts.gate + opts.no_compiler]:
        if not 1 <= number <= opts.count:
            p.error("there is no daemon %d" % number)
    return opts


def start(opts, folder, guard, started):
    """Starts the daemons and the mocks, and adds them to `started`."""
    if opts.count and not shutil.which("distccd"):
        raise Error("there is no distccd; install Debian's distcc")
    farm = [Daemon(i + 1, folder, opts) for i in range(opts.count)]
    mocks = [Mock(i + 1, folder, args) for i, args in enumerate(opts.mock)]
    for daemon in farm:
        started.append(daemon)
        daemon.start(opts, guard)
    for mock in mocks:
        started.append(mock)
        mock.start(guard)
    return farm, mocks


def run(opts, folder, guard, started):
    farm, mocks = start(opts, folder, guard, started)
    own = os.path.join(folder, "distcc")
    home = os.path.join(folder, "home")
    os.mkdir(own)
    os.mkdir(home)
    # For a distccd that COMMAND starts, maybe as root.
    other = os.path.join(folder, "tmp")
    os.mkdir(other)
    os.chmod(other, 0o1777)
    # Bound, but not listening: connections are refused.
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    names = {"dir": own, "closed": closed.getsockname()[1]}
    env = {k: v for k, v in os.environ.items() if not k.startswith("DISTCC")}
    env.update(DISTCC_DIR=own, HOME=home, FARM_DIR=folder)
    env["FARM_SESSIONS"] = " ".join(str(d.process.pid) for d in farm)
    for daemon in farm:
        names["port%d" % daemon.number] = daemon.port
        names["stats%d" % daemon.number] = daemon.stats
        env["PORT%d" % daemon.number] = str(daemon.port)
    for mock in mocks:
        names["mock%d" % mock.number] = mock.port
        env["MOCK%d" % mock.number] = str(mock.port)

    def fill(text):
        return re.sub(r"\{(\w+)\}", lambda match: str(
            names.get(match[1], match[0])), text)

    if not opts.no_hosts:
        address = "[%s]" if ":" in opts.listen else "%s"
        env["DISTCC_HOSTS"] = fill(opts.hosts) if opts.hosts is not None else (
            " ".join("%s:%d/%d" % (address % opts.listen, d.port, opts.jobs)
                     for d in farm or mocks))
    for item in opts.env:
        name, _, value = item.partition("=")
        env[name] = fill(value)
    for item in opts.file:
        name, _, content = fill(item).partition("=")
        with open(name, "w") as f:
            f.write(content.replace("\\n", "\n") + "\n")

    code = daemons.run_command(
        [fill(word) for word in opts.command], env, opts.limit,
        [Killer(event, farm) for event in opts.kill])
    closed.close()

    counts = daemons.count_jobs(
        opts, lambda: [daemon.jobs()[1] for daemon in farm])
    if opts.report:
        for server, jobs in zip(farm + mocks, counts + [
                mock.jobs() for mock in mocks]):
            print("farm: %s: %d jobs" % (server.name, jobs))
        sys.stdout.flush()
    daemons.check_jobs(opts, counts)
    return code


def main():
    opts = parse_args(sys.argv[1:])
    return daemons.main(
        "farm", lambda folder, guard, started: run(opts, folder, guard, started))


if __name__ == "__main__":
    sys.exit(main())
