#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""library.py NBCC PLANS RUN FOLDER OUTPUT [--ranks 1..8] [--pair | --mpi] [--long] - the library over real queue pairs.

nbcc makes the templates of all ranks out here, where that is quick; then one boot of the virtual machine
(RUN is scripts/rdma_vm/run, FOLDER where its kernel is) calls them all with the program PLANS. Every
algorithm meets every number of ranks; the ways that messages go (copied; written, read, or sent, in place)
take turns, and so do parameters, one set for each number.

With --pair RUN is scripts/rdma_vm/pair: half of the ranks are in one guest, half in another, and packets go
through both systems' networks. That is no part of the tests that always run: it takes a processor for each.
    test/verbs/library.py build/release/bin/{nbcc,verbs-plans} scripts/rdma_vm/pair ~/.cache/nbcc/rdma_vm /tmp/pair \\
        --pair --ranks 2..8

With --mpi ranks are those of Open MPI, or of MPICH where their number is odd, whose programs PLANS-openmpi and PLANS-mpich
(mpi-check) are. For each number all messages go one way, forced by the environment; a quarter of the algorithms takes
its turn, so that each meets each MPI once: most of the time is that of starting ranks.

With --long all algorithms are called with 1 MiB and 4 MiB and a bit, not three of them on two ranks: up to four
ranks each way, on more each algorithm one of the ways in turn. That takes hours: SECONDS_LEFT=20000.

Prints what the program says; exits with its status.
"""

import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "test" / "mpi")]
import batch  # noqa: E402
import library  # noqa: E402 - how a template is made
import soak  # noqa: E402 - the cases

# Bytes up to which messages are copied; more than one call in the queue, and more than the device may have; a thread
# beside who waits.
WAYS = ["--eager=4096 --flights=4 --depth=2", "--eager=64 --flights=3 --depth=4",
        "--read --eager=64 --flights=2 --depth=1 --thread", "--send --eager=64 --flights=4 --depth=3",
        "--direct --eager=64 --flights=3 --depth=2"]

# Of more than an adapter sends at once, and of parts of such; also copied, which no default does.
LONG_WAYS = ["--thread --depth=2 --lengths=131073,524289", "--read --depth=1 --lengths=131073,524289",
             "--copied --depth=1 --lengths=131073", "--send --depth=2 --lengths=131073,524289",
             "--direct --depth=2 --lengths=131073,524289"]
# Elements; of many ranks on the guest's few processors fewer lengths: none, odd, more than is copied.
MANY_RANKS, FEW_LENGTHS, LENGTHS = 6, "--lengths=3,0,1001", "--lengths=3,0,1,257,1000"
FEW_WAYS = 5  # so many ranks, and more, with 4 MiB: each algorithm goes one way
# Who sends to a peer that is late comes again after so long: 20 ms. The guest's adapter makes 4 ms of anything shorter,
# and then a fifth of all packets of 8 ranks were refusals.
RNR_TIMER = 22
MOST_SECONDS = 400  # of one program, which otherwise would take the time of all
LONG_ONES = ("allreduce-ring", "alltoall-pairwise", "bcast-binomial")

# Under an MPI. Loops that wait have to yield. A third of Open MPI's start is the opening of components without use here.
FORCED = [["eager"], ["write", "read"], ["direct"], ["send"], ["eager"]]  # of a rank; 2 and 3; 4 and 5; ...
LAUNCHERS = {
    "openmpi": "mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 --mca pml ob1 "
               "--mca btl self,vader --mca osc rdma --mca io ompio --mca coll basic,libnbc,tuned -n",
    "mpich": "mpiexec.mpich -genv UCX_TLS tcp,sm,self -genv LD_PRELOAD {yields} -n",
}

# Algorithms that say `on port`, whatever their parameters.
PORTED = ("allgather-circulant", "bcast-split_binary", "reduce-knomial")


def templates(compiler, ranks, folder):
    """Files for this number of ranks."""
    made = []
    for number, path in enumerate(sorted(soak.LIBRARY.glob("*/*.nbc"))):
        algorithm = f"{path.parent.name}/{path.stem}"
        sets = [""] + soak.PARAMETERS.get(algorithm, [])
        made.append(library.make(compiler, path, "verbs", 1, ranks, sets[ranks % len(sets)], number, folder))
    return [file for file in made if file]


def in_turn(files, ranks, way):
    """Those of the files that go this way on so many ranks."""
    return [file for i, file in enumerate(files) if (i + ranks) % len(WAYS) == way]


def lengths_on(ranks):
    return FEW_LENGTHS if ranks >= MANY_RANKS else LENGTHS


def names(files):
    return " ".join(f"templates/{file.name}" for file in files)


def by_mpi(a, compiler, output):
    """The lines of a script that calls all algorithms under both MPIs."""
    lines = []
    yields = a.plans.parent.parent / "test" / "libmpich-yield.so"
    for ranks in a.ranks:
        files = templates(compiler, ranks, output / "templates")
        turn = ranks // len(LAUNCHERS)
        mpi, launcher = list(LAUNCHERS.items())[ranks % len(LAUNCHERS)]
        for number, way in enumerate(FORCED[turn % len(FORCED)]):
            lines.append(f"export NBC_VERBS_TRANSFER={way}")
            lines.append(f"{launcher.format(yields=yields)} {ranks} {a.plans}-{mpi} --verbs --in-place --by-definition "
                         f"{lengths_on(ranks)} {names(files[(turn + number) % 4::4])} || status=1")
    return lines


def by_files(a, compiler, output):
    """The same by processes that meet over files; long ones; and over two adapters."""
    lines = []

    def call(ranks, words):
        if a.pair:
            meeting, half = f"/meeting/{len(lines)}", (ranks + 1) // 2
            lines.append(f"mkdir -p {meeting}; [ $GUEST = 1 ] && here=0..{half - 1} || here={half}..{ranks - 1}")
            words = f"--here=$here --meeting={meeting} {words}"
        lines.append(f"timeout -v {MOST_SECONDS * (10 if a.long else 1)} {a.plans} {ranks} {words} || status=1")

    for ranks in a.ranks:
        files = templates(compiler, ranks, output / "templates")
        if ranks == 5:
            ports = names(file for file in files if file.name.startswith(PORTED))
        for number, way in enumerate(WAYS):
            lengths = LENGTHS if a.long else lengths_on(ranks)
            call(ranks, f"{way} {lengths} {names(in_turn(files, ranks, number))}")
        if a.long or ranks == 2:
            long = files if a.long else [file for file in files if file.name.startswith(LONG_ONES)]
            for number, way in enumerate(LONG_WAYS):
                call(ranks, f"{way} {names(in_turn(long, ranks, number) if ranks >= FEW_WAYS else long)}")
    # Two adapters: what says `on port` goes over both.
    if not a.pair and 5 in a.ranks:
        lines.append("ip link add dummy1 type dummy && ip link set dummy1 mtu 4500 && ip addr add 10.0.1.1/24 dev "
                     "dummy1 && ip link set dummy1 up && rdma link add rxe1 type rxe netdev dummy1 || status=1")
        lines.append("export NBC_VERBS_DEVICE=rxe0,rxe1")
        call(5, f"--eager=64 --thread {ports}")
        lines.append("sent=$(cat /sys/class/infiniband/rxe1/ports/1/hw_counters/sent_pkts)")
        lines.append("[ $sent -gt 20 ] && echo two adapters || status=1")
    return lines


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    for name in ["nbcc", "plans", "run", "folder", "output"]:
        arguments.add_argument(name)
    arguments.add_argument("--ranks", type=soak.ranges, default=soak.ranges("1..8"))
    arguments.add_argument("--pair", action="store_true")
    arguments.add_argument("--mpi", action="store_true")
    arguments.add_argument("--long", action="store_true")
    a = arguments.parse_args()
    a.plans = pathlib.Path(a.plans).resolve()
    if a.pair and min(a.ranks) < 2:
        arguments.error("--pair needs a rank for each guest: --ranks 2..8")
    output = pathlib.Path(a.output).resolve()
    (output / "templates").mkdir(parents=True, exist_ok=True)
    with batch.Batch(a.nbcc) as compiler:
        lines = (by_mpi if a.mpi else by_files)(a, compiler, output)
    calls = output / "calls"
    begin = ["status=0", f"export NBC_VERBS_RNR_TIMER={RNR_TIMER}"]
    if a.long:  # of 8 ranks, in all ways of calling
        os.environ.setdefault("MEMORY", "3072")
    calls.write_text("\n".join([*begin, *lines, "exit $status"]) + "\n")
    sys.exit(subprocess.run([a.run, a.folder, output, f"cd {output} && bash {calls}"], check=False).returncode)


if __name__ == "__main__":
    main()
