# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests what bench/replay computes from the numbers of a run."""

import sys
import types
import unittest

sys.path.insert(0, sys.argv.pop())
import replaylib  # noqa: E402

STATS = {
    "open": 101.0, "first_submit": 101.5, "close": 111.0, "cpu_at_open": 1.0,
    "cpu_at_close": 3.0, "plugin_cpu": 0.5, "recorded": 100, "finished": 90,
    "longest": 4.0, "work": 80.0, "capacity": 10.0,
    "bytes_useful": 500, "bytes_a_second": 100.0, "slot_seconds": 47.5,
}


def replay(**changes):
    run = types.SimpleNamespace(begin=100.0, epoch=5000.0, wall=12.0, cpu=6.0,
                                peak=10)
    return replaylib.Replay(run, {**STATS, **changes}, 5000.75, 0,
                            alone=80.0 / 6)


class Arithmetic(unittest.TestCase):
    def test_work(self):
        r = replay()
        self.assertAlmostEqual(r.thin, 0.75)
        self.assertAlmostEqual(r.final, 1.0)
        self.assertAlmostEqual(r.bound, 0.75 + 80 / 10 + 1)
        self.assertAlmostEqual(r.efficiency, 9.75 / 12)
        self.assertAlmostEqual(r.speed_up, (0.75 + 80 / 6 + 1) / 12)
        self.assertAlmostEqual(r.slots_busy, 0.5)
        self.assertAlmostEqual(r.host_cpu, 1.5)
        self.assertEqual(r.local, 10)

    def test_longest(self):
        self.assertAlmostEqual(replay(longest=9).bound, 1.75 + 9)

    def test_bytes(self):
        self.assertAlmostEqual(replay(bytes_useful=1000).bound, 1.75 + 10)

    def test_no_trace(self):
        run = types.SimpleNamespace(begin=100.0, epoch=5000.0, wall=12.0,
                                    cpu=6.0, peak=10)
        self.assertAlmostEqual(
            replaylib.Replay(run, STATS, None, 0, 1).thin, 1.0)

    def test_cluster(self):
        args = replaylib.Cluster(
            machines=3, gbps=10, no_cache=True, die=["1@2"], scale=2.5
        ).plugin_args()
        for word in ("machines=3", "slots=6", "gbps=10",
                     "cache=0", "die=1@2", "scale=2.500000"):
            self.assertIn(word, args)


unittest.main()
