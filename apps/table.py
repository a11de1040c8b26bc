#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""table.py BUILD [--ranks N] [--mpi openmpi|mpich] [--app NAME...] [--repeat N] [--noise US HZ] [--overlap]
                  [--network] [--fragment BYTES] [--limit SECONDS] [--json] [-- ARGUMENT...]

Time of the applications, of their communication, and what the variants gain: with the MPI's own
collectives and with libnbc-mpi.so in front of them. The runs of an application are interleaved;
figures are medians. A variant that is wrong with the MPI alone, or three times not over after --limit seconds, has none. A gain is against
the blocking variant with the MPI alone. What is computed behind a call that is under way, in column `behind`, is the most
that can be hidden of what communication takes in the blocking variant. With --noise, `noise` runs beside them on all
cores: bursts of so many microseconds, so many of them a second.

With --overlap there is a fourth variant, which nbc-overlap makes of the blocking one (rewritten.py): how many calls it
changes is said first. It has no figure for communication: waits stand where the program's own clock does not run.
Its share of what the best hand-written variant gains is what a tool gets without knowing the program.

With --network, ranks speak TCP over a loopback of 1 Gbit/s (scripts/slow_network; RATE=4gbit in the environment: of 4),
which works while they compute; libnbc-mpi.so uses the MPI's messages there, and a progress thread, and nothing is called
between start and wait. With --fragment it sends messages in fragments of so many bytes, in place of the thread.
ARGUMENTs are for the applications, in place of sizes that take some tenths of a second.
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
    "pipecg": ["--size=80"],
    "radixsort": ["--size=2000000"],
    "fftw": ["--size=128"],
    "hypre": ["--size=80"],
}
LIBRARIES = {"fftw", "hypre"}  # whose calls are blocking ones; each has one of the MPIs
LAUNCHERS = {
    "openmpi": (["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"],
                lambda name, value: ["-x", f"{name}={value}"]),
    "mpich": (["mpiexec.mpich"], lambda name, value: ["-genv", name, value]),
}
# With --network: likewise, and what is exchanged takes about as long as what there is to compute meanwhile, or longer.
NETWORK_APPS = {
    "cg": ["--size=96"],
    "compression": ["--size=1048576", "--parts=64"],
    "fft": ["--size=96", "--tests=0"],
    "pcg": ["--size=48"],
    "pipecg": ["--size=48"],
    "radixsort": ["--size=500000"],
    "fftw": ["--size=96", "--times=1"],
    "hypre": ["--size=48"],
}
# MPICH 4.0 over TCP now and then never ends its MPI_Finalize, with nothing in front of it, too.
ATTEMPTS = 3
SLOW_NETWORK = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "slow_network"
REPORT = re.compile(r"seconds=([\d.]+) communication=([\d.]+) behind=([\d.]+).* right$", re.MULTILINE)


class Failed(Exception):
    """A run of the MPI alone: there is no figure."""


def run(options, app, arguments, variant, dropin, program=None):
    """(seconds, communication, behind)"""
    launcher, environment = LAUNCHERS[options.mpi]
    variables = {}
    if dropin:
        variables["LD_PRELOAD"] = options.build / "lib" / options.mpi / "libnbc-mpi.so"
        if options.network:
            variables["NBC_TARGET"] = "mpi"
            variables |= {"NBC_MPI_FRAGMENT": str(options.fragment)} if options.fragment else {"NBC_PROGRESS": "thread"}
    command = [*([SLOW_NETWORK] if options.network else []), *launcher,
               *(word for name, value in variables.items() for word in environment(name, value)), "-n", str(options.ranks),
               program or options.build / "bin" / f"app-{app}-{options.mpi}", f"--variant={variant}",
               *arguments]
    for _ in range(ATTEMPTS):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit, check=False)
        except subprocess.TimeoutExpired:
            why = f"table.py: {' '.join(map(str, command))}: not over after {options.limit} seconds"
            print(why, file=sys.stderr)
            continue
        report = REPORT.search(done.stdout)
        if not done.returncode and report:
            return tuple(map(float, report.groups()))
        why = f"table.py: {' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
        break
    if dropin or variant == "blocking":
        sys.exit(why)
    print(why, file=sys.stderr)
    raise Failed


def measure(options, app, program):
    """{(variant, dropin): (seconds, communication, behind)}"""
    arguments = options.argument or (NETWORK_APPS if options.network else APPS)[app]
    variants = VARIANTS[:1] if app in LIBRARIES else [*VARIANTS, OVERLAP] if program else VARIANTS
    times = {(variant, dropin): [] for variant in variants for dropin in (False, True)}
    for _ in range(options.repeat):
        for (variant, dropin), found in list(times.items()):
            what = ("blocking", dropin, program) if variant == OVERLAP else (variant, dropin)
            try:
                found.append(run(options, app, arguments, *what))
            except Failed:
                del times[variant, dropin]
    return {key: tuple(statistics.median(column) for column in zip(*found)) for key, found in times.items()}


def show(app, times):
    whole = times["blocking", False][0]
    for variant in sorted({variant for variant, _ in times}, key=[*VARIANTS, OVERLAP].index):
        cells = ""
        for dropin in (False, True):
            if (variant, dropin) not in times:
                cells += f"{'-':>11} {'-':>8} {'-':>7} {'-':>6}  "
                continue
            seconds, communication, behind = times[variant, dropin]
            told = "-" if variant == OVERLAP else f"{1e3 * communication:.1f}"
            hides = f"{1e3 * behind:.1f}" if behind else "-"
            cells += f"{1e3 * seconds:11.1f} {told:>8} {hides:>7} {100 * (1 - seconds / whole):6.1f} %"
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
    parser.add_argument("--network", action="store_true")
    parser.add_argument("--fragment", type=int)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("argument", nargs="*")
    options = parser.parse_intermixed_args()
    if options.fragment and not options.network:
        parser.error("--fragment is for --network")
    options.build = options.build.resolve()
    os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"

    noise = None
    if options.noise:
        noise = subprocess.Popen([options.build / "bin" / "noise", *options.noise, "86400"], stdout=subprocess.DEVNULL)
    try:
        if not options.json:
            print(f"{options.ranks} ranks, {options.mpi}; ms, medians of {options.repeat}\n"
                  f"{'':24}{'the MPI alone':>36}{'with libnbc-mpi.so':>36}\n"
                  f"{'':24}" + 2 * f"{'time':>11} {'commun.':>8} {'behind':>7} {'gain':>8}")
        results = []
        for app in options.app or APPS:
            if app in LIBRARIES and not (options.build / "bin" / f"app-{app}-{options.mpi}").exists():
                print(f"{app}: not built for {options.mpi}", file=sys.stderr)
                continue
            with tempfile.TemporaryDirectory() if options.overlap else contextlib.nullcontext() as folder:
                program = None
                if options.overlap and app not in LIBRARIES:
                    program, calls, fixed, _ = rewritten.make(options.build, app, options.mpi, pathlib.Path(folder))
                    print(f"{app}: nbc-overlap rewrites {fixed} of {calls} calls", file=sys.stderr)
                times = measure(options, app, program)
            if options.json:
                results += [{"app": app, "variant": variant, "libnbc-mpi": dropin, "ranks": options.ranks,
                             "seconds": seconds, "communication": communication, "behind": behind}
                            for (variant, dropin), (seconds, communication, behind) in times.items()]
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
