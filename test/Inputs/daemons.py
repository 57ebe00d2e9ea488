# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The common part of distcc/Inputs/farm.py and icecc/Inputs/cluster.py: daemons
on this machine that run during a command. They are stopped by process id with
all their child processes, however the command ended."""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

# The limit for a wait, in seconds. A wait is short unless something is broken.
STOP_LIMIT = 20


class Error(Exception):
    pass


def session_members(session):
    """Returns the living processes of a session: pid -> name. With None, of all
    sessions."""
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
        if session in (None, int(sid)) and state not in "ZX":
            found[int(entry)] = name
    return found


def compilers(sessions, daemon):
    """Returns for each of the daemons' sessions, given as a string of numbers,
    the names of its processes other than the daemon's own."""
    return [[name for name in session_members(int(session)).values()
             if name != daemon] for session in sessions.split()]


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def kill_session(session):
    """Kills all processes of a session. Killing the process group isn't enough,
    since compilers have groups of their own."""
    end = time.monotonic() + STOP_LIMIT
    while True:
        members = session_members(session)
        if not members:
            return
        if time.monotonic() > end:
            raise Error("can't stop the processes %s" % sorted(members))
        # The leader first; otherwise it would start others again.
        for pid in sorted(members, key=lambda pid: pid != session):
            kill(pid)
        time.sleep(0.005)


def adopt_orphans():
    """Makes orphaned descendants our children, so that we can wait for them. A
    container's first process doesn't always do that."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def bury_orphans():
    """Reaps all remaining children. Call this when nothing else waits for a
    child."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


class Guard:
    """A process that cleans up if we are killed."""

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
            ignore_signals()
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


class Interrupts:
    """Turns a signal into KeyboardInterrupt or, while signals are held, records
    it."""

    held = noted = False

    @classmethod
    def come(cls, number, frame):
        if not cls.held:
            raise KeyboardInterrupt
        cls.noted = True

    @classmethod
    @contextlib.contextmanager
    def hold(cls):
        """Delays signals, so that no process is started without being
        recorded."""
        cls.held = True
        try:
            yield
        finally:
            cls.held = False

    @classmethod
    def check(cls):
        """Raises a delayed signal."""
        if cls.noted:
            cls.noted = False
            raise KeyboardInterrupt


class Server:
    """A process with its own session and log."""

    process = None

    def spawn(self, guard, command, **more):
        with Interrupts.hold():
            self.process = subprocess.Popen(
                command, start_new_session=True, stdin=subprocess.DEVNULL, **more)
            guard.watch(self.process.pid)
        Interrupts.check()

    def read_log(self):
        try:
            with open(self.log, errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def stop(self):
        if self.process is not None:
            kill_session(self.process.pid)
            self.process.wait()


class Killer(threading.Thread):
    """Waits for an event and kills its victim: strike() returns true once it
    has done so."""

    def __init__(self, event):
        super().__init__(daemon=True)
        self.event = event
        self.ended = threading.Event()
        self.fired = False

    def run(self):
        while not self.fired and not self.ended.wait(0.003):
            self.fired = self.strike()


def add_options(parser, event, limit):
    """Adds the options that both scripts have. `event` parses the value of
    --kill."""
    parser.add_argument("--jobs", type=int, default=2, metavar="K",
                        help="what each daemon runs at the same time")
    parser.add_argument("--env", action="append", default=[],
                        metavar="NAME=VALUE", help="for COMMAND")
    parser.add_argument("--daemon-arg", action="append", default=[],
                        metavar="ARG")
    parser.add_argument("--kill", action="append", default=[], type=event,
                        metavar="EVENT", help="see above. It must come to pass")
    parser.add_argument("--limit", type=float, default=limit, metavar="SECONDS",
                        help="COMMAND is killed after that")
    parser.add_argument("--expect", type=int, metavar="TOTAL",
                        help="fail unless the daemons did so many jobs")
    parser.add_argument("--expect-each", action="store_true",
                        help="fail unless each daemon did a job")
    parser.add_argument("--report", action="store_true",
                        help="print what each daemon did")
    parser.add_argument("count", type=int, metavar="N")
    parser.add_argument("command", nargs="+", metavar="COMMAND")


def parse_args(parser, own):
    """Splits a script's arguments `own` into its options and COMMAND."""
    # Options of COMMAND are not the script's.
    if "--" not in own:
        parser.error("no -- before COMMAND")
    at = own.index("--")
    opts = parser.parse_args(own[:at] + ["--", "x"])
    opts.command = own[at + 1:]
    if not opts.command:
        parser.error("no COMMAND")
    return opts


def run_command(command, env, limit, killers):
    """Returns the command's exit code, as a shell does."""
    for killer in killers:
        killer.start()
    process = None
    try:
        with Interrupts.hold():
            process = subprocess.Popen(command, env=env)
        Interrupts.check()
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        raise Error("the command still ran after %g s" % limit)
    finally:
        if process and process.poll() is None:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    for killer in killers:
        killer.ended.set()
        killer.join()
        if not killer.fired:
            raise Error("it never came to " + ":".join(map(str, killer.event)))
    return code if code >= 0 else 128 - code


def count_jobs(opts, counts):
    """Returns how many jobs each daemon did, from counts()."""
    # The client gets its answer before the daemon writes the log.
    end = time.monotonic() + 5
    while opts.expect is not None and sum(counts()) < opts.expect and (
            time.monotonic() < end):
        time.sleep(0.01)
    return counts()


def check_jobs(opts, counts):
    if opts.expect is not None and sum(counts) != opts.expect:
        raise Error("the daemons did %s jobs, not %d together" %
                    (counts, opts.expect))
    if opts.expect_each and not all(counts):
        raise Error("the daemons did %s jobs" % counts)


def make_folder():
    """Creates a temporary folder that daemons can access. As root, they change
    to another user, who has no access to the private TMPDIR that some programs
    set."""
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


SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


def ignore_signals():
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def main(name, run, stopped=lambda servers: None):
    """Calls run(folder, guard, started), which starts servers, adds them to the
    list `started` and returns the exit code. Then stops the servers."""
    for number in SIGNALS:
        signal.signal(number, Interrupts.come)

    folder = make_folder()
    guard = Guard(folder)
    adopt_orphans()
    started = []
    try:
        return run(folder, guard, started)
    except (Error, OSError, subprocess.CalledProcessError) as e:
        sys.stderr.write("%s: %s\n" % (name, e))
        for server in started:
            for line in server.read_log().splitlines()[-5:]:
                sys.stderr.write("  %s: %s\n" % (server.name, line))
        return 125
    except KeyboardInterrupt:
        sys.stderr.write(name + ": interrupted\n")
        return 130
    finally:
        ignore_signals()
        for server in started:
            server.stop()
        bury_orphans()
        stopped(started)
        shutil.rmtree(folder, ignore_errors=True)
        guard.done()
