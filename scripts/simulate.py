#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""simulate.py -o PREFIX [NBCC] - latency and overlap of offloaded collectives in simulated time, as plots.

Every point is two runs of nbcc --run on the software HCA, which carries out the work queue entries of all
ranks and looks at every byte of the result: one in which hosts wait for the call, which takes t, and one
in which they compute for t in between and look at nothing, which takes t2; overlap is 1 - (t2 - t) / t,
as NBCBench has it. Offloaded is --target=coredirect; host-driven the same algorithm with
--target=verbs, whose hosts post what is next when they have seen what came before.

Ranks are one on each node, or NODE on each where an algorithm has leaders: they exchange by the node's
memory there. Sets: allgather and allreduce by ranks; leaders, and two levels, beside flat algorithms; lengths, on 16
nodes, with one port and three.

Hosts have no figures with three ports, which target verbs does not simulate. What has messages by the square of the
ranks, or by that of the nodes, ends where a run would take more than 5 GB.

Writes PREFIX-*.svg, .png, and .gnuplot, which holds the data. About half an hour of one core and 5 GB
for each of --jobs; with --most=128 one minute.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "stdlib_algos"

# LogGP in microseconds. L and G as published: QDR, of which PCIe 2.0 leaves 3.2 GB/s, with 1.0 to
# 1.5 us; NDR, 400 Gbit/s, with 0.6 us. What an adapter takes for an entry of a queue and for a message
# to itself is published for neither: these are estimates.
ADAPTERS = {
    "connectx2": {"latency": 1.3, "overhead": 0.3, "gap": 0.2, "gap-per-byte": 0.00031,
                  "nic-overhead": 0.2, "loopback-latency": 0.9},
    "connectx7-cd": {"latency": 0.6, "overhead": 0.1, "gap": 0.01, "gap-per-byte": 0.00002,
                  "nic-overhead": 0.02, "loopback-latency": 0.4},
}
RANKS = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096]

NODE = 8  # ranks on one, where there are leaders
GATHER = 0.0001  # microseconds that a byte takes within a node, as nbcc has it
LENGTHS = [1, 16, 128, 1024, 4096, 16384, 65536]  # f64


class Line:
    """An algorithm with its parameters, for up to so many ranks.

    `node`: so many share its memory. `look`: microseconds that hosts look after the start before they compute, and as
    long as a node's blocks take to their leader, in another line of overlap. `by_length`: ranks where lengths differ.
    """

    def __init__(self, title, path, parameters=None, most=4096, ports=1, node=1, hosts=True, look=0, by_length=64):
        self.title, self.path, self.parameters, self.most = title, path, parameters or {}, most
        self.ports, self.node, self.hosts, self.look, self.by_length = ports, node, hosts, look, by_length


ALLGATHER = [Line("Bruck", "allgather/bruck"), Line("Bruck, k = 3", "allgather/bruck", {"k": 3}),
             Line("Bruck, k = 3, 3 ports", "allgather/bruck", {"k": 3}, ports=3, hosts=False),
             Line("standard exchange", "allgather/standard_exchange"),
             Line("standard exchange, k = 3", "allgather/standard_exchange", {"k": 3}),
             Line("standard exchange, k = 3, 3 ports", "allgather/standard_exchange", {"k": 3}, ports=3, hosts=False),
             Line("circulant", "allgather/circulant"),
             Line("neighbor exchange", "allgather/neighbor_exchange", most=1024),
             Line("ring", "allgather/ring", most=1024), Line("linear", "allgather/linear", most=512)]
ALLREDUCE = [Line("recursive doubling", "allreduce/recursive_doubling")] + [
    Line(f"reduce-bcast, degree {d}", "allreduce/reduce_bcast", {"degree": d}) for d in (2, 3, 4)]
# Flat, an adapter for each rank, and with leaders.
LEADERS = [Line("Bruck", "allgather/bruck", hosts=False), Line("ring", "allgather/ring", most=1024, hosts=False),
           Line("ring of leaders", "allgather/leader", node=NODE),
           Line("ring of leaders, after 1 us", "allgather/leader", node=NODE, hosts=False, look=1),
           Line("leaders by Bruck", "allgather/leader_bruck", node=NODE),
           Line("leaders by Bruck, after 1 us", "allgather/leader_bruck", node=NODE, hosts=False, look=1),
           Line("leaders by standard exchange", "allgather/leader_standard_exchange", node=NODE),
           Line("leaders by standard exchange, k = 3", "allgather/leader_standard_exchange", {"k": 3}, node=NODE),
           Line("leaders by standard exchange, k = 3, 3 ports", "allgather/leader_standard_exchange", {"k": 3}, ports=3,
                node=NODE, hosts=False),
           Line("leaders by standard exchange, k = 3, 3 ports, after 1 us", "allgather/leader_standard_exchange", {"k": 3},
                ports=3, node=NODE, hosts=False, look=1),
           Line("2 leaders a node", "allgather/multi_leader", most=2048, node=NODE),
           Line("2 groups a node", "allgather/multi_group", most=2048, node=NODE)]
TWO_LEVEL = [Line("flat, recursive doubling", "allreduce/recursive_doubling", hosts=False),
             Line("flat, reduce-bcast, degrees 2 and 4", "allreduce/reduce_bcast", {"degree": 2, "fanout": 4}, hosts=False),
             Line("recursive doubling", "allreduce/two_level", node=NODE),
             Line("recursive doubling, after 1 us", "allreduce/two_level", node=NODE, hosts=False, look=1),
             *(Line(f"reduce-bcast, degree {d}", "allreduce/two_level_reduce_bcast", {"degree": d}, node=NODE)
               for d in (2, 3, 4)),
             Line("reduce-bcast, degrees 2 and 4", "allreduce/two_level_reduce_bcast", {"degree": 2, "fanout": 4},
                  node=NODE),
             Line("reduce-bcast, degrees 2 and 4, after 1 us", "allreduce/two_level_reduce_bcast",
                  {"degree": 2, "fanout": 4}, node=NODE, hosts=False, look=1)]
# By length, on 16 nodes.
LENGTH = [Line("standard exchange", "allgather/standard_exchange", hosts=False, by_length=16),
          Line("standard exchange, k = 3", "allgather/standard_exchange", {"k": 3}, hosts=False, by_length=16),
          Line("standard exchange, k = 3, 3 ports", "allgather/standard_exchange", {"k": 3}, ports=3, hosts=False,
               by_length=16),
          Line("ring", "allgather/ring", hosts=False, by_length=16),
          Line("64 ranks, ring", "allgather/ring", hosts=False),
          Line("64 ranks, ring of leaders, 4 a node", "allgather/leader", node=4, hosts=False),
          Line("64 ranks, ring of leaders, 4 a node, after the gather", "allgather/leader", node=4, hosts=False, look=1),
          Line("64 ranks, leaders by standard exchange, k = 3, 3 ports", "allgather/leader_standard_exchange", {"k": 3},
               ports=3, node=4, hosts=False),
          Line("64 ranks, leaders by standard exchange, k = 3, 3 ports, after the gather", "allgather/leader_standard_exchange",
               {"k": 3}, ports=3, node=4, hosts=False, look=1),
          Line("64 ranks, 2 leaders, 4 a node", "allgather/multi_leader", node=4, hosts=False)]
TIME = re.compile(r"^  time +([0-9.]+) us simulated", re.MULTILINE)


class Wrong(Exception):
    pass


def simulated(nbcc, algorithm, target, adapter, options):
    """Microseconds of a run; None: the algorithm is not for that."""
    command = [nbcc, str(LIBRARY / (algorithm + ".nbc")), f"--target={target}", "--run", "--no-prove", *options]
    if target == "coredirect":
        command.append(f"--device={adapter}")
    command += [f"--{name}={value}" for name, value in ADAPTERS[adapter].items()]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = TIME.search(run.stdout)
    if not run.returncode and found:
        return float(found.group(1))
    if "requires this, which does not hold" in run.stderr:
        return None
    raise Wrong(" ".join(command) + "\n" + run.stdout + run.stderr)


class Point:
    """One algorithm on so many ranks, of blocks so long, on one adapter, offloaded or not."""

    def __init__(self, line, adapter, target, ranks, count, kind):
        self.line, self.adapter, self.target, self.ranks, self.count, self.kind = \
            line, adapter, target, ranks, count, kind
        self.latency = self.overlap = None

    def time(self, nbcc, compute):
        line = self.line
        options = [f"--ranks={self.ranks}", f"--count={self.count}", "--type=f64"]
        if self.target == "coredirect":
            options.append(f"--ports={line.ports}")
        if line.node > 1:
            options.append(f"--topology={self.ranks // line.node}x{line.node}")
        for name, value in line.parameters.items():
            options += ["-p", f"{name}={value}"]
        if compute:
            options.append(f"--compute={compute:.6f}")
            if line.look:
                options.append(f"--look={line.look + (line.node - 1) * 8 * self.count * GATHER:.6f}")
        return simulated(nbcc, line.path, self.target, self.adapter, options)

    def x(self):
        return 8 * self.count if self.kind == "lengths" else self.ranks

    def measure(self, nbcc):
        self.latency = self.time(nbcc, 0)
        if self.latency:
            self.overlap = 1 - (self.time(nbcc, self.latency) - self.latency) / self.latency
        return self


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def plot(output, title, xlabel, ylabel, scale, lines):
    """The script holds its data, so it can be kept and drawn again otherwise. lines: title, style, points; scale: gnuplot's
    command for the y axis."""
    output = pathlib.Path(output)
    key = "outside right" if max(len(name) for name, _, _ in lines) < 32 else "below"
    size = f"1000,{600 + 20 * max(0, len(lines) - 8)}" if key == "below" else "1000,600"
    script = [f"set key {key}", "set grid", "set logscale x 2", f"set xlabel {quoted(xlabel)}",
              f"set ylabel {quoted(ylabel)}", f"set title {quoted(title)} noenhanced",
              scale]
    for number, (_, _, points) in enumerate(lines):
        script.append(f"$d{number} << EOD\n" + "\n".join(f"{x} {y:.3f}" for x, y in points) + "\nEOD")
    drawn = ", ".join(f"$d{n} with linespoints {style} title {quoted(name)}"
                      for n, (name, style, _) in enumerate(lines))
    script += [f"set terminal pngcairo noenhanced size {size}", "set output " + quoted(output.name + ".png"),
               "plot " + drawn, f"set terminal svg noenhanced size {size}",
               "set output " + quoted(output.name + ".svg"), "replot", "unset output"]
    file = output.parent / (output.name + ".gnuplot")
    file.write_text("\n".join(script) + "\n")
    run = subprocess.run(["gnuplot", file.name], cwd=file.parent, capture_output=True, text=True, check=False)
    if run.returncode:
        raise Wrong(f"gnuplot {file}: {run.stderr.strip()}")


def draw(points, prefix):
    for kind, all_lines in SETS.items():
        by_length = kind == "lengths"
        for adapter in ADAPTERS:
            latency, overlap, colours = [], [], {}
            for line in all_lines:
                colour = colours.setdefault((line.path, str(line.parameters), line.node, line.ports), len(colours) + 1)
                for target, dash in (("coredirect", 1), ("verbs", 2)):
                    mine = sorted((p for p in points if p.latency and (p.line, p.adapter, p.target, p.kind)
                                   == (line, adapter, target, kind)), key=lambda p: (p.ranks, p.count))
                    if not mine:
                        continue
                    kind_of_line = 3 if line.look else dash
                    style = f"linecolor {colour} dashtype {kind_of_line} pointtype {kind_of_line * 2 + 3}"
                    name = line.title + (", by hosts" if target == "verbs" else "")
                    if not line.look:
                        latency.append((name, style, [(p.x(), p.latency) for p in mine]))
                    overlap.append((name, style, [(p.x(), 100 * p.overlap) for p in mine]))
            if latency:
                what = TITLES.get(kind, f"{kind} of one f64")
                title, xlabel = f"{what}, {adapter}, simulated", "bytes of a block" if by_length else "ranks"
                plot(f"{prefix}-{kind}-{adapter}-latency", title, xlabel, "us", "set logscale y", latency)
                plot(f"{prefix}-{kind}-{adapter}-overlap", title, xlabel, "overlap, %", "set yrange [0:105]", overlap)


SETS = {"allgather": ALLGATHER, "allreduce": ALLREDUCE, "leaders": LEADERS, "two-level": TWO_LEVEL, "lengths": LENGTH}
TITLES = {"lengths": "allgather on 16 nodes", "leaders": f"allgather of one f64, flat and with leaders of {NODE} ranks",
          "two-level": f"allreduce of one f64, flat and in two levels of {NODE} ranks"}


def points_of(kind, lines, most):
    """What is to be measured."""
    for line in lines:
        for adapter in ADAPTERS:
            for target in ("coredirect", "verbs") if line.hosts else ("coredirect",):
                if kind == "lengths":
                    for count in LENGTHS if line.by_length <= most else ():
                        yield Point(line, adapter, target, line.by_length, count, kind)
                    continue
                for ranks in RANKS:
                    if max(16, line.node) <= ranks <= min(line.most, most):
                        yield Point(line, adapter, target, ranks, 1, kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nbcc", nargs="?", default=str(ROOT / "build/release/bin/nbcc"))
    parser.add_argument("-o", "--output", required=True, metavar="PREFIX")
    parser.add_argument("--most", type=int, default=4096, help="ranks [4096]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at once")
    parser.add_argument("--only", choices=list(SETS))
    arguments = parser.parse_args()
    points = [p for kind, lines in SETS.items() if arguments.only in (None, kind)
              for p in points_of(kind, lines, arguments.most)]
    points.sort(key=lambda p: p.ranks * p.count)
    try:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for p in pool.map(lambda p: p.measure(arguments.nbcc), points):
                if p.latency:
                    length = f" of {8 * p.count} bytes" if p.kind == "lengths" else ""
                    print(f"{p.kind} {p.line.title}, {p.adapter}, {p.target}, {p.ranks} ranks{length}: "
                          f"{p.latency:.2f} us, overlap {100 * p.overlap:.0f} %", flush=True)
        draw(points, arguments.output)
    except Wrong as wrong:
        sys.exit(f"simulate.py: {wrong}")


if __name__ == "__main__":
    main()
