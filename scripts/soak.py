#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""soak.py NBCC - every algorithm of the library on an adversarial device, over many seeds.

Each case is one algorithm with its parameters, one target, one protocol, one number of ranks and one type and
operator; nbcc runs it once for each seed, with --vary: the seed gives the lengths, the calls in
flight, the depth, what is in place, where indices begin, and how late ranks are. Where MPI lets
blocks differ, there are cases in which each has a length and a place of its own. A run fails on a
wrong byte, when it comes to rest or runs out of time before all is done, when the device has
something to say, and when a message found no receive though the adversary had not hidden it.

Prints each failure with the command that repeats it, and at last `N runs in N cases, N failed`.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import os
import pathlib
import queue
import re
import shlex
import subprocess
import sys
import time

import batch

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "stdlib_algos"
# Of each target the protocols that it has, and those with blocks of lengths of their own.
TARGETS = {
    "coredirect": (["auto", "eager", "rendezvous", "direct"], ["auto", "rendezvous"]),
    "mpi": (["auto"], ["auto"]),
    "sci": (["auto"], ["auto"]),
    "shm": (["auto"], ["auto"]),
    "verbs": (["auto"], ["auto"]),
}

# Parameters beside the defaults: each line one set.
PARAMETERS = {
    "allgather/bruck": ["k=2", "k=3"],
    "allgather/circulant": ["k=2"],
    "allgather/standard_exchange": ["k=2", "k=3"],
    "allreduce/recursive_multiplying": ["radix=3"],
    "allreduce/reduce_bcast": ["degree=3", "fanout=4"],
    "alltoall/bruck": ["k=2", "k=3"],
    "barrier/dissemination": ["k=2"],
    "barrier/tree": ["degree=3"],
    "bcast/chain": ["segments=1", "segments=3"],
    "bcast/hypercube": ["segments=3"],
    "bcast/knomial": ["degree=2"],
    "bcast/split_binary": ["segments=3"],
    "reduce/binary": ["segments=3"],
    "reduce/hypercube": ["segments=3"],
    "reduce/knomial": ["degree=3"],
}
# Types with gaps between what a block holds and what an alignment would; operators that the
# adapter has (i64 sum), that it lacks, and one that does not commute.
TYPES = ["i64", "byte", "i32"]
REDUCTIONS = [("i64", "sum"), ("f32", "max"), ("u64", "bxor"), ("u8", "prod")]
NOT_COMMUTING = ("u64", "affine")

# Kinds with v-variants, and why some of their algorithms do not serve these: a proof found it,
# or a rank of a tree does not know the lengths (test/stdlib_algos/library.py sees which they are).
OWN_LENGTHS = {"allgather", "alltoall", "gather", "scatter", "reduce_scatter",
               "neighbor_allgather", "neighbor_alltoall"}
REFUSED = re.compile("requires this, which does not hold|right only if all blocks are equally long|"
                     r"the length of \w+\[\d+\] is known at the root only")

Case = collections.namedtuple("Case",
                              "algorithm parameters target protocol ranks type op root lengths")


def ranges(text):
    """1..17 or 1,2,16"""
    values = []
    for part in text.split(","):
        first, _, last = part.partition("..")
        values += range(int(first), int(last or first) + 1)
    return values


def all_cases(targets, ranks, only):
    cases = []
    for path in sorted(LIBRARY.glob("*/*.nbc")):
        algorithm = f"{path.parent.name}/{path.stem}"
        if not re.search(only, algorithm):
            continue
        kind, source = path.parent.name, path.read_text(encoding="utf-8")
        kinds = [(t, "sum") for t in TYPES]
        if "reduce" in kind or kind.endswith("scan"):
            kinds = REDUCTIONS + ([NOT_COMMUTING] if "rank_order" in source else [])
        for parameters in [""] + PARAMETERS.get(algorithm, []):
            ways = []
            for target in targets:
                equal, each = TARGETS[target]
                ways += [(target, protocol, "equal") for protocol in equal]
                if kind in OWN_LENGTHS:
                    ways += [(target, protocol, "each") for protocol in each]
            for target, protocol, lengths in ways:
                for p in ranks:
                    # One type a case; over all cases each meets each.
                    pair = kinds[len(cases) % len(kinds)]
                    root = len(cases) % p
                    cases.append(Case(algorithm, parameters, target, protocol, p, *pair, root,
                                      lengths))
    return cases


def placed(case):
    """Where the ranks are, for an algorithm that asks: on as many nodes as divide them best; who is
    whose neighbour, for one that has some: in a grid, one dimension periodic."""
    source = (LIBRARY / f"{case.algorithm}.nbc").read_text(encoding="utf-8")
    nodes = max(n for n in range(1, case.ranks + 1) if n * n <= case.ranks and case.ranks % n == 0)
    if case.algorithm.startswith("neighbor_"):
        return [f"--cart={nodes}px{case.ranks // nodes}"]
    if not re.search(r"\b(node_of|nodes|ranks_on|first_on_node|local_rank)\b", source):
        return []
    return [f"--topology={nodes}x{case.ranks // nodes}"]


def command(case, seeds, device):
    line = [f"stdlib_algos/{case.algorithm}.nbc", f"--target={case.target}",
            f"--protocol={case.protocol}", f"--ranks={case.ranks}", f"--type={case.type}",
            f"--op={case.op}", f"--root={case.root}", f"--lengths={case.lengths}", "--run",
            "--vary", f"--seed={seeds}", "--quiet"]
    line += [f"--device={device}"] if device else []
    line += placed(case)
    return line + [word for p in case.parameters.split() for word in ("-p", p)]


def run(compiler, case, first, last, seconds, device):
    """Runs, and what to show of a failure. After a failure it goes on behind the seed that failed."""
    shown, runs, failed = [], 0, 0
    while first <= last:
        try:
            done = compiler.run(command(case, f"{first}..{last}", device), seconds)
        except subprocess.TimeoutExpired as hung:
            shown.append(f"hangs: not done after {seconds} s\n  " + shlex.join(hung.cmd))
            return runs, failed + 1, shown
        if done.returncode == 0:
            return runs + last - first + 1, failed, shown
        if REFUSED.search(done.stderr) and "--seed=" not in done.stderr:
            return 0, 0, []
        failed += 1
        seed = re.search(r"with --seed=(\d+)", done.stderr)
        at = seed.group(1) if seed else f"{first}..{last}"
        shown.append("\n".join(done.stderr.splitlines()[:12]) + f"\nexit status {done.returncode}: "
                     + shlex.join([compiler.nbcc, *command(case, at, device)]))
        if not seed or failed >= 3:  # did not compile, crashed, or it is clear enough
            return runs, failed, shown
        runs += int(at) - first + 1
        first = int(at) + 1
    return runs, failed, shown


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nbcc")
    parser.add_argument("--seeds", default="1..1000", help="[1..1000]")
    parser.add_argument("--ranks", default="1..17", help="[1..17]")
    parser.add_argument("--only", default="", help="algorithms that match, as bcast/")
    parser.add_argument("--target", action="append", choices=TARGETS, help="[all of them]")
    parser.add_argument("--device", help="as nbcc --device; with one target [each target's default]")
    parser.add_argument("--processes", type=int, default=2, help="at a time [2]")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for a case [900]")
    parser.add_argument("--protocol", action="append", choices=["auto", "eager", "rendezvous", "direct"],
                        help="only this one; may be repeated [all that a target has]")
    o = parser.parse_args()
    nbcc = str(pathlib.Path(o.nbcc).resolve())
    if not os.access(nbcc, os.X_OK):
        parser.error(f"{o.nbcc} is not there, or cannot be run")
    first, last = ranges(o.seeds)[0], ranges(o.seeds)[-1]
    cases = all_cases(o.target or list(TARGETS), ranges(o.ranks), o.only)
    cases = [case for case in cases if not o.protocol or case.protocol in o.protocol]
    terminal = sys.stderr.isatty()
    begin, runs, failed, ran = time.monotonic(), 0, 0, 0

    with contextlib.ExitStack() as running, concurrent.futures.ThreadPoolExecutor(o.processes) as pool:
        idle = queue.SimpleQueue()
        for _ in range(o.processes):
            idle.put(running.enter_context(batch.Batch(nbcc, cwd=ROOT)))

        def run_case(case):
            compiler = idle.get()
            try:
                return run(compiler, case, first, last, o.timeout, o.device)
            finally:
                idle.put(compiler)

        # Long ones first, so that none is left alone at the end.
        order = sorted(cases, key=lambda c: -c.ranks)
        futures = [pool.submit(run_case, case) for case in order]
        for n, future in enumerate(concurrent.futures.as_completed(futures), 1):
            more, wrong, shown = future.result()
            runs, failed, ran = runs + more, failed + wrong, ran + (more > 0 or wrong > 0)
            if terminal:
                print("\r\033[K", end="", file=sys.stderr)
            for text in shown:
                print(text + "\n", flush=True)
            if terminal:
                print(f"{n} of {len(cases)} cases, {runs} runs, {failed} failed, "
                      f"{time.monotonic() - begin:.0f} s", end="", file=sys.stderr, flush=True)
    if terminal:
        print(file=sys.stderr)
    if runs == 0:
        failed += 1  # nothing was shown
    print(f"{runs} runs in {ran} cases, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
