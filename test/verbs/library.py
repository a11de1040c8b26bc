#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""library.py NBCC PLANS RUN FOLDER OUTPUT [--ranks 1..8] [--pair] - the library's algorithms over real queue pairs.

nbcc makes the templates of all ranks out here, where that is quick; then one boot of the virtual machine
(RUN is scripts/rdma_vm/run, FOLDER where its kernel is) calls them all with the program PLANS. Every
algorithm meets every number of ranks; the three ways that messages go (copied; written, or read, in place)
take turns, and so do parameters, one set for each number.

With --pair RUN is scripts/rdma_vm/pair: half of the ranks are in one guest, half in another, and packets go
through both systems' networks. That is no part of the tests that always run: it takes a processor for each.
    test/verbs/library.py build/release/bin/{nbcc,verbs-plans} scripts/rdma_vm/pair ~/.cache/nbcc/rdma_vm /tmp/pair \\
        --pair --ranks 2..8

Prints what the program says; exits with its status.
"""

import argparse
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
        "--read --eager=64 --flights=2 --depth=1 --thread"]

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


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    for name in ["nbcc", "plans", "run", "folder", "output"]:
        arguments.add_argument(name)
    arguments.add_argument("--ranks", type=soak.ranges, default=soak.ranges("1..8"))
    arguments.add_argument("--pair", action="store_true")
    a = arguments.parse_args()
    if a.pair and min(a.ranks) < 2:
        arguments.error("--pair needs a rank for each guest: --ranks 2..8")
    output = pathlib.Path(a.output).resolve()
    (output / "templates").mkdir(parents=True, exist_ok=True)
    script = ["status=0"]

    def call(ranks, words):
        if a.pair:
            meeting, half = f"/meeting/{len(script)}", (ranks + 1) // 2
            script.append(f"mkdir -p {meeting}; [ $GUEST = 1 ] && here=0..{half - 1} || here={half}..{ranks - 1}")
            words = f"--here=$here --meeting={meeting} {words}"
        script.append(f"{a.plans} {ranks} {words} || status=1")

    with batch.Batch(a.nbcc) as compiler:
        for ranks in a.ranks:
            files = templates(compiler, ranks, output / "templates")
            if ranks == 5:
                ports = [f"templates/{file.name}" for file in files if file.name.startswith(PORTED)]
            for number, way in enumerate(WAYS):
                mine = [f"templates/{file.name}" for i, file in enumerate(files) if (i + ranks) % len(WAYS) == number]
                call(ranks, f"{way} {' '.join(mine)}")
    # Long ones: more than an adapter sends at once, and parts of such.
    for way in ["--thread", "--read"]:
        long = [f"templates/{name}-2" for name in ("bcast-binomial", "alltoall-pairwise", "allreduce-ring")]
        call(2, f"{way} --lengths=131073,524288 {' '.join(long)}")
    # Two adapters: what says `on port` goes over both.
    if not a.pair and 5 in a.ranks:
        script.append("ip link add dummy1 type dummy && ip link set dummy1 mtu 4500 && ip addr add 10.0.1.1/24 dev "
                      "dummy1 && ip link set dummy1 up && rdma link add rxe1 type rxe netdev dummy1 || status=1")
        script.append("export NBC_VERBS_DEVICE=rxe0,rxe1")
        call(5, f"--eager=64 --thread {' '.join(ports)}")
        script.append("sent=$(cat /sys/class/infiniband/rxe1/ports/1/hw_counters/sent_pkts)")
        script.append("[ $sent -gt 20 ] && echo two adapters || status=1")
    calls = output / "calls"
    calls.write_text("\n".join(script + ["exit $status"]) + "\n")
    sys.exit(subprocess.run([a.run, a.folder, output, f"cd {output} && bash {calls}"], check=False).returncode)


if __name__ == "__main__":
    main()
