# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One measured link on a simulated cluster, and what it means."""

import json
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import benchlib
import recording

BASE_SLOTS = 6  # of the one machine that speed-ups compare with


@dataclass
class Cluster:
    machines: int = 16
    slots: int = 6
    gbps: float = 1
    machine_gbps: float = None
    latency_us: float = 200
    ahead: int = 0
    no_cache: bool = False
    compress: bool = False
    held: bool = False
    spread: float = 0
    seed: int = 1
    die: list = field(default_factory=list)
    notice_ms: float = 1000
    slow: list = field(default_factory=list)
    scale: float = 1

    @classmethod
    def of(cls, options, **changes):
        values = {
            key: getattr(options, key) for key in cls.__dataclass_fields__
        }
        return cls(**{**values, **changes})

    def plugin_args(self):
        args = {
            "machines": self.machines, "slots": self.slots,
            "ahead": self.ahead, "gbps": self.gbps,
            "machine-gbps": self.machine_gbps or self.gbps,
            "latency-us": self.latency_us, "cache": int(not self.no_cache),
            "spread": self.spread, "seed": self.seed,
            "notice-ms": self.notice_ms, "scale": self.scale,
            "compress": int(self.compress), "held": int(self.held),
        }
        words = [
            f"{k}={v:.6f}" if isinstance(v, float) else f"{k}={v}"
            for k, v in args.items()
        ]
        return (words + [f"die={d}" for d in self.die]
                + [f"slow={s}" for s in self.slow])

    def describe(self):
        text = (
            f"{self.machines} machines with {self.slots} slots, "
            f"{self.gbps:g} Gb/s, {self.latency_us:g} us"
        )
        if self.machine_gbps:
            text += f", machines {self.machine_gbps:g} Gb/s"
        if self.compress:
            text += ", compressed"
        if self.ahead:
            text += f", {self.ahead} jobs ahead on each"
        if self.held:
            text += ", inputs held from earlier links"
        if self.no_cache:
            text += ", nothing kept on machines"
        if self.spread:
            text += f", speeds {1 - self.spread:g}..{1 + self.spread:g}"
        for die in self.die:
            text += f", dies: {die}"
        for slow in self.slow:
            text += f", slow: {slow}"
        if self.scale != 1:
            text += f"; cluster's time passes {self.scale:g} times faster"
        return text


def thin_link_end(trace):
    """Seconds since the epoch of the end of ThinLink in a --time-trace file, or
    None if the thin link was too short to be in it."""
    span = benchlib.TimeTrace(trace).find("ThinLink")
    return span[1] if span else None


def busy_seconds():
    """CPU seconds that this machine has been at work since it started."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, soft = map(
            int, file.readline().split()[1:8]
        )
    ticks = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + soft) / ticks


def bound(thin, final, stats):
    """The least time that a link can take; all in seconds. `stats` are the
    replay plugin's."""
    return thin + final + max(
        stats["longest"] / stats["fastest"],
        stats["work"] / stats["capacity"],
        stats["bytes_useful"] / stats["bytes_a_second"],
    )


class Replay:
    """One link. Times are seconds as measured: with a scale, those of the
    cluster are scaled."""

    def __init__(self, run, stats, thin, others, alone):
        self.stats, self.measured, self.others = stats, run.wall, others
        self.thin_by_trace = thin is not None
        self.thin = thin - run.epoch if thin else stats["open"] - run.begin
        self.final = run.begin + run.wall - stats["close"]
        self.bound = bound(self.thin, self.final, stats)
        self.efficiency = self.bound / self.measured
        self.speed_up = (self.thin + alone + self.final) / self.measured
        self.cpu, self.peak = run.cpu, run.peak
        between = stats["cpu_at_close"] - stats["cpu_at_open"]
        self.host_cpu = between - stats["plugin_cpu"]
        self.local = stats["recorded"] - stats["finished"]
        backend = stats["close"] - stats["first_submit"]
        self.slots_busy = stats["slot_seconds"] / (
            stats["capacity"] * backend) if backend > 0 else 0


def costs_file(rec):
    """What links have learnt of this one's modules."""
    return rec.folder / "costs.txt"


def command(options, rec, cluster, args, out):
    plugin = recording.plugin("replay", options.plugin_dir)
    plugin_args = [f"recording={rec.folder}", f"stats={out / 'stats'}"]
    if options.keep_timeline:
        plugin_args.append(f"timeline={out / 'timeline'}")
    if options.config or rec.whole:  # clang has no option for parts
        plugin_args.append("config=1")
    fallback = options.fallback or ("local" if cluster.die else "none")
    own = [f"--thinlto-dist-fallback={fallback}"]
    if rec.drawn or cluster.scale != 1:
        # Jobs that are compiled here take other times than those recorded.
        own.append("--thinlto-dist-local-jobs=0")
    if not any(arg.startswith("--thinlto-dist-costs=") for arg in args):
        own.append(f"--thinlto-dist-costs={costs_file(rec)}")
    return [
        *options.wrap, options.linker, "@link.rsp", *rec.args,
        "-o", out / "output", f"--time-trace={out / 'trace'}",
        f"--thinlto-jobs={options.jobs or os.cpu_count()}",
        f"--thinlto-dist-plugin={plugin}", *own,
        *(f"--thinlto-dist-plugin-arg={arg}"
          for arg in plugin_args + cluster.plugin_args()),
        *args,
    ]


def replay(options, rec, cluster, args):
    """One link. Its output must be the recorded one."""
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        words = command(options, rec, cluster, args, out)
        busy = busy_seconds()
        run = benchlib.Run(words, cwd=rec.link)
        others = max(0, (busy_seconds() - busy - run.cpu) / run.wall)
        if recording.sha256(out / "output") != rec.sha256:
            benchlib.fail("the output isn't the recorded link's")
        stats = json.loads((out / "stats").read_text())
        result = Replay(run, stats, thin_link_end(out / "trace"), others,
                        rec.alone(BASE_SLOTS) / cluster.scale)
        result.messages = run.output
        for file in ("output", "timeline", "trace"):
            target = getattr(options, f"keep_{file}")
            if target:
                shutil.copy(out / file, target)
        return result


def measure(options, rec, cluster, args, quiet=False):
    """The links that were asked for, the one with the median time first."""
    benchlib.warm_up(rec.link, [[options.linker]])
    benchlib.warm_up(rec.folder, [])
    runs = []
    for number in range(options.repeat):
        runs.append(replay(options, rec, cluster, args))
        one = runs[-1]
        if not quiet:
            print(
                f"  link {number + 1}: {one.measured:.2f} s, bound "
                f"{one.bound:.2f} s; others used {one.others:.2f} of "
                f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}",
                flush=True,
            )
    runs.sort(key=lambda run: run.measured)
    middle = (len(runs) - 1) // 2
    return [runs[middle], *runs[:middle], *runs[middle + 1 :]]


def report(runs, cluster):
    r, s = runs[0], runs[0].stats
    if r.messages.strip():
        print(r.messages.strip())
    where = "LLD's time trace" if r.thin_by_trace else "the plugin's open()"
    print(f"thin link {r.thin:.3f} s (by {where}), final link {r.final:.3f} s")
    print(
        f"longest job {s['longest'] / s['fastest']:.2f} s, work / slots "
        f"{s['work'] / s['capacity']:.2f} s, bytes / bandwidth "
        f"{s['bytes_useful'] / s['bytes_a_second']:.2f} s"
    )
    print(
        f"{s['finished']} of {s['recorded']} jobs on the cluster, {r.local} "
        f"elsewhere; {s['lost']} lost, {s['moved']} moved, {s['duplicated']} "
        f"duplicated, {s['cancelled']} cancelled; {s['busy']} times busy"
    )
    print(
        f"sent {s['bytes_sent'] / 1e6:.3f} MB ({s['bytes_useful'] / 1e6:.3f} "
        f"MB for objects that were used; {s['bytes_distinct'] / 1e6:.3f} MB "
        f"would be each content once), back {s['bytes_back'] / 1e6:.3f} MB"
    )
    jobs = max(1, s["recorded"])
    print(
        f"slots busy {100 * r.slots_busy:.0f} % of the time between the first "
        f"job and close(), the link {s['sending_seconds']:.2f} s"
    )
    here = " (with the code generation of jobs done here)" if r.local else ""
    print(
        f"linker: {r.cpu - s['plugin_cpu']:.2f} s of CPU, {r.peak:.0f} MiB; "
        f"between open() and close() {1e6 * r.host_cpu / jobs:.0f} us a job"
        f"{here}; the plugin {1e6 * s['plugin_cpu'] / jobs:.0f} us "
        "a job"
    )
    if len(runs) > 1:
        times = sorted(run.measured for run in runs)
        print(f"median of {len(runs)} links, {times[0]:.2f}..{times[-1]:.2f} s")
    if cluster.die or cluster.slow:
        print("the bound is that of the machines before anything went wrong")
    if cluster.scale != 1:
        print(f"scaled: all times of the cluster are 1/{cluster.scale:g} of "
              "the recorded ones, but not those of the linker")
    print(f"speed-up over one machine with {BASE_SLOTS} slots: "
          f"{r.speed_up:.2f}")
    print(f"efficiency: {r.efficiency:.2f} (bound {r.bound:.2f} s, measured "
          f"{r.measured:.2f} s)")
