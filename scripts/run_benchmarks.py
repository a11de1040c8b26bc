#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run_benchmarks.py BUILD - every figure this project holds itself to.

First the programs BUILD/bin/bench-*, each of which prints its own; then whole runs of nbcc: the
least time of several, of the process from start to end; then the proof of the whole library, each
file once, slowest first.
"""

import pathlib
import resource
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
    ("Bruck's allgather, one rank of 2^20, to its schedule", 0.2, 5,
     ["allgather/bruck.nbc", "--ranks=1048576", "--emit=schedule"]),
    ("Bruck's allgather, one rank of 2^20, after all passes", 0.2, 5,
     ["allgather/bruck.nbc", "--ranks=1048576", "--emit=schedule", "--run=default"]),
    ("recursive doubling, one rank of 2^20, to its schedule", 0.2, 5,
     ["allreduce/recursive_doubling.nbc", "--ranks=1048576", "--emit=schedule"]),
    ("recursive doubling, one rank of 2^20, after all passes", 0.2, 5,
     ["allreduce/recursive_doubling.nbc", "--ranks=1048576", "--emit=schedule", "--run=default"]),
]
LIBRARY_SECONDS = 60
LIBRARY_CPU_SECONDS = 110  # the same where a machine has other things to do
LIBRARY_JOBS = 2
SHOWN = 8  # of the library's files, the slowest


def seconds(command):
    begin = time.perf_counter()
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return time.perf_counter() - begin


def prove_library(nbcc):
    """Wall and CPU seconds of the proof of all files for 1..128 ranks; whether it took too long."""
    def cpu():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    took = []
    for file in sorted(LIBRARY.glob("*/*.nbc")):
        before = cpu()
        wall = seconds([nbcc, file, "--prove=1..128", f"--jobs={LIBRARY_JOBS}"])
        took.append((wall, cpu() - before, file.relative_to(LIBRARY)))
    took.sort(reverse=True)
    wall, processor = sum(t[0] for t in took), sum(t[1] for t in took)
    print("library:")
    for t in took[:SHOWN]:
        print(f"  {t[2]}: {t[0]:.2f} s, CPU {t[1]:.2f} s")
    slow = wall > LIBRARY_SECONDS or processor > LIBRARY_CPU_SECONDS
    print(f"  all {len(took)} files proven for 1..128 ranks with {LIBRARY_JOBS} jobs: {wall:.1f} s, "
          f"CPU {processor:.1f} s (at most {LIBRARY_SECONDS} s, CPU {LIBRARY_CPU_SECONDS} s"
          f"{': too slow' if slow else ''})", flush=True)
    return slow


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
    slow += prove_library(programs / "nbcc")
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
