#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""library.py [--by-definition] NBCC CHECK TARGET RANKS LAUNCHER... - every algorithm of the library on an MPI.

TARGET is mpi, coredirect (over software HCAs), devx (the same over mlx5 adapters, by completions; devx:words by
words), sci or shm; shm:2 takes the ranks for being on two nodes, between which the MPI carries.
For each number of ranks (1..9) nbcc makes the templates of all ranks of each algorithm, with
parameters other than the defaults too; then one run of the program CHECK takes them all, so that
starting the ranks costs once. LAUNCHER is a command that wants a number of ranks and a program.
With --by-definition results are not compared with those of the MPI's own collectives, which take
half of the time where ranks outnumber cores. An algorithm is left out where its `requires` says so,
and that of neighbours on fewer than three ranks: they are those of a ring, on either side another.

Prints what the program says; exits with 1 if anything failed.
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import batch  # noqa: E402
import soak  # noqa: E402 - the cases, and where ranks are placed

SECONDS = 60


def make(compiler, path, target, nodes, ranks, parameters, number, folder, device=None):
    """The file of templates, None where the algorithm does not apply, or what nbcc said."""
    algorithm = f"{path.parent.name}/{path.stem}"
    neighbors = algorithm.startswith("neighbor_")
    if neighbors and ranks < 3:
        return None
    case = soak.Case(algorithm, parameters, target, "auto", ranks, "i64", "sum", number % ranks, "equal")
    file = folder / f"{path.parent.name}-{path.stem}{parameters.replace('=', '')}-{ranks}"
    line = [path, f"--target={target}", f"--ranks={ranks}", f"--root={case.root}", "--rank=all",
            "--in-place", "--no-prove", "--emit=template", "-o", file]
    line += [f"--device={device}"] if device else []
    line += [f"--cart={ranks}p"] if neighbors else []
    line += [f"--topology={nodes}x{ranks // nodes}"] if nodes > 1 else [] if neighbors else soak.placed(case)
    line += [word for p in parameters.split() for word in ("-p", p)]
    made = compiler.run(line, SECONDS)
    if made.returncode == 0:
        return file
    if "requires this, which does not hold" in made.stderr:
        return None
    sys.exit(f"{' '.join(made.args)}\n{made.stderr}")


def make_all(compiler, target, nodes, ranks, folder, device):
    """The files of all algorithms that apply."""
    files = []
    for number, path in enumerate(sorted(soak.LIBRARY.glob("*/*.nbc"))):
        algorithm = f"{path.parent.name}/{path.stem}"
        for parameters in [""] + soak.PARAMETERS.get(algorithm, []):
            files.append(make(compiler, path, target, nodes, ranks, parameters, number, folder, device))
    return [file for file in files if file]


def main():
    arguments = sys.argv[1:]
    options = ["--in-place"]
    if arguments[0] == "--by-definition":
        options.append(arguments.pop(0))
    nbcc, check, ranks, launcher = arguments[0], arguments[1], soak.ranges(arguments[3]), arguments[4:]
    target, _, more = arguments[2].partition(":")
    nodes, device = 1, None
    if target == "sci":
        options.append("--sci")
    elif target == "coredirect":
        options.append("--hca")
    elif target == "devx":
        target, device = "coredirect", "connectx7" if more == "words" else "connectx7-cd"
        options.append("--devx")
    elif more:
        nodes = int(more)
    failed = False
    with batch.Batch(nbcc) as compiler:
        for count in ranks:
            with tempfile.TemporaryDirectory() as folder:
                files = make_all(compiler, target, nodes, count, pathlib.Path(folder), device)
                run = subprocess.run([*launcher, str(count), check, *options, f"--nodes={nodes}", *files],
                                     check=False)
            failed |= run.returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
