# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a run of the campaign is: which fault, when, and in which link. Run k of a
seed is always the same case."""

import random

# Which plugin: distcc with a stock clang, distcc with dtlto-codegen, icecc.
PLUGINS = "distcc", "codegen", "icecc"

# When. The first five and the middle three are seen by the proxy, the rest in the
# linker's event log; `start` is from the beginning.
STATES = ("start", "resolve", "connect", "probe", "environment", "queued",
          "sending", "compiling", "receiving", "verifying", "delivering", "close")
ON_THE_WIRE = "connect", "probe", "environment", "sending", "compiling", "receiving"

# What happens to bytes on their way.
NETWORK = "cut", "reset", "stall", "dribble", "flipped bit"
# What happens to processes of the farm. `thawed`: frozen, and continued 0.7 s later.
PROCESSES = ("daemon killed", "all daemons killed", "child killed", "frozen",
             "all frozen", "thawed")
CLUSTER = "scheduler killed", "scheduler frozen", "local daemon killed"
# Machines that are wrong from the start.
WRONG = "wrong version", "wrong object", "wrong job", "fast failure"
# What this machine, or a server, runs out of.
OWN = "output: no space", "cache: no space", "few descriptors", "few threads"
MAKES_WRONG = "flipped bit", "wrong object", "wrong job"
SERVER_FULL = "server: no space"
SIGNALS = "SIGTERM", "SIGHUP", "SIGPIPE", "SIGINT"

# The link must say so, but nothing else: stock LLVM fails so as well.
CLIENT = OWN + SIGNALS

# What a run is repeated for alone.
SLOW = "it took longer than its bound"

CACHES = "cold", "warm", "shared"
HOSTS = 2
SLOTS = 2  # of each host

# The limits that the links set, in seconds.
SILENCE = 2  # DISTCC_IO_TIMEOUT, transfer-timeout=
GRANT = 3  # grant-timeout=
JOB = 4  # --thinlto-dist-timeout
NAMES = 2  # of the resolver: one second, two tries
MIN_RATE = 1024  # bytes a second
# Those that have no setting: of a connection, of libicecc's handshake, and how often
# icecc asks for a node.
CONNECT = 10
HANDSHAKE = 4
REQUESTS = 3
# What it may take until the worker is packed, sent, unpacked and tried, where nodes
# don't have it.
ENVIRONMENT = 3


def pairs(plugin):
    """All (event, state) that there are."""
    found = []
    icecc = plugin == "icecc"
    states = [state for state in STATES[1:]
              if icecc or state != "environment"]
    for state in states:
        for event in NETWORK:
            # Of one packet, or none at all.
            if event == "dribble" and state in ("resolve", "connect"):
                continue
            if event == "flipped bit" and state in ("connect", "compiling"):
                continue
            found.append((event, state))
        for event in PROCESSES + (CLUSTER if icecc else ()) + SIGNALS:
            found.append((event, state))
    # These have one moment each, or none.
    rest = [("wrong object", "receiving"), ("wrong job", "receiving"),
            ("fast failure", "compiling"),
            ("output: no space", "delivering"), ("cache: no space", "delivering"),
            ("few descriptors", "start"), ("few threads", "start")]
    if not icecc:
        # icecc brings its own compiler.
        rest += [("wrong version", "probe"), (SERVER_FULL, "sending")]
    found += 3 * rest
    return found


def draw(seed, run):
    r = random.Random("%d %d" % (seed, run))
    case = {"seed": seed, "run": run}
    plugin = case["plugin"] = r.choices(PLUGINS, (35, 30, 35))[0]
    event, state = r.choice(pairs(plugin))
    case.update(event=event, state=state)
    # One connection (packet), all of one host, or all. Of a process: which host.
    case["scope"] = r.choice(("once", "host", "all"))
    case["host"] = r.randrange(HOSTS)
    case["nth"] = r.choice((0, 0, 1))
    # Where the state has both directions.
    case["direction"] = r.choice(("out", "in"))
    most = {"probe": 60, "sending": 3000, "receiving": 900, "resolve": 40,
            "environment": 1 << 20}.get(state, 16)
    case["offset"] = r.choice((r.randrange(min(most, 60)), r.randrange(most)))
    case["bit"] = r.randrange(8)
    case["number"] = r.randrange(40)  # of descriptors, threads, KiB
    case["cache"] = r.choice(CACHES)
    case["verify"] = r.choice((0, 5, 100))
    # What is compared has to be compiled here as well.
    if state == "verifying":
        case["verify"] = r.choice((5, 100))
    case["fallback"] = r.choice(("local", "none"))
    # Large modules, and the linker's cores work beside the farm.
    case["large"] = case["fallback"] == "local" and r.random() < 0.2
    # Which modules a warm cache has.
    case["warm"] = r.sample(range(6), 3)
    # So many and so small that icecc sends them in batches. A fault of more than
    # one connection would be met by too many jobs, one after the other.
    case["many"] = (plugin == "icecc" and case["scope"] == "once" and
                    not case["large"] and r.random() < 0.5)
    case["duplicates"] = r.random() < 0.8
    return case


def program(case):
    """Which of links.PROGRAMS is linked."""
    return ("large" if case["large"] else "many" if case.get("many") else
            "small")


def is_farm_fault(case):
    return case["event"] not in CLIENT


def is_wrong(case, host):
    """Whether this machine is, where any is. icecc's all get the same worker."""
    return (case["scope"] == "all" or case["plugin"] == "icecc" or
            host == case["host"])


def is_unnoticed(case):
    """Whether a wrong object may get into the link: a stock clang makes no digest,
    and not all objects are compared."""
    return (case["plugin"] == "distcc" and case["verify"] < 100 and
            case["event"] in MAKES_WRONG)


def may_fail(case):
    """Whether the link may fail where this machine compiles what the farm can't.
    Objects that differ are an error whatever the fallback is, and wrong ones that
    nobody noticed may not link."""
    return (case["fallback"] == "none" or not is_farm_fault(case) or
            case["plugin"] == "distcc" and case["event"] in MAKES_WRONG)


def allowance(case):
    """What documented limits add to twice the link's time alone and three seconds,
    in seconds: nothing where cores here take what is overdue, and a fault that is
    noticed at once costs nothing either."""
    event, state, icecc = case["event"], case["state"], case["plugin"] == "icecc"
    if not is_farm_fault(case) or (case["large"] and not case["verify"]):
        return 0
    at_once = event in WRONG or event in ("cut", "reset") or "killed" in event
    if state == "connect" and event == "stall":
        limit = CONNECT
    elif state == "resolve" and event in NETWORK:
        limit = NAMES
    else:
        limit = SILENCE
    if event == "dribble":
        # What came before the fault has paid for some more.
        limit += 1 + case["offset"] // MIN_RATE
    if not icecc:
        # A job has that at each host.
        return 0 if at_once else HOSTS * limit
    # What icecream's daemons notice late, the limit for grants ends; a node that
    # takes a job and doesn't end it, the job's.
    if at_once:
        return GRANT
    # Three nodes are tried, and each may shake no hands. A transfer that makes no
    # progress has the job's time.
    if event == "dribble":
        limit = min(limit, JOB)
    return max(JOB, REQUESTS * max(limit, HANDSHAKE)) + GRANT
