#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dropin.py BUILD [--mpi openmpi|mpich] [--ranks N] [--collective NAME,...] [--sizes BYTES,...] [--algorithm NAME,...]
                   [--threads] [--nonblocking|--waitall] [--vary|--fresh|--apart|--first|--behind|--made|--alone]
                   [--repeat N] [--timeout SECONDS]

Microseconds of collective calls in a row (dropin.c): with the MPI's own collectives, with libnbc-mpi.so in front of them
as its table has it, and with each named algorithm that the collective has. Ranks take the cores in turns. Runs are
interleaved; figures are medians, and the ratios are of those to the MPI alone. With --vary no call is like the one before;
with --fresh the memory of what a rank gives is written just before, which counts, where otherwise others' caches have it;
with --apart there is a barrier between two, which does not count, and the time is the mean of the ranks', as in benchmark
suites; with --first each is the first of its kind on a communicator, and its time is rank 0's. With --behind a call of 8 bytes
begins while a message of that many is under way to a rank that comes 5 ms late, which are not counted; what Open MPI does
in containers, which forbid it to read other processes' memory, shows OMPI_MCA_btl_vader_single_copy_mechanism=none. With
--made each call is of a type, columns with gaps, or by an operator, that is made and freed around it, which counts; with
--alone on a communicator of one rank. With --nonblocking it is MPI_Ibcast, waited for at once, and so on, with --waitall by
MPI_Waitall. With --threads the MPI was asked for MPI_THREAD_MULTIPLE, though one thread calls.
"""

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys

COLLECTIVES = ("barrier bcast gather scatter allgather alltoall gatherv scatterv allgatherv alltoallv reduce allreduce "
               "reduce_scatter reduce_scatter_block scan exscan").split()
LAUNCH = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"], "mpich": ["mpiexec.mpich"]}
ALONE, TABLE = "MPI alone", "libnbc-mpi"
STDLIB = pathlib.Path(__file__).resolve().parent.parent / "stdlib_algos"
# A rank's core; the library is for the program alone, not for what starts it.
PIN = 'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec taskset -c $((rank % CORES)) env "$@"'


def words(text):
    return text.split(",")


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--mpi", choices=LAUNCH, default="openmpi")
    p.add_argument("--ranks", type=int, default=2)
    p.add_argument("--collective", type=words, default=COLLECTIVES)
    p.add_argument("--sizes", type=words, default=words("8,64,1024,8192,65536,524288"))
    p.add_argument("--algorithm", type=words, default=[])
    p.add_argument("--threads", action="store_const", const=["--threads"], default=[])
    waits = p.add_mutually_exclusive_group()
    for manner in "nonblocking waitall".split():
        waits.add_argument(f"--{manner}", dest="waits", action="store_const", const=[f"--{manner}"], default=[])
    how = p.add_mutually_exclusive_group()
    how.add_argument("--vary", dest="how", action="store_const", const=["--vary"], default=[])
    for manner in "fresh apart first behind made alone".split():
        how.add_argument(f"--{manner}", dest="how", action="store_const", const=[f"--{manner}"])
    p.add_argument("--repeat", type=int, default=5)
    p.add_argument("--timeout", type=float, default=120)
    return p.parse_args()


def run(o, collective, sizes, choice):
    """Microseconds by size; none if it takes too long."""
    environment = []
    if choice != ALONE:
        environment.append(f"LD_PRELOAD={(o.build / 'lib' / o.mpi / 'libnbc-mpi.so').resolve()}")
    if choice not in (ALONE, TABLE):
        environment.append(f"NBC_{collective.upper()}={choice}")
    cores = len(os.sched_getaffinity(0))
    command = [*LAUNCH[o.mpi], "-n", str(o.ranks), "sh", "-c", PIN.replace("CORES", str(cores)), "sh", *environment,
               str((o.build / "bin" / f"bench-dropin-{o.mpi}").resolve()), *o.threads, *o.waits, *o.how, collective,
               *sizes]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=o.timeout)
    except subprocess.TimeoutExpired:
        print(f"{collective}, {choice}: not over after {o.timeout:g} s", file=sys.stderr)
        return None
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith(collective + " ")]
    # The library says on stderr what is no algorithm, and takes another.
    if done.returncode or len(lines) != len(sizes) or "\nnbc: " in "\n" + done.stderr:
        sys.exit(f"dropin.py: {collective}, {choice}, has failed:\n{done.stdout}{done.stderr}")
    return [float(line[2]) for line in lines]


def measure(o, collective):
    sizes = o.sizes if collective != "barrier" else ["8"]
    choices = [ALONE, TABLE] + [a for a in o.algorithm if (STDLIB / collective / f"{a.split(':')[0]}.nbc").exists()]
    figures = {c: [] for c in choices}
    for _ in range(o.repeat):
        for choice in random.sample(choices, len(choices)):
            figures[choice].append(run(o, collective, sizes, choice))
    medians = {c: [statistics.median(column) for column in zip(*filter(None, runs))] for c, runs in figures.items()}
    print(f"{collective:20}" + "".join(f"{s:>16}" for s in sizes))
    alone = medians[ALONE]
    for choice, row in medians.items():
        print(f"  {choice:18}" + "".join(f"{us:10.2f}" + (f" {us / alone[i]:5.2f}" if alone else 6 * " ")
                                         for i, us in enumerate(row)), flush=True)


def main():
    o = options()
    for collective in o.collective:
        if collective not in COLLECTIVES:
            sys.exit(f"dropin.py: no collective '{collective}': {' '.join(COLLECTIVES)}")
        measure(o, collective)


if __name__ == "__main__":
    main()
