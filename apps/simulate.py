#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""simulate.py BUILD -o PREFIX [--app NAME...] [--ranks N...] - what offloading gains the applications, in simulated time.

Each application runs on two ranks of this machine, by Open MPI, with trace.c in front of it: that says when rank 0 starts
each collective, when it waits for it, and how much it computes in between and besides. These times are kept, with
the bytes of each message, as ranks are added (weak scaling; the blocks of an alltoall are shared by more), and each
collective takes what it takes on the software HCA (nbcc --run, with --compute for what is in between). Three sums:

  blocking    compute, and then the collective, driven by hosts (target verbs)
  by hosts    the collective starts, hosts compute and look at nothing, and end it
  offloaded   the same by adapters that go on by themselves (target coredirect)

Gains are against the first. Collectives that the application itself calls to block do so in all three, by hosts. Ranks are
one on each node, and all as fast as rank 0. Sizes are small, so that there is something to gain: two ranks' share of
a problem that is spread wide. Writes PREFIX-ADAPTER.svg, .png and .gnuplot, which holds the data. Some minutes.
"""

import argparse
import collections
import concurrent.futures
import importlib.util
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import table

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPEC = importlib.util.spec_from_file_location("simulate", ROOT / "scripts" / "simulate.py")
simulate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(simulate)

APPS = {
    "cg": ["--size=24"],
    "compression": ["--size=16384", "--parts=64"],
    "fft": ["--size=32"],
    "pcg": ["--size=32"],
    "pipecg": ["--size=32"],
    "radixsort": ["--size=20000"],
}
RANKS = [16, 32, 64, 128, 256, 512]
TRACED, TRACES = 2, 5  # ranks; the run in which they compute least is taken, others are disturbed
ALGORITHMS = {"allgather": "bruck", "allreduce": "recursive_doubling", "alltoall": "pairwise", "gather": "binomial",
              "neighbor_alltoall": "linear"}

Event = collections.namedtuple("Event", "name bytes begin started waits over")  # microseconds
# Calls of one kind, of about as many bytes: `window` is microseconds between start and wait, None where it blocks.
Calls = collections.namedtuple("Calls", "name bytes window count")


def trace(build, app):
    """([Calls], microseconds of computation besides)"""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "trace"
        command = ["mpirun.openmpi", "--oversubscribe", "-x", f"LD_PRELOAD={build}/lib/openmpi/libapp-trace.so",
                   "-x", f"APP_TRACE={file}", "-n", str(TRACED), f"{build}/bin/app-{app}-openmpi", "--variant=nonblocking",
                   *APPS[app]]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode or not table.REPORT.search(run.stdout):
            raise simulate.Wrong(" ".join(command) + "\n" + run.stdout + run.stderr)
        end, *lines = file.read_text().splitlines()
    end = float(end)
    events = [Event(name, float(size), *map(float, times)) for name, size, *times in map(str.split, lines)]
    windows, rest = deal(events, end)
    return group(events, windows), rest


def deal(events, end):
    """The windows of calls, and the rest: computation is what is in no start and no wait, and in the window of the
    first call that is under way."""
    windows, rest = [0.0] * len(events), 0.0
    inside = sorted([(e.begin, e.started) for e in events] + [(e.waits, e.over) for e in events])
    at = 0.0
    for begin, over in [*inside, (end, end)]:
        if begin > at:
            first = next((i for i, e in enumerate(events) if e.started <= at and e.waits >= begin), None)
            if first is None:
                rest += begin - at
            else:
                windows[first] += begin - at
        at = max(at, over)
    return windows, rest


def group(events, windows):
    """[Calls]: what is of one kind, and of as many bytes to the power of two."""
    groups = collections.defaultdict(list)
    for e, window in zip(events, windows):
        groups[e.name, e.started == e.begin, round(math.log2(max(e.bytes, 1)))].append((e.bytes, window))
    calls = []
    for (name, blocks, _), found in groups.items():
        size, window = (sum(column) / len(found) for column in zip(*found))
        calls.append(Calls(name, size, None if blocks else window, len(found)))
    return calls


def computation(traced):
    calls, rest = traced
    return rest + sum(c.count * (c.window or 0) for c in calls)


def grid(ranks):
    """As MPI_Dims_create would have it, of a power of two."""
    power = ranks.bit_length() - 1
    return "x".join(str(1 << (power + d) // 3) for d in (2, 1, 0))


class Adapter:
    """Times of collectives; each is asked for once."""

    def __init__(self, nbcc, name):
        self.nbcc, self.name, self.known = nbcc, name, {}

    def time(self, target, calls, ranks, compute):
        if calls.name == "messages":
            costs = simulate.ADAPTERS[self.name]
            return costs["latency"] + 2 * costs["overhead"] + costs["gap-per-byte"] * calls.bytes
        size = calls.bytes * TRACED / ranks if calls.name == "alltoall" else calls.bytes
        reduces = calls.name == "allreduce"
        options = [f"--cart={grid(ranks)}" if calls.name == "neighbor_alltoall" else f"--ranks={ranks}",
                   f"--type={'f64' if reduces else 'u8'}", f"--count={max(1, round(size / 8 if reduces else size))}"]
        if compute:
            options.append(f"--compute={compute:.3f}")
        key = calls.name, target, *options
        if key not in self.known:
            algorithm = f"{calls.name}/{ALGORITHMS[calls.name]}"
            self.known[key] = simulate.simulated(self.nbcc, algorithm, target, self.name, options)
            if self.known[key] is None:
                raise simulate.Wrong(f"{algorithm} is not for {ranks} ranks")
        return self.known[key]

    def gains(self, traced, ranks):
        """Percent of the blocking variant's time: (by hosts, offloaded), and its share of communication."""
        calls, rest = traced
        blocking, overlapped, compute = rest, {"verbs": rest, "coredirect": rest}, rest
        for c in calls:
            alone = self.time("verbs", c, ranks, 0)
            blocking += c.count * (alone + (c.window or 0))
            compute += c.count * (c.window or 0)
            for target in overlapped:
                time = self.time(target, c, ranks, c.window) if c.window else alone
                overlapped[target] += c.count * time
        return [100 * (1 - time / blocking) for time in overlapped.values()], 100 * (1 - compute / blocking)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("-o", "--output", required=True, metavar="PREFIX")
    parser.add_argument("--app", choices=APPS, action="append")
    parser.add_argument("--ranks", type=int, action="append", help=f"a power of two {RANKS}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at once")
    options = parser.parse_args()
    os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    build, apps, all_ranks = options.build.resolve(), options.app or list(APPS), options.ranks or RANKS
    try:
        traced = {app: min((trace(build, app) for _ in range(TRACES)), key=computation) for app in apps}
        for app, (calls, rest) in traced.items():
            for c in calls:
                window = "called to block" if c.window is None else f"{c.window:.1f} us of computation in each"
                print(f"{app}: {c.count} {c.name} of {c.bytes:.0f} bytes, {window}")
            print(f"{app}: {rest:.1f} us of computation besides", flush=True)
        for name in simulate.ADAPTERS:
            adapter = Adapter(str(build / "bin" / "nbcc"), name)
            points = [(app, ranks) for app in apps for ranks in all_ranks]
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                found = dict(zip(points, pool.map(lambda p, a=adapter: a.gains(traced[p[0]], p[1]), points)))
            for (app, ranks), ((hosts, offloaded), share) in found.items():
                print(f"{name}, {app}, {ranks} ranks: communication {share:.0f} % of the blocking variant; "
                      f"gains {hosts:.1f} % by hosts, {offloaded:.1f} % offloaded", flush=True)
            lines = [(app + what, f"linecolor {colour} dashtype {dash} pointtype {dash * 2 + 3}",
                      [(ranks, found[app, ranks][0][which]) for ranks in all_ranks])
                     for colour, app in enumerate(apps, 1)
                     for which, what, dash in ((1, "", 1), (0, ", by hosts", 2))]
            simulate.plot(f"{options.output}-{name}", f"gain over blocking calls, {name}, simulated", "ranks",
                           "gain, % of the time", "set yrange [-60:60]", lines)
    except simulate.Wrong as wrong:
        sys.exit(f"simulate.py: {wrong}")


if __name__ == "__main__":
    main()
