# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a link through a farm costs the linker's machine; distcc-link and
icecc-link are this with a farm each.

A farm has a `name`, that of its plugin; `hosts`, what its machines are called;
`environment`, what a link needs; and moved(run), bytes so far by their kind, to
be called before a link, and with its benchlib.Run after it."""

import filecmp
import os
import statistics

import benchlib

GOAL = 0.05  # of the code generation's CPU time


def parser(doc, machines):
    """`machines` have as many slots together as this machine has cores."""
    parser = benchlib.Parser(doc)
    parser.add_folder("lld")
    parser.add_number("--runs", 3, "links of each kind")
    parser.add_number(
        "--slots", max(1, os.cpu_count() // machines), "of each machine"
    )
    parser.add_linker()
    return parser


class Places:
    """Where the modules of a link were compiled, in the order of their ends."""

    def __init__(self, report):
        attempts = benchlib.attempts(report)
        self.all = [self._place(a) for a in attempts if a["used"]]
        lost = [i for i, a in enumerate(attempts) if not a["used"]]
        self.retried = len(lost)
        self.before = sum(a["used"] for a in attempts[: lost[0]]) if lost else None

    @staticmethod
    def _place(attempt):
        return "here" if attempt["in_linker"] else f"on {attempt['worker']}"

    @staticmethod
    def text(places):
        return ", ".join(
            f"{places.count(p)} {p}" for p in sorted(set(places))
        ) or "none"


class Links:
    """The three kinds of links, and the first ones: the cache is full then, and
    the farm was used."""

    def __init__(self, options, farm, out, plugin=None):
        self.folder, self.farm, self.out = options.dir, farm, out
        self.report = out / "report.json"
        shared = ["@link.rsp", f"--thinlto-jobs={os.cpu_count()}"]
        self.commands = {
            "stock": [benchlib.STOCK, *shared],
            "cached": [
                benchlib.STOCK, *shared, f"--thinlto-cache-dir={out / 'cache'}",
                "--thinlto-cache-policy=prune_interval=24h",
            ],
            # Nothing compiled here instead: that would be no measurement.
            farm.name: [
                options.linker, *shared, "--thinlto-dist-fallback=none",
                f"--thinlto-dist-plugin={plugin or farm.name}",
                f"--thinlto-dist-report={self.report}",
            ],
        }
        self.kinds = list(self.commands)
        benchlib.warm_up(self.folder, self.commands.values())
        self.link("cached")

    def link(self, kind):
        output = self.out / kind
        # Replacing a big file takes time of its own.
        output.unlink(missing_ok=True)
        before = self.farm.moved()
        run = benchlib.Run(
            [*self.commands[kind], "-o", output], cwd=self.folder,
            env=self.farm.environment,
        )
        if kind == self.farm.name:
            run.moved = {
                what: (count - before.get(what, 0)) / 2**20
                for what, count in self.farm.moved(run).items()
            }
            run.places = Places(self.report)
        return run

    def same(self):
        return all(
            filecmp.cmp(self.out / "cached", self.out / kind, shallow=False)
            for kind in self.kinds if (self.out / kind).exists()
        )


def verdict(links, same):
    """The last line, and the exit code."""
    print(f"outputs: {'identical' if same else 'DIFFERENT'}, "
          f"{(links.out / 'cached').stat().st_size} bytes")
    return 0 if same else 1


def measure(options, links):
    """Returns the exit code."""
    rounds, same = [], True
    for number in range(options.runs):
        kinds = links.kinds[::-1] if number % 2 else links.kinds
        rounds.append({kind: links.link(kind) for kind in kinds})
        same = links.same() and same
        print(f"  round {number + 1}: " + ", ".join(
            f"{kind} {rounds[-1][kind].wall:.2f} s "
            f"({rounds[-1][kind].cpu:.2f} s CPU)" for kind in links.kinds
        ), flush=True)

    spread, farm = benchlib.spread, links.farm.name
    print(f"{'':8}{'wall, s':>24}{'CPU, s':>24}{'peak, MiB':>24}")
    for kind in links.kinds:
        runs = [r[kind] for r in rounds]
        print(
            f"{kind:8}{spread(run.wall for run in runs):>24}"
            f"{spread(run.cpu for run in runs):>24}"
            f"{spread((run.peak for run in runs), 0):>24}"
        )
    generation = [r["stock"].cpu - r["cached"].cpu for r in rounds]
    added = [r[farm].cpu - r["cached"].cpu for r in rounds]
    print(f"CPU of code generation (stock - cached): {spread(generation)} s")
    print(f"CPU that distribution adds ({farm} - cached): {spread(added)} s")
    # Programs of no size have links whose CPU times are all the same.
    if all(seconds > 0 for seconds in generation):
        share = statistics.median(a / g for a, g in zip(added, generation))
        print(f"the second over the first: {100 * share:.1f} % "
              f"(goal {100 * GOAL:.0f} %{': over' if share > GOAL else ''})")
    for measure, text in ("cpu", "the linker's whole CPU"), ("wall", "wall"):
        ratios = [getattr(r[farm], measure) / getattr(r["stock"], measure)
                  for r in rounds]
        print(f"{text}, {farm} over stock: {spread(ratios, 3)}")
    last = rounds[-1][farm]
    for what in last.moved:
        print(f"{what}: {spread((r[farm].moved[what] for r in rounds), 1)} MiB")
    print(f"{len(last.places.all)} modules: {Places.text(last.places.all)}")
    return verdict(links, same)
