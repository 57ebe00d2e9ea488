# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One measured link on a simulated cluster, and its evaluation."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import benchlib
import recording

BASE_SLOTS = 6  # the one machine that speed-ups compare with

# The cluster: the plugin's arguments (replay-plugin/Settings.h), their defaults
# and descriptions.
CLUSTER = {
    "machines": (16, "how many"),
    "slots": (6, "of each machine"),
    "gbps": (1.0, "of the linker's link"),
    "machine_gbps": (None, "of each machine's link (default: as --gbps)"),
    "latency_us": (200.0, "of each message"),
    "ahead": (0, "jobs that each machine takes in addition to its slots"),
    "compress": (False, "send inputs compressed with zstd"),
    "no_cache": (False, "machines keep nothing: each job is sent all its inputs"),
    "held": (False, "machines have all inputs from earlier links: a CAS that "
             "has\neverything"),
    "die": ([], "M@T: machine M (from 0) dies T seconds after the first job; or with\n"
            "M@Njobs once N jobs have ended, with M@Nbegun when it begins its N-th"),
    "notice_ms": (1000.0, "until a dead machine's jobs are given back"),
    "slow": ([], "M:X@T: machine M gets X times slower"),
    "scale": (1.0, "time passes X times faster on the cluster (CPU times, latency, "
              "faults;\nbandwidth is multiplied), but not in the linker"),
}


class Cluster:
    def __init__(self, **given):
        vars(self).update({key: default for key, (default, _) in CLUSTER.items()},
                          **given)

    @staticmethod
    def add_options(parser):
        for key, (default, text) in CLUSTER.items():
            name = "--" + key.replace("_", "-")
            if default is False:
                parser.add_flag(name, text)
            elif isinstance(default, list):
                parser.add_list(name, "FAULT", text)
            elif isinstance(default, int):
                parser.add_number(name, default, text, least=0)
            else:
                parser.add_value(name, default, text)

    @classmethod
    def of(cls, options):
        return cls(**{key: getattr(options, key) for key in CLUSTER})

    def plugin_args(self):
        args = {**vars(self), "cache": not self.no_cache}
        del args["no_cache"]
        return [
            f"{key.replace('_', '-')}={self._word(value)}"
            for key, given in args.items() if given is not None
            for value in (given if isinstance(given, list) else [given])
        ]

    @staticmethod
    def _word(value):
        if isinstance(value, bool):
            return int(value)
        return f"{value:.6f}" if isinstance(value, float) else value

    def describe(self):
        text = (f"{self.machines} machines with {self.slots} slots, {self.gbps:g} "
                f"Gb/s, {self.latency_us:g} us")
        for key, (default, _) in CLUSTER.items():
            value = getattr(self, key)
            if value != default and key not in ("machines", "slots", "gbps",
                                                "latency_us"):
                text += f", {key.replace('_', '-')}"
                text += "" if value is True else f" {value}"
        return text


def busy_seconds():
    """The CPU time that this machine has used since its start, in seconds."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, soft = map(
            int, file.readline().split()[1:8]
        )
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


def bound(thin, final, stats):
    """The minimum time of a link; all times in seconds. `stats` are the replay
    plugin's."""
    return thin + final + max(
        stats["longest"],
        stats["work"] / stats["capacity"],
        stats["bytes_useful"] / stats["bytes_a_second"],
    )


class Replay:
    """One link. Times are seconds as measured: with a scale, those of the
    cluster are scaled."""

    def __init__(self, run, stats, thin, others, alone):
        """`thin` is the end of the thin link, if LLD's time trace has it; `others` is the
        number of cores that other processes used; `alone` is the time on one machine."""
        self.stats, self.measured, self.others = stats, run.wall, others
        self.thin = thin - run.epoch if thin else stats["open"] - run.begin
        self.final = run.begin + run.wall - stats["close"]
        self.bound = bound(self.thin, self.final, stats)
        self.efficiency = self.bound / self.measured
        self.speed_up = (self.thin + alone + self.final) / self.measured
        self.cpu, self.peak = run.cpu - stats["plugin_cpu"], run.peak
        self.host_cpu = (stats["cpu_at_close"] - stats["cpu_at_open"]
                         - stats["plugin_cpu"])
        self.local = stats["recorded"] - stats["finished"]
        backend = stats["close"] - stats["first_submit"]
        self.slots_busy = stats["slot_seconds"] / (
            stats["capacity"] * backend) if backend > 0 else 0


def command(options, rec, cluster, args, out):
    plugin_args = [f"recording={rec.folder}", f"stats={out / 'stats'}",
                   *cluster.plugin_args()]
    if rec.whole:  # clang has no option for parts
        plugin_args.append("config=1")
    own = [f"--thinlto-dist-fallback={'local' if cluster.die else 'none'}",
           f"--thinlto-dist-costs={rec.folder / 'costs.txt'}"]
    if cluster.scale != 1:
        # Local compiles would take other times than the recorded ones.
        own.append("--thinlto-dist-local-jobs=0")
    return [
        options.linker, "@link.rsp", *rec.args,
        "-o", out / "output", f"--time-trace={out / 'trace'}",
        f"--thinlto-jobs={os.cpu_count()}",
        f"--thinlto-dist-plugin={recording.plugin('replay')}", *own,
        *(f"--thinlto-dist-plugin-arg={arg}" for arg in plugin_args), *args,
    ]


def replay(options, rec, cluster, args):
    """Runs one link. Its output must equal the recorded one."""
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        words = command(options, rec, cluster, args, out)
        busy = busy_seconds()
        run = benchlib.Run(words, cwd=rec.link)
        others = max(0, (busy_seconds() - busy - run.cpu) / run.wall)
        if recording.sha256(out / "output") != rec.sha256:
            benchlib.fail("the output differs from the recorded link's")
        span = benchlib.trace_span(out / "trace", "ThinLink")
        result = Replay(run, json.loads((out / "stats").read_text()),
                        span and span[1], others, rec.alone(BASE_SLOTS) / cluster.scale)
        result.messages = run.output
        if options.keep_output:
            shutil.copy(out / "output", options.keep_output)
        return result


def measure(options, rec, cluster, args):
    """Runs the links. Returns them in the order of their times, and the middle
    one."""
    benchlib.warm_up(rec.link, [[options.linker]])
    benchlib.warm_up(rec.folder, [])
    runs = sorted((replay(options, rec, cluster, args) for _ in range(options.repeat)),
                  key=lambda run: run.measured)
    return runs, runs[(len(runs) - 1) // 2]
