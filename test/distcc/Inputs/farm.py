#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command with a farm of stock distccd daemons on this machine.

  farm.py [options] N -- COMMAND...

starts N daemons, each with a port, a log and a folder of its own, waits until
each answers, runs COMMAND, and stops the daemons and all that they started, by
process id, however COMMAND ended. Its exit code is COMMAND's. Root isn't needed;
as root, the daemons change to their own user, as distccd does.

COMMAND gets DISTCC_HOSTS, DISTCC_DIR and HOME, and no other DISTCC_ variable of
ours. In COMMAND and in --hosts, --env, --file and --daemon-arg these are
replaced:

  {port1} {port2} ...    the ports of the daemons
  {stats1} {stats2} ...  the ports of their statistics (with --stats)
  {mock1} {mock2} ...    the ports of the mocks (with --mock)
  {closed}               a port that nobody listens on
  {dir}                  a folder of our own: DISTCC_DIR

and PORT1, MOCK1, FARM_DIR are set in the environment.

An EVENT is <daemon>:<begun|done>:<n>:<victim>; once daemon <daemon> has begun or
done <n> jobs, the victim is killed with SIGKILL, or frozen with SIGSTOP:

  daemon    that daemon with all its processes, compilers included
  all       all daemons
  child     a process of the daemon that serves a job; the compiler stays
  compiler  the compilers of that daemon
  frozen    that daemon with all its processes: they are stopped, and go on to
            hold their connections
"""

import argparse
import ctypes
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

# Ends of waits, in seconds. Nothing here takes long unless it is broken.
START_LIMIT = 30
STOP_LIMIT = 20

# The linker's clang, by a name that Debian's distccd allows.
CLANG = os.environ.get("DTLTO_TEST_CLANG", "/usr/bin/clang-19")

# A daemon's compiler, if it isn't to be the plain one. Questions about its
# version are answered at once.
COMPILER = """#!/bin/sh
for arg; do
  case $arg in @*)
{job}
  esac
done
exec {clang} "$@"
"""

# Compiles never end: the real clang waits for a response file that nobody
# writes.
GATED = """\
    : > {folder}/begun
    exec {clang} "$@" @{folder}/gate;;"""

# Compiles wait until all servers have begun one: a client that leaves one out
# never ends.
MEETING = """\
    : > {folder}/begun
    tries=0
    until {condition}; do
      tries=$((tries + 1))
      test $tries -lt 600 || exit 1
      sleep 0.1
    done;;"""


class Error(Exception):
    pass


def session_members(session):
    """The processes of a session, but for dead ones: pid -> name."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % entry) as f:
                text = f.read()
        except OSError:
            continue  # it has ended
        name, _, rest = text.partition("(")[2].rpartition(")")
        state, _, _, sid = rest.split()[:4]
        if int(sid) == session and state not in "ZX":
            found[int(entry)] = name
    return found


def parent_of(pid):
    """0 if it has ended."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return int(f.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop(session):
    for pid in session_members(session):
        try:
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:
            pass


def kill_session(session):
    """Kills all processes of a session. Compilers have process groups of their
    own, so the group would not be enough."""
    end = time.monotonic() + STOP_LIMIT
    while True:
        members = session_members(session)
        if not members:
            return
        if time.monotonic() > end:
            raise Error("can't stop the processes %s" % sorted(members))
        # The leader first: it would start others again.
        for pid in sorted(members, key=lambda pid: pid != session):
            kill(pid)
        time.sleep(0.005)


def adopt_orphans():
    """What our processes leave behind becomes ours, to be waited for; not each
    container's first process does that."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def bury_orphans():
    """Once nobody else waits for a child."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


class Guard:
    """A process that cleans up if we are killed and can't."""

    def __init__(self, folder):
        read, self.write = os.pipe()
        if os.fork():
            os.close(read)
            return
        try:
            os.setsid()
            os.close(self.write)
            null = os.open(os.devnull, os.O_RDWR)
            for fd in 0, 1, 2:
                os.dup2(null, fd)
            for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
                signal.signal(number, signal.SIG_IGN)
            with os.fdopen(read) as pipe:
                lines = pipe.read().split()
            if "done" not in lines:
                for line in lines:
                    kill_session(int(line))
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os._exit(0)

    def watch(self, session):
        os.write(self.write, b"%d\n" % session)

    def done(self):
        os.write(self.write, b"done\n")
        os.close(self.write)


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


class Daemon:
    """A stock distccd."""

    def __init__(self, number, folder, opts):
        self.number, self.listen = number, opts.listen
        self.folder = os.path.join(folder, "daemon%d" % number)
        self.temp = os.path.join(self.folder, "tmp")
        self.log = os.path.join(self.folder, "log")
        self.gated = number in opts.gate
        self.begun_file = os.path.join(self.folder, "begun")
        os.mkdir(self.folder)
        os.mkdir(self.temp)
        # As root, the daemon becomes another user before it writes.
        os.chmod(self.folder, 0o1777)
        os.chmod(self.temp, 0o1777)

        # Where Debian's clang is. A daemon finds its compiler in the PATH.
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
        # This one is taken as it is.
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
        self.process = None

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
            # distccd takes no port of its own choice, so a moment passes.
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
            self.process = subprocess.Popen(
                command, env=self.env, cwd=self.temp, start_new_session=True,
                stdin=subprocess.DEVNULL)
            guard.watch(self.process.pid)
            if self._wait():
                return
            kill_session(self.process.pid)
        raise Error("distccd doesn't start; the end of its log:\n" +
                    "".join(self.read_log()[-10:]))

    def _wait(self):
        """Returns false if it has ended: another took the port, probably."""
        end = time.monotonic() + START_LIMIT
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return False
            # Somebody else could answer at the port as well.
            if any("preforking daemon started" in line
                   for line in self.read_log()):
                if answers(self.listen, self.port) and (
                        not self.stats or answers(self.listen, self.stats)):
                    return True
            time.sleep(0.01)
        return False

    def read_log(self):
        try:
            with open(self.log, errors="replace") as f:
                return f.readlines()
        except FileNotFoundError:
            return []

    def jobs(self):
        """The pids that began a job, in order, and how many jobs were done.

        Only a job's source has a name with an @, or is called job.c (with
        dtlto-codegen as the compiler); the rest are probes. distccd
        says OTHER of a job that makes no list of its headers."""
        begun, done = [], 0
        serving = {}  # pid -> has its compiler ended?
        for line in self.read_log():
            match = re.match(r"distccd\[(\d+)\] (.*)", line)
            if not match:
                continue
            pid, text = int(match[1]), match[2]
            if text.startswith(("compile from @", "compile from job.c ")):
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
        """The compilers that it runs: pid -> name."""
        return {pid: name
                for pid, name in session_members(self.process.pid).items()
                if name != "distccd"}

    def stop(self):
        if self.process is not None:
            kill_session(self.process.pid)
            self.process.wait()


class Mock:
    """mock-distccd.py with these arguments."""

    def __init__(self, number, folder, args):
        self.number, self.folder = number, folder
        self.log = os.path.join(folder, "mock%d.log" % number)
        # For daemons that wait for a job of ours.
        with open(self.log, "w"):
            os.chmod(self.log, 0o644)
        self.command = [
            sys.executable, os.path.join(os.path.dirname(__file__),
                                         "mock-distccd.py"),
            "--log", self.log] + shlex.split(args)
        self.process = None

    def start(self, guard):
        self.process = subprocess.Popen(
            self.command, env=dict(os.environ, TMPDIR=self.folder),
            start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE)
        guard.watch(self.process.pid)
        # The port, once it listens; or nothing, if it ends.
        line = self.process.stdout.readline()
        if not line:
            raise Error("mock %d doesn't start" % self.number)
        self.port = int(line)

    def jobs(self):
        with open(self.log) as f:
            return sum(line.startswith("job ") for line in f)

    def stop(self):
        if self.process is not None:
            kill_session(self.process.pid)
            self.process.wait()


class Killer(threading.Thread):
    """Waits for one event and kills its victim."""

    def __init__(self, event, daemons):
        super().__init__(daemon=True)
        self.what, self.daemons = event, daemons
        number, self.kind, count, self.victim = event
        self.target, self.count = daemons[number - 1], count
        self.ended = threading.Event()
        self.fired = False

    def run(self):
        while not self.ended.wait(0.003):
            begun, done = self.target.jobs()
            if (len(begun) if self.kind == "begun" else done) < self.count:
                continue
            # Others may wait for a gated compiler to have begun.
            if self.kind == "begun" and self.target.gated and (
                    not os.path.exists(self.target.begun_file)):
                continue
            if self.victim == "daemon":
                kill_session(self.target.process.pid)
            elif self.victim == "frozen":
                stop(self.target.process.pid)
            elif self.victim == "all":
                # None takes what another leaves.
                for daemon in self.daemons:
                    stop(daemon.process.pid)
                for daemon in self.daemons:
                    kill_session(daemon.process.pid)
            elif self.victim == "child":
                # One that has a compiler, which can be left behind.
                parents = [parent_of(pid) for pid in self.target.compilers()]
                serving = [pid for pid in parents if pid in begun]
                if not serving:
                    continue
                kill(serving[0])
            else:
                compilers = self.target.compilers()
                if not compilers:
                    continue
                for pid in compilers:
                    kill(pid)
            self.fired = True
            return


def numbered(text):
    """<daemon>:<text>"""
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


def parse_args():
    p = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--jobs", type=int, default=2, metavar="K",
                   help="what each daemon runs at the same time")
    p.add_argument("--hosts", metavar="TEMPLATE",
                   help="DISTCC_HOSTS; without it, all daemons (or all mocks, "
                        "if there are no daemons) with a limit of K jobs")
    p.add_argument("--no-hosts", action="store_true",
                   help="DISTCC_HOSTS is not set")
    p.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                   help="for COMMAND")
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
    p.add_argument("--daemon-arg", action="append", default=[], metavar="ARG")
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
    p.add_argument("--kill", action="append", default=[], type=event,
                   metavar="EVENT", help="see above. It must come to pass")
    p.add_argument("--limit", type=float, default=120, metavar="SECONDS",
                   help="COMMAND is killed after that")
    p.add_argument("--expect", type=int, metavar="TOTAL",
                   help="fail unless the daemons did so many jobs")
    p.add_argument("--expect-each", action="store_true",
                   help="fail unless each daemon did a job")
    p.add_argument("--report", action="store_true",
                   help="print how many jobs each did")
    p.add_argument("count", type=int, metavar="N")
    p.add_argument("command", nargs="+", metavar="COMMAND")
    own = sys.argv[1:]
    # Options of COMMAND are not ours.
    if "--" not in own:
        p.error("no -- before COMMAND")
    at = own.index("--")
    opts = p.parse_args(own[:at] + ["--", "x"])
    opts.command = own[at + 1:]
    if not opts.command:
        p.error("no COMMAND")
    for number, *_ in opts.compiler + opts.only_allow + opts.kill + [
            (i,) for i in opts.gate + opts.no_compiler]:
        if not 1 <= number <= opts.count:
            p.error("there is no daemon %d" % number)
    return opts


def run_command(command, env, limit):
    process = subprocess.Popen(command, env=env)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        raise Error("the command still ran after %g s" % limit)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def exit_code(code):
    """As a shell has it."""
    return code if code >= 0 else 128 - code


def run(opts, folder, guard, started):
    if opts.count and not shutil.which("distccd"):
        raise Error("there is no distccd; install Debian's distcc")
    daemons = [Daemon(i + 1, folder, opts) for i in range(opts.count)]
    mocks = [Mock(i + 1, folder, args) for i, args in enumerate(opts.mock)]
    for daemon in daemons:
        started.append(daemon)
        daemon.start(opts, guard)
    for mock in mocks:
        started.append(mock)
        mock.start(guard)

    own = os.path.join(folder, "distcc")
    home = os.path.join(folder, "home")
    os.mkdir(own)
    os.mkdir(home)
    # For a distccd that somebody else starts, maybe as root.
    other = os.path.join(folder, "tmp")
    os.mkdir(other)
    os.chmod(other, 0o1777)
    # Taken, but not listened on: a connection is refused.
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    names = {"dir": own, "closed": closed.getsockname()[1]}
    env = {k: v for k, v in os.environ.items() if not k.startswith("DISTCC")}
    env.update(DISTCC_DIR=own, HOME=home, FARM_DIR=folder)
    env["FARM_SESSIONS"] = " ".join(str(d.process.pid) for d in daemons)
    for daemon in daemons:
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
                     for d in daemons or mocks))
    for item in opts.env:
        name, _, value = item.partition("=")
        env[name] = fill(value)
    for item in opts.file:
        name, _, content = fill(item).partition("=")
        with open(name, "w") as f:
            f.write(content.replace("\\n", "\n") + "\n")

    killers = [Killer(what, daemons) for what in opts.kill]
    for killer in killers:
        killer.start()
    code = exit_code(run_command([fill(word) for word in opts.command], env,
                                 opts.limit))
    for killer in killers:
        killer.ended.set()
        killer.join()
        if not killer.fired:
            raise Error("it never came to %d:%s:%d:%s" % killer.what)
    closed.close()

    # The client has its answer before the daemon writes that to its log.
    def done():
        return [daemon.jobs()[1] for daemon in daemons]
    end = time.monotonic() + 5
    while opts.expect is not None and sum(done()) < opts.expect and (
            time.monotonic() < end):
        time.sleep(0.01)
    counts = done()
    if opts.report:
        for daemon, jobs in zip(daemons, counts):
            print("farm: daemon %d: %d jobs" % (daemon.number, jobs))
        for mock in mocks:
            print("farm: mock %d: %d jobs" % (mock.number, mock.jobs()))
        sys.stdout.flush()
    if opts.expect is not None and sum(counts) != opts.expect:
        raise Error("the daemons did %s jobs, not %d together" %
                    (counts, opts.expect))
    if opts.expect_each and not all(counts):
        raise Error("the daemons did %s jobs" % counts)
    return code


def make_folder():
    """As root, the daemons become another user, and must get there: not so in
    the private folders that some programs give us for TMPDIR."""
    parent = os.path.realpath(tempfile.gettempdir())
    if os.geteuid() == 0:
        path = parent
        while path != "/":
            if not os.stat(path).st_mode & 0o001:
                parent = "/tmp"
                break
            path = os.path.dirname(path)
    folder = tempfile.mkdtemp(prefix="dtlto-farm-", dir=parent)
    os.chmod(folder, 0o755)
    return folder


def main():
    opts = parse_args()

    def stop(number, frame):
        raise KeyboardInterrupt
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, stop)

    folder = make_folder()
    guard = Guard(folder)
    adopt_orphans()
    started = []
    try:
        return run(opts, folder, guard, started)
    except Error as e:
        sys.stderr.write("farm: %s\n" % e)
        return 125
    except KeyboardInterrupt:
        sys.stderr.write("farm: interrupted\n")
        return 130
    finally:
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            signal.signal(number, signal.SIG_IGN)
        for server in started:
            server.stop()
        bury_orphans()
        shutil.rmtree(folder, ignore_errors=True)
        guard.done()


if __name__ == "__main__":
    sys.exit(main())
