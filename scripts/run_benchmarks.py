#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run_benchmarks.py BUILD - every figure this project holds itself to.

First the programs BUILD/bin/bench-*, each of which prints its own; then whole runs of nbcc: the
least time of several, of the process from start to end.
"""

import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "stdlib_algos"

# What, at most seconds, how often, arguments.
RUNS = [
    ("bruck.nbc to the tasks of one rank of 8", 0.1, 10,
     ["allgather/bruck.nbc", "--target=coredirect", "--ranks=8", "--emit=tasks"]),
    ("ring allgather, one rank of 65536, to its schedule", 1.0, 3,
     ["allgather/ring.nbc", "--ranks=65536", "--emit=schedule"]),
    ("ring allgather, one rank of 65536, after all passes", 1.0, 3,
     ["allgather/ring.nbc", "--ranks=65536", "--emit=schedule", "--run=default"]),
    ("prove ring allgather for 512 ranks", 3.0, 2, ["allgather/ring.nbc", "--prove=512..512"]),
    ("simulated run of Bruck's allgather on 1024 ranks", 2.0, 2,
     ["allgather/bruck.nbc", "--target=coredirect", "--ranks=1024", "--count=1", "--run", "--quiet"]),
]


def seconds(command):
    begin = time.perf_counter()
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return time.perf_counter() - begin


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: run_benchmarks.py BUILD")
    programs = pathlib.Path(sys.argv[1]).resolve() / "bin"
    slow = 0
    for program in sorted(programs.glob("bench-*")):
        print(f"{program.name}:", flush=True)
        slow += subprocess.run([program], check=False).returncode != 0
    print("nbcc:")
    for what, limit, times, arguments in RUNS:
        command = [programs / "nbcc", LIBRARY / arguments[0], *arguments[1:]]
        took = min(seconds(command) for _ in range(times))
        slow += took > limit
        print(f"  {what}: {took:.3f} s (at most {limit:g} s{'' if took <= limit else ': too slow'})",
              flush=True)
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
