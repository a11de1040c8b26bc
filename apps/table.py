#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""table.py BUILD [--ranks N] [--mpi openmpi|mpich] [--app NAME...] [--repeat N] [--noise US HZ] [--overlap] [--json]

Time of the applications, of their communication, and what the variants gain: with the MPI's own
collectives and with libnbc-mpi.so in front of them. The runs of an application are interleaved;
figures are medians. A gain is against the blocking variant with the MPI alone, as is the share of
it that communication takes. With --noise, `noise` runs beside them on all cores: bursts of so many
microseconds, so many of them a second.

With --overlap there is a fourth variant, which nbc-overlap makes of the blocking one (rewritten.py): how many calls it
changes is said first. It has no figure for communication: waits stand where the program's own clock does not run.
Its share of what the best hand-written variant gains is what a tool gets without knowing the program.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import rewritten

VARIANTS = ["blocking", "nonblocking", "persistent"]
OVERLAP = "overlap"
# Some tenths of a second each, on two cores.
APPS = {
    "cg": ["--size=96"],
    "compression": ["--parts=64"],
    "fft": ["--size=128"],
    "pcg": ["--size=80"],
    "radixsort": ["--size=2000000"],
}
LAUNCHERS = {
    "openmpi": (["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"],
                lambda library: ["-x", f"LD_PRELOAD={library}"]),
    "mpich": (["mpiexec.mpich"], lambda library: ["-genv", "LD_PRELOAD", library]),
}
REPORT = re.compile(r"seconds=([\d.]+) communication=([\d.]+).* right$", re.MULTILINE)
SECONDS = 600


def run(options, app, arguments, variant, dropin, program=None):
    """(seconds, communication)"""
    launcher, preload = LAUNCHERS[options.mpi]
    library = options.build / "lib" / options.mpi / "libnbc-mpi.so"
    command = [*launcher, *(preload(library) if dropin else []), "-n", str(options.ranks),
               program or options.build / "bin" / f"app-{app}-{options.mpi}", f"--variant={variant}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    report = REPORT.search(done.stdout)
    if done.returncode or not report:
        sys.exit(f"table.py: {' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return float(report[1]), float(report[2])


def measure(options, app, program):
    """{(variant, dropin): (seconds, communication)}"""
    variants = [*VARIANTS, OVERLAP] if program else VARIANTS
    times = {(variant, dropin): [] for variant in variants for dropin in (False, True)}
    for _ in range(options.repeat):
        for (variant, dropin), found in times.items():
            if variant == OVERLAP:
                found.append(run(options, app, APPS[app], "blocking", dropin, program))
            else:
                found.append(run(options, app, APPS[app], variant, dropin))
    return {key: tuple(statistics.median(column) for column in zip(*found)) for key, found in times.items()}


def show(app, times):
    whole = times["blocking", False][0]
    for variant in sorted({variant for variant, _ in times}, key=[*VARIANTS, OVERLAP].index):
        cells = ""
        for dropin in (False, True):
            seconds, communication = times[variant, dropin]
            told = "-" if variant == OVERLAP else f"{1e3 * communication:.1f}"
            cells += f"{1e3 * seconds:11.1f} {told:>8} {100 * (1 - seconds / whole):6.1f} %"
        print(f"{app if variant == VARIANTS[0] else '':12}{variant:12}{cells}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--mpi", choices=LAUNCHERS, default="openmpi")
    parser.add_argument("--app", choices=APPS, action="append")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--noise", nargs=2, metavar=("US", "HZ"))
    parser.add_argument("--overlap", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()
    os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"

    noise = None
    if options.noise:
        noise = subprocess.Popen([options.build / "bin" / "noise", *options.noise, "86400"], stdout=subprocess.DEVNULL)
    try:
        if not options.json:
            print(f"{options.ranks} ranks, {options.mpi}; ms, medians of {options.repeat}\n"
                  f"{'':24}{'the MPI alone':>28}{'with libnbc-mpi.so':>28}\n"
                  f"{'':24}{'time':>11} {'commun.':>8} {'gain':>8}{'time':>11} {'commun.':>8} {'gain':>8}")
        results = []
        for app in options.app or APPS:
            with tempfile.TemporaryDirectory() if options.overlap else contextlib.nullcontext() as folder:
                program = None
                if options.overlap:
                    program, calls, fixed, _ = rewritten.make(options.build, app, options.mpi, pathlib.Path(folder))
                    print(f"{app}: nbc-overlap rewrites {fixed} of {calls} calls", file=sys.stderr)
                times = measure(options, app, program)
            if options.json:
                results += [{"app": app, "variant": variant, "libnbc-mpi": dropin, "ranks": options.ranks,
                             "seconds": seconds, "communication": communication}
                            for (variant, dropin), (seconds, communication) in times.items()]
            else:
                show(app, times)
        if options.json:
            json.dump(results, sys.stdout, indent=1)
            print()
    finally:
        if noise:
            noise.kill()
            noise.wait()


if __name__ == "__main__":
    main()
