# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lane.py FOLDER: runs cases one after the other in its own namespaces for
processes, network, mounts and /tmp, so that everything that remains is
detected. Reads a case in JSON from each line, and writes a result."""

import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
import farms  # adds the folders of other tests to the path
import cases
import cluster
import faults
import links
import network
import proxy
from daemons import session_members
from faults import Fault, Names

# Seconds after its bound at which a link counts as hanging.
GRACE = 60
# The time that a daemon may take to detect that its client has left. What remains
# is reported after it.
CLEANING = int(os.environ.get("DTLTO_FAULTS_CLEANING", "30"))
# What an error has to name: a host, a module, an option, a scarce resource, or
# the plugin's call that hangs.
NAMED = re.compile(
    r"\w\(\) has not returned|host\d\.test|127\.0\.0\.1|node\d|local iceccd|"
    r"[\w/]\.o\b|--thinlto|DISTCC_|ICECC|No space|Too many open files|"
    r"Resource temporarily unavailable|no thread can be started")
# The messages of a link that runs out of a resource.
LACKS = {"few descriptors": "Too many open files",
         "few threads": "Resource temporarily unavailable|no thread can be started",
         "output: no space": "No space left", "cache: no space": "No space left"}
ERROR = re.compile(r"^(.*\berror: |LLVM ERROR: |.*terminate called)", re.MULTILINE)


def mount(*words):
    subprocess.run(["mount", *words], check=True)


class Lane:
    def __init__(self, folder):
        os.chmod(folder, 0o1777)
        # Our /tmp would hide sources and builds there.
        inside = any(str(path).startswith("/tmp/")
                     for path in (links.ROOT, links.BUILD))
        self.top = Path(folder if inside else "/tmp")
        if not inside:
            mount("--bind", folder, "/tmp")
        tempfile.tempdir = os.environ["TMPDIR"] = str(self.top)
        os.environ.update(HOME=str(self.top / "home"),
                          XDG_CACHE_HOME=str(self.top / "home/cache"))
        os.makedirs(os.environ["XDG_CACHE_HOME"], exist_ok=True)
        os.chmod(self.top / "home", 0o777)
        os.chmod(self.top / "home/cache", 0o777)
        for name in list(os.environ):
            if name.startswith(("DISTCC", "ICECC", "DTLTO_WORKER", "DTLTO_STATUS")):
                del os.environ[name]
        network.loopback_up()
        etc = self.top / "etc"
        etc.mkdir()
        for name, text in {
                "resolv.conf": "nameserver 127.0.0.1\noptions timeout:%d attempts:2\n"
                % (cases.NAMES // 2),
                "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n"
                }.items():
            (etc / name).write_text(text)
            if os.path.exists("/etc/" + name):
                mount("--bind", str(etc / name), "/etc/" + name)
        cluster.look_idle(str(etc))
        self.names = Names()
        self.programs = {name: links.Program(self.top / "programs", name)
                         for name in links.PROGRAMS}
        self.farm = None
        # A user without other processes.
        self.user = 100000 + int.from_bytes(os.urandom(3), "big")

    def farm_for(self, case):
        Farm = (farms.IceccFarm if case["plugin"] == "icecc" else
                farms.DistccFarm)
        wrong = case["event"] in cases.WRONG + (cases.SERVER_FULL,)
        if self.farm and (self.farm.hurt or wrong or self.farm.key is None or
                          self.farm.key != Farm.key_of(case)):
            self.stop_farm()
        if not self.farm:
            self.farm = Farm(case)
        return self.farm

    def stop_farm(self):
        if self.farm:
            self.farm.stop()
            self.farm = None

    def run(self, case):
        farm = self.farm_for(case)
        return Run(self, farm, case).result()


class Run:
    def __init__(self, lane, farm, case):
        self.lane, self.farm, self.case = lane, farm, case
        self.program = lane.programs[cases.program(case)]
        self.folder = lane.top / ("run%d" % case["run"])
        self.cache, self.out = self.folder / "cache", self.folder / "out"
        self.problems = []
        self.sends_worker = farm.lacks_worker()
        self.link = None
        self.fault = Fault(case, self.act)

    def act(self):
        event = self.case["event"]
        if event in cases.SIGNALS:
            self.link.send_signal(getattr(signal, event))
        elif not self.farm.act(event, self.case["host"]):
            self.fault.reached = False

    def environment(self):
        """Returns the link's environment, and starts the proxies in front of
        the farm."""
        env = dict(os.environ)
        if self.case["plugin"] != "icecc":
            ports = [proxy.Proxy(
                self.fault, host, self.connector(daemon.port), proxy.Distcc).port
                     for host, daemon in enumerate(self.farm.hosts)]
            os.makedirs(self.folder / "distcc")
            env.update(
                DISTCC_DIR=str(self.folder / "distcc"),
                DISTCC_IO_TIMEOUT=str(cases.SILENCE),
                DISTCC_HOSTS=" ".join(
                    "host%d.test:%d/%d" % (i + 1, port, cases.SLOTS)
                    for i, port in enumerate(ports)))
            return env
        ports = {
            cluster.FIRST_PORT + i: proxy.Proxy(
                self.fault, i, self.connector(cluster.FIRST_PORT + i),
                proxy.Node).port
            for i in range(cases.HOSTS)}

        def local():
            s = socket.socket(socket.AF_UNIX)
            s.connect(self.farm.local.socket)
            return s
        path = str(self.folder / "iceccd")
        # The connection between host 0 and its user.
        proxy.Proxy(self.fault, 0, local, lambda: proxy.Local(
            lambda port: ports.get(port, port)), path)
        monitor = proxy.Proxy(self.fault, 0, self.connector(
            cluster.SCHEDULER_PORT), proxy.Scheduler)
        env.update(ICECC_TEST_SOCKET=path, ICECC_TEST_REMOTEBUILD="1",
                   ICECC_TESTS="1",
                   ICECC_SCHEDULER="sched1.test:%d" % monitor.port)
        if self.case["event"] in cases.WRONG:
            workers = self.lane.top / "programs"
            how = self.case["event"].split()[1]
            if how == "failure":
                env["DTLTO_WORKER"] = str(workers / "failing")
            else:
                env["DTLTO_ICECC_VERSION"] = str(workers / (how + ".tar.gz"))
        return env

    @staticmethod
    def connector(port):
        return lambda: socket.create_connection(("127.0.0.1", port))

    def command(self, log):
        case = self.case
        words = [links.OURS, *self.program.inputs, "-o", self.out,
                 "--thinlto-cache-dir=%s" % self.cache, "--thinlto-dist-costs=off",
                 "--thinlto-dist-plugin=" + (
                     "icecc" if case["plugin"] == "icecc" else "distcc"),
                 "--thinlto-dist-fallback=" + case["fallback"],
                 "--thinlto-dist-verify=%d" % case["verify"],
                 "--thinlto-dist-timeout=%d" % cases.JOB,
                 "--thinlto-dist-log=%s" % log]
        if case["cache"] == "shared":
            words.append("--thinlto-dist-cache=shared")
        if not case["large"]:
            words.append("--thinlto-dist-local-jobs=0")
        if not case["duplicates"]:
            words.append("--thinlto-dist-duplicate=0")
        arguments = []
        if self.farm.compiler:
            arguments.append("compiler=" + self.farm.compiler)
        if case["plugin"] == "icecc":
            arguments += ["grant-timeout=%d" % cases.GRANT,
                          "transfer-timeout=%d" % cases.SILENCE]
        return [str(word) for word in words] + [
            "--thinlto-dist-plugin-arg=" + text for text in arguments]

    def limits(self):
        """Returns a function that limits a resource in the linker's process
        before it starts, or None."""
        event, number = self.case["event"], self.case["number"]
        if event == "few descriptors":
            n = 4 + number // 4
            return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))
        if event == "few threads" and os.geteuid() == 0:
            def limit():
                resource.setrlimit(resource.RLIMIT_NPROC, (1 + number // 4,) * 2)
                os.setgroups([])
                os.setuid(self.lane.user)
            return limit
        return None

    def small_disk(self):
        event = self.case["event"]
        if not event.endswith(": no space") or event == cases.SERVER_FULL:
            return None
        # The disk gets room for the case's number of the pages that are needed.
        # A warm cache already has its pages.
        pages = lambda contents: sum(-(-len(c) // 4096) for c in contents)
        there = 0
        if event.startswith("output"):
            needed = pages([self.program.stock])
        else:
            self.program.fill(self.cache, self.case)
            there = pages(links.read_folder(self.cache).values())
            shutil.rmtree(self.cache)
            needed = pages(self.program.caches["stock"].values()) - there
        path = self.folder / "small"
        path.mkdir()
        mount("-t", "tmpfs", "-o", "size=%dk,mode=1777" % (
            4 * (1 + there + self.case["number"] % needed)), "tmpfs", str(path))
        (path / "full").write_bytes(bytes(4096))
        if event.startswith("output"):
            self.out = path / "out"
        else:
            self.cache = path / "cache"
        return path

    def alone(self):
        folder = self.folder / "alone"
        self.program.fill(folder / "cache", self.case)
        try:
            return self.program.link_alone(folder / "out", folder / "cache")
        finally:
            shutil.rmtree(folder)

    def bound(self, alone):
        # Compared objects are compiled locally as well.
        return ((3 if self.case["verify"] else 2) * alone + 3 +
                cases.allowance(self.case) +
                (cases.ENVIRONMENT if self.sends_worker else 0))

    def result(self):
        case = self.case
        processes, files = set(session_members(None)), set(os.listdir(self.lane.top))
        self.folder.mkdir()
        small = None
        try:
            alone = self.alone()
            small = self.small_disk()
            self.program.fill(self.cache, case)
            env = self.environment()
            limits = self.limits()
            if limits:
                for path in self.folder, self.cache, self.folder / "distcc":
                    if path.exists():
                        os.chmod(path, 0o777)
                        if os.geteuid() == 0:
                            os.chown(path, self.lane.user, -1)
            code, text, seconds, hangs = self.run_link(env, limits, alone)
            bound = self.bound(alone)
            if seconds > bound and not hangs:
                alone = max(alone, self.alone())
                bound = self.bound(alone)
            if seconds > bound:
                self.problems.append(cases.SLOW)
            if case["event"] in LACKS:
                self.fault.reached = (
                    re.search(LACKS[case["event"]], text) is not None or code < 0)
            if case["event"] in cases.WRONG + (cases.SERVER_FULL,):
                self.fault.reached = any(
                    (case["state"], host) in self.fault.seen
                    for host in range(cases.HOSTS) if cases.is_wrong(case, host))
            outcome = self.judge(code, text, limits)
            self.check_cache()
            self.check_left(processes, files, code)
        finally:
            for p in self.fault.proxies:
                p.close()
            self.lane.names.fault = None
            if small:
                subprocess.run(["umount", str(small)], check=True)
        if not self.problems:
            shutil.rmtree(self.folder, ignore_errors=True)
        error = ERROR.search(text)
        return dict(
            case, reached=self.fault.reached, outcome=outcome,
            problems=self.problems, exit=code, seconds=round(seconds, 3),
            alone=round(alone, 3), bound=round(bound, 3),
            says=text[error.start():].splitlines()[0][:300] if error else "",
            **({"text": text[-4000:]} if self.problems else {}))

    def run_link(self, env, limits, alone):
        case = self.case
        log = self.folder / "log"
        os.mkfifo(log)
        os.chmod(log, 0o666)
        # We keep both ends open: the linker opens the pipe twice.
        fifo = os.open(log, os.O_RDWR)
        reader = threading.Thread(target=self.fault.read_log, args=(fifo,))
        reader.start()
        self.lane.names.fault = self.fault
        words = self.command(log)
        with open(self.folder / "said", "w+", errors="replace") as said:
            begin = time.monotonic()

            def begins():
                # Our parent may ignore these signals.
                for number in cases.SIGNALS:
                    signal.signal(getattr(signal, number), signal.SIG_DFL)
                if limits:
                    limits()
            self.link = subprocess.Popen(
                words, cwd=self.program.folder, env=env, stdin=subprocess.DEVNULL,
                stdout=said, stderr=subprocess.STDOUT, preexec_fn=begins,
                start_new_session=True)
            hangs = False
            try:
                code = self.link.wait(self.bound(alone) + GRACE)
            except subprocess.TimeoutExpired:
                hangs = True
                self.problems.append("it hangs")
                self.link.kill()
                code = self.link.wait()
            seconds = time.monotonic() - begin
            os.write(fifo, faults.END.encode())
            reader.join()
            os.close(fifo)
            said.seek(0)
            text = said.read()
        return code, text, seconds, hangs

    def judge(self, code, text, limits):
        """Checks the outcome of the link."""
        case = self.case
        made = self.out.exists()
        if made:
            same = self.out.read_bytes() == self.program.stock
        if code == 0 and made and same:
            return "stock's bytes"
        if code == 0 and made and cases.is_unnoticed(case):
            return "not noticed"
        if code == 0:
            self.problems.append("another output" if made else "no output")
            return "wrong"
        # If the signal arrives late, the work may be done.
        if made and not (case["event"] in cases.SIGNALS and same):
            self.problems.append("the output of a link that failed")
        if case["event"] in cases.SIGNALS and self.fault.reached:
            # Like stock LLD: for SIGPIPE, LLVM has an exit code of its own.
            number = getattr(signal, case["event"])
            if code not in (-number, 128 + number, 74 if number == 13 else None):
                self.problems.append("exit code %d" % code)
            return "ended by the signal"
        if not cases.may_fail(case):
            self.problems.append("it failed, in spite of the fallback")
        if code < 0 and case["event"] in cases.OWN and self.as_stock(code, limits):
            return "failed"
        error = ERROR.search(text)
        if not error:
            self.problems.append("no error message")
        elif not NAMED.search(text[error.start():]):
            self.problems.append("its error names nothing")
        if code < 0:
            self.problems.append("it ended by signal %d" % -code)
        return "failed"

    def as_stock(self, code, limits):
        """Returns whether stock LLD dies by that signal as well, if it has as
        few resources."""
        try:
            self.program.link_alone(
                self.out, self.cache, preexec_fn=limits, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
        except subprocess.CalledProcessError as e:
            return e.returncode == code
        return False

    def check_cache(self):
        if not self.cache.exists():
            return
        stock, ours = (self.program.caches[name] for name in ("stock", "ours"))
        for name, content in links.read_folder(self.cache).items():
            wrong_is_possible = cases.is_unnoticed(self.case)
            if name in stock:
                if content != stock[name] and not (
                        wrong_is_possible and self.case["cache"] == "shared"):
                    self.problems.append("cache: %s isn't stock's" % name)
            elif name in ours and self.case["cache"] != "shared":
                if content != ours[name] and not wrong_is_possible:
                    self.problems.append("cache: %s is wrong" % name)
            elif not (self.case["event"] in cases.CLIENT and
                      re.fullmatch(r"Thin-\w+\.tmp\.o", name)):
                # LLVM leaves this file if it ends just when a thread creates
                # it.
                self.problems.append("cache: %s" % name)

    def check_left(self, processes, files, code):
        sessions = self.farm.sessions()

        def strangers():
            own = set()
            for session in sessions:
                own |= set(session_members(session))
            return {pid: name for pid, name in session_members(None).items()
                    if pid not in processes | own}
        if not farms.wait_until(lambda: not strangers(), CLEANING):
            self.problems.append("processes are left: %s" %
                                 sorted(strangers().values()))
        open_ones = lambda: sum(len(p.connections()) for p in self.fault.proxies)
        if not farms.wait_until(lambda: not open_ones(), CLEANING):
            self.problems.append("%d connections are left" % open_ones())
        # Damaged daemons can't clean up.
        if not self.farm.hurt:
            if not farms.wait_until(lambda: not self.farm.compilers(), CLEANING):
                self.problems.append("compilers are left")
            # If the linker ends, or closes the connection to a silent host,
            # distccd kills its compilers. clang leaves files that it created
            # just before its signal handler knew of them, and, if a damaged
            # input made it crash, those for llvm-symbolizer.
            unknown = lambda: [
                name for name in self.farm.temporary_files()
                if not re.fullmatch(r"distccd_\w+-\w{8}\.o\.tmp|"
                                    r"symbolizer-(in|out)put-\w{6}", name)]
            if not farms.wait_until(lambda: not unknown(), CLEANING):
                self.problems.append("files at a daemon: %s" % unknown())
        left = set(os.listdir(self.lane.top)) - files - {self.folder.name}
        left |= {path.name for path in self.folder.iterdir()} - {
            "cache", "distcc", "iceccd", "log", "said", "small", "out"}
        if "out.dtlto-verify" in left and "differ" in self.said():
            left.remove("out.dtlto-verify")
        state = self.folder / "distcc/state"
        # A link that is killed, or that ends by LLVM's fatal error, leaves
        # files.
        if state.exists() and code >= 0 and self.case["event"] not in cases.CLIENT:
            left |= set(os.listdir(state))
        if left:
            self.problems.append("files are left: %s" % sorted(left))

    def said(self):
        return (self.folder / "said").read_text(errors="replace")


def main():
    lane = Lane(sys.argv[1])
    results = os.fdopen(os.dup(1), "w")
    # Nothing that other code prints must look like a result.
    os.dup2(2, 1)
    for line in sys.stdin:
        case = json.loads(line)
        try:
            result = lane.run(case)
        except Exception:
            result = dict(case, reached=False, outcome="harness",
                          problems=["the harness failed"],
                          text=traceback.format_exc())
            if lane.farm:
                lane.farm.hurt = True
        results.write(json.dumps(result) + "\n")
        results.flush()
    lane.stop_farm()


if __name__ == "__main__":
    main()
