#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""table.py BUILD [--ranks N] [--mpi openmpi|mpich] [--app NAME...] [--repeat N] [--noise US HZ] [--json]

Time of the applications, of their communication, and what the variants gain: with the MPI's own
collectives and with libnbc-mpi.so in front of them. The runs of an application are interleaved;
figures are medians. A gain is against the blocking variant with the MPI alone, as is the share of
it that communication takes. With --noise, `noise` runs beside them on all cores: bursts of so many
microseconds, so many of them a second.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

VARIANTS = ["blocking", "nonblocking", "persistent"]
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


def run(options, app, arguments, variant, dropin):
    """(seconds, communication)"""
    launcher, preload = LAUNCHERS[options.mpi]
    library = options.build / "lib" / options.mpi / "libnbc-mpi.so"
    command = [*launcher, *(preload(library) if dropin else []), "-n", str(options.ranks),
               options.build / "bin" / f"app-{app}-{options.mpi}", f"--variant={variant}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    report = REPORT.search(done.stdout)
    if done.returncode or not report:
        sys.exit(f"table.py: {' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return float(report[1]), float(report[2])


def measure(options, app):
    """{(variant, dropin): (seconds, communication)}"""
    times = {(variant, dropin): [] for variant in VARIANTS for dropin in (False, True)}
    for _ in range(options.repeat):
        for (variant, dropin), found in times.items():
            found.append(run(options, app, APPS[app], variant, dropin))
    return {key: tuple(statistics.median(column) for column in zip(*found)) for key, found in times.items()}


def show(app, times):
    whole = times["blocking", False][0]
    for variant in VARIANTS:
        cells = ""
        for dropin in (False, True):
            seconds, communication = times[variant, dropin]
            cells += f"{1e3 * seconds:11.1f} {1e3 * communication:8.1f} {100 * (1 - seconds / whole):6.1f} %"
        print(f"{app if variant == VARIANTS[0] else '':12}{variant:12}{cells}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--mpi", choices=LAUNCHERS, default="openmpi")
    parser.add_argument("--app", choices=APPS, action="append")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--noise", nargs=2, metavar=("US", "HZ"))
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
            times = measure(options, app)
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
