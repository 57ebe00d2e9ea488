# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gone.py between|during VICTIMS COMMAND...: runs COMMAND, a link of four modules in
two rounds, and kills some daemons (VICTIMS: their numbers, with commas). The daemons
are farm.py's, with Inputs/waiting.sh as the compiler. COMMAND needs
--thinlto-dist-log=link.log and --thinlto-dist-report=report.json. The moment:

  between  when the first round has ended. The second round begins after that, since
           its log is a pipe that is full
  during   when all four jobs of the second round have begun, and none has ended

Fails unless each victim ran a job in the first round, and none in the second.
"""

import json
import os
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "Inputs"))
from daemons import kill_session

# In seconds. A wait is short unless something is broken.
LIMIT = 60


def wait_until(link, condition):
    end = time.monotonic() + LIMIT
    while not condition():
        assert link.poll() is None, "the link has ended"
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.003)


def begun(number):
    """Returns whether all jobs of a round have begun."""
    return sum(name.startswith(number) for name in os.listdir("begun")) == 4


def let_go(number):
    with open("begun/go" + number, "w"):
        pass


def first_has_ended():
    try:
        with open("link.round1.log") as log:
            return "\n  Close\n" in log.read()
    except FileNotFoundError:
        return False


def empty(log):
    """Empties the pipe."""
    try:
        while True:
            os.read(log, 1 << 16)
    except BlockingIOError:
        pass


def play(link, when, victims, log):
    def kill():
        for victim in victims:
            kill_session(int(os.environ["FARM_SESSIONS"].split()[victim - 1]))
        let_go("2")

    wait_until(link, lambda: begun("1"))
    let_go("1")
    wait_until(link, first_has_ended)
    if when == "between":
        assert not os.path.exists("out") and not begun("2")
        kill()
    empty(log)
    if when == "during":
        wait_until(link, lambda: begun("2"))
        kill()
    end = time.monotonic() + LIMIT
    while link.poll() is None:
        assert time.monotonic() < end, "it takes too long"
        empty(log)
        time.sleep(0.003)
    if link.returncode:
        sys.exit(link.returncode)


def check(victims):
    with open("report.json") as f:
        jobs = json.load(f)["jobs"]
    who = {1: set(), 2: set()}
    for job in jobs:
        who[job["round"]].add(job["attempts"][job["winner"]].get("worker"))
    assert len(jobs) == 8, jobs
    for victim in victims:
        name = "127.0.0.1:" + os.environ["PORT%d" % victim]
        assert name in who[1] and name not in who[2], (name, who)


def main():
    when, victims = sys.argv[1], [int(n) for n in sys.argv[2].split(",")]
    shutil.rmtree("begun", ignore_errors=True)
    for name in "link.log", "link.round1.log", "out":
        if os.path.lexists(name):
            os.unlink(name)
    os.mkdir("begun")
    os.chmod("begun", 0o1777)
    os.mkfifo("link.log")
    log = os.open("link.log", os.O_RDWR | os.O_NONBLOCK)
    try:
        while True:
            os.write(log, b"#" * 4096)
    except BlockingIOError:
        pass
    link = subprocess.Popen(sys.argv[3:])
    try:
        play(link, when, victims, log)
    finally:
        link.kill()
        link.wait()
    check(victims)


if __name__ == "__main__":
    main()
