# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A stock icecream cluster on this machine, for as long as a benchmark runs."""

import os
import sys
from pathlib import Path

import benchlib

CLUSTER = benchlib.ROOT / "test/icecc/Inputs/cluster.py"


def enter(nodes, slots, options=()):
    """Starts this program again, with the tests' cluster.py around it: in a
    network with a scheduler, a local daemon and `nodes` nodes with `slots`
    slots each, which also stops them. Returns there, and only there, the
    cluster. `options` are cluster.py's."""
    if "CLUSTER_DIR" in os.environ:
        return Cluster()
    os.execv(sys.executable, [
        sys.executable, str(CLUSTER), f"--jobs={slots}", "--limit=86400",
        # iceccd makes its compilers nicer than others, which would be all that
        # one sees on a busy machine.
        "--daemon-arg=--nice", "--daemon-arg=0",
        # HOME is another there.
        f"--env=DTLTO_BENCH_CACHE={benchlib.cache_folder()}", *options,
        str(nodes), "--", sys.executable, "-B", *sys.argv,
    ])


def carried(device):
    """Bytes that a network device of this network has sent, and received."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == device:
            numbers = numbers.split()
            return int(numbers[8]), int(numbers[0])
    benchlib.fail(f"there is no device {device}")


class Cluster:
    name = "icecc"

    def __init__(self):
        # It goes when the cluster ends.
        self.folder = Path(os.environ["CLUSTER_DIR"]) / "bench"
        self.folder.mkdir()
        # The packed worker is kept there.
        self.cache = self.folder / "worker"
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.cache))

    @staticmethod
    def moved(link=None):
        """Bytes that have gone through the network, both ways together, with the
        headers of TCP and IP and all that the daemons say to each other."""
        return {"moved": carried("lo")[1]}
