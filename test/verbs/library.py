#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""library.py NBCC PLANS RUN FOLDER OUTPUT [--ranks 1..8] - the library's algorithms over real queue pairs.

nbcc makes the templates of all ranks out here, where that is quick; then one boot of the virtual machine
(RUN is scripts/rdma_vm/run, FOLDER where its kernel is) calls them all with the program PLANS. Every
algorithm meets every number of ranks; the three ways that messages go (copied; written, or read, in place)
take turns, and so do parameters, one set for each number.

Prints what the program says; exits with its status.
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "test" / "mpi")]
import library  # noqa: E402 - how a template is made
import soak  # noqa: E402 - the cases

# Bytes up to which messages are copied; more than one call in the queue, and more than the device may have.
WAYS = ["--eager=4096 --flights=4 --depth=2", "--eager=64 --flights=3 --depth=4",
        "--read --eager=64 --flights=2 --depth=1"]


def templates(nbcc, ranks, folder):
    """Files for this number of ranks."""
    made = []
    for number, path in enumerate(sorted(soak.LIBRARY.glob("*/*.nbc"))):
        algorithm = f"{path.parent.name}/{path.stem}"
        if path.parent.name.startswith("neighbor_"):
            continue
        sets = [""] + soak.PARAMETERS.get(algorithm, [])
        made.append(library.make(nbcc, path, "verbs", 1, ranks, sets[ranks % len(sets)], number, folder))
    return [file for file in made if file]


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    for name in ["nbcc", "plans", "run", "folder", "output"]:
        arguments.add_argument(name)
    arguments.add_argument("--ranks", type=soak.ranges, default=soak.ranges("1..8"))
    a = arguments.parse_args()
    output = pathlib.Path(a.output).resolve()
    (output / "templates").mkdir(parents=True, exist_ok=True)
    script = ["status=0"]
    for ranks in a.ranks:
        files = templates(a.nbcc, ranks, output / "templates")
        for number, way in enumerate(WAYS):
            mine = [f"templates/{file.name}" for i, file in enumerate(files) if (i + ranks) % len(WAYS) == number]
            script.append(f"{a.plans} {ranks} {way} {' '.join(mine)} || status=1")
    # Long ones: more than an adapter sends at once, and parts of such.
    for way in ["", "--read"]:
        long = [f"templates/{name}-2" for name in ("bcast-binomial", "alltoall-pairwise", "allreduce-ring")]
        script.append(f"{a.plans} 2 {way} --lengths=131073,524288 {' '.join(long)} || status=1")
    (output / "calls").write_text("\n".join(script + ["exit $status"]) + "\n")
    sys.exit(subprocess.run([a.run, a.folder, output, "bash /out/calls"], check=False).returncode)


if __name__ == "__main__":
    main()
