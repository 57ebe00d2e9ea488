# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A run of the campaign: a fault, its moment, and the link. Run k of a seed is
always the same case."""

import random

# The plugin: distcc with a stock clang, distcc with dtlto-codegen, or icecc.
PLUGINS = "distcc", "codegen", "icecc"

# The moment. The proxy sees the first five and the middle three states, and the
# linker's event log has the rest. `start` means from the beginning.
STATES = ("start", "resolve", "connect", "probe", "environment", "queued",
          "sending", "compiling", "receiving", "verifying", "delivering", "close")
ON_THE_WIRE = "connect", "probe", "environment", "sending", "compiling", "receiving"

# Faults of a network.
NETWORK = "cut", "reset", "stall", "dribble", "flipped bit"
# Faults of the farm's processes. `thawed`: frozen, and continued 0.7 s later.
PROCESSES = ("daemon killed", "all daemons killed", "child killed", "frozen",
             "all frozen", "thawed")
CLUSTER = "scheduler killed", "scheduler frozen", "local daemon killed"
# Machines that are faulty from the start.
WRONG = "wrong version", "wrong object", "wrong job", "fast failure"
# Resources that this machine, or a server, runs out of.
OWN = "output: no space", "cache: no space", "few descriptors", "few threads"
MAKES_WRONG = "flipped bit", "wrong object", "wrong job"
SERVER_FULL = "server: no space"
SIGNALS = "SIGTERM", "SIGHUP", "SIGPIPE", "SIGINT"

# The link must report this, and may fail: stock LLVM fails as well.
CLIENT = OWN + SIGNALS

# A run with only this problem is repeated.
SLOW = "it took longer than its bound"

CACHES = "cold", "warm", "shared"
HOSTS = 2
SLOTS = 2  # per host

# The limits that the links set, in seconds.
SILENCE = 2  # DISTCC_IO_TIMEOUT, transfer-timeout=
GRANT = 3  # grant-timeout=
JOB = 4  # --thinlto-dist-timeout
NAMES = 2  # of the resolver: one second, two attempts
MIN_RATE = 1024  # bytes a second
# Limits without a setting: for a connection, for libicecc's handshake, and the
# interval at which icecc asks for a node.
CONNECT = 10
HANDSHAKE = 4
REQUESTS = 3
# Time for packing, sending, unpacking and testing the worker, on nodes without
# it.
ENVIRONMENT = 3


def pairs(plugin):
    """Returns all pairs (event, state)."""
    found = []
    icecc = plugin == "icecc"
    states = [state for state in STATES[1:]
              if icecc or state != "environment"]
    for state in states:
        for event in NETWORK:
            # A single packet, or none, can't dribble.
            if event == "dribble" and state in ("resolve", "connect"):
                continue
            if event == "flipped bit" and state in ("connect", "compiling"):
                continue
            found.append((event, state))
        for event in PROCESSES + (CLUSTER if icecc else ()) + SIGNALS:
            found.append((event, state))
    # These have at most one moment each.
    rest = [("wrong object", "receiving"), ("wrong job", "receiving"),
            ("fast failure", "compiling"),
            ("output: no space", "delivering"), ("cache: no space", "delivering"),
            ("few descriptors", "start"), ("few threads", "start")]
    if not icecc:
        # icecc sends its own compiler.
        rest += [("wrong version", "probe"), (SERVER_FULL, "sending")]
    found += 3 * rest
    return found


def draw(seed, run):
    r = random.Random("%d %d" % (seed, run))
    case = {"seed": seed, "run": run}
    plugin = case["plugin"] = r.choices(PLUGINS, (35, 30, 35))[0]
    event, state = r.choice(pairs(plugin))
    case.update(event=event, state=state)
    # One connection (packet), all of one host, or all. For processes: which
    # host.
    case["scope"] = r.choice(("once", "host", "all"))
    case["host"] = r.randrange(HOSTS)
    case["nth"] = r.choice((0, 0, 1))
    # For states with both directions.
    case["direction"] = r.choice(("out", "in"))
    most = {"probe": 60, "sending": 3000, "receiving": 900, "resolve": 40,
            "environment": 1 << 20}.get(state, 16)
    case["offset"] = r.choice((r.randrange(min(most, 60)), r.randrange(most)))
    case["bit"] = r.randrange(8)
    case["number"] = r.randrange(40)  # the number of descriptors, threads, or KiB
    case["cache"] = r.choice(CACHES)
    case["verify"] = r.choice((0, 5, 100))
    # Compared objects are compiled locally as well.
    if state == "verifying":
        case["verify"] = r.choice((5, 100))
    case["fallback"] = r.choice(("local", "none"))
    # Large modules, which the linker's cores compile as well as the farm.
    case["large"] = case["fallback"] == "local" and r.random() < 0.2
    # The modules that a warm cache has.
    case["warm"] = r.sample(range(6), 3)
    # So many small modules that icecc sends them in batches. With a fault of
    # more than one connection, too many jobs would hit it one after the other.
    case["many"] = (plugin == "icecc" and case["scope"] == "once" and
                    not case["large"] and r.random() < 0.5)
    case["duplicates"] = r.random() < 0.8
    return case


def program(case):
    """Returns which of links.PROGRAMS is linked."""
    return ("large" if case["large"] else "many" if case.get("many") else
            "small")


def is_farm_fault(case):
    return case["event"] not in CLIENT


def is_wrong(case, host):
    """Returns whether this host is faulty, if any is. icecc sends all nodes the
    same worker."""
    return (case["scope"] == "all" or case["plugin"] == "icecc" or
            host == case["host"])


def is_unnoticed(case):
    """Returns whether a wrong object may be linked: a stock clang adds no
    digest, and not all objects are compared."""
    return (case["plugin"] == "distcc" and case["verify"] < 100 and
            case["event"] in MAKES_WRONG)


def may_fail(case):
    """Returns whether the link may fail although this machine compiles what the
    farm can't. Differing objects are an error for any fallback, and undetected
    wrong objects may fail to link."""
    return (case["fallback"] == "none" or not is_farm_fault(case) or
            case["plugin"] == "distcc" and case["event"] in MAKES_WRONG)


def allowance(case):
    """Returns what documented limits add, in seconds, to twice the time of the
    link alone plus three seconds. 0 if local cores take overdue jobs, or if the
    fault is detected at once."""
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
        # The bytes before the fault extend the limit.
        limit += 1 + case["offset"] // MIN_RATE
    if not icecc:
        # A job can hit that limit at each host.
        return 0 if at_once else HOSTS * limit
    # The limit for grants ends what icecream's daemons detect late. The job's
    # limit ends a node that accepts a job and doesn't finish it.
    if at_once:
        return GRANT
    # Three nodes are tried, and the handshake may time out at each. A transfer
    # without progress has the job's limit.
    if event == "dribble":
        limit = min(limit, JOB)
    return max(JOB, REQUESTS * max(limit, HANDSHAKE)) + GRANT
