#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""rewritten.py BUILD [--mpi openmpi|mpich] [--app NAME...] [--make FOLDER]

What nbc-overlap does with the applications, of which it knows nothing: how many of the collective calls that the
blocking variant makes while the clock runs become nonblocking, and why the others do not.
table.py takes the time of the result; --make builds it, as FOLDER/NAME.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# Sources; functions of the blocking variant; what a user has to promise, since no source here shows it: arguments of
# the program are read through a table of options.
APPS = {
    "cg": ("cg/cg.c", ["multiply_blocking", "dot"], ["--alike=variant,neighbors,most"]),
    "compression": ("compression/compression.c", ["run_blocking"],
                    ["--alike=variant,parts", "--local=ZSTD_compress,ZSTD_decompress,ZSTD_isError,ZSTD_getErrorName"]),
    "fft": ("fft/fft.c", ["run_blocking"], ["--alike=variant,tiles,repeats"]),
    "pcg": ("pcg/pcg.c", ["dot"], ["--alike=variant,algorithm,most"]),
    "pipecg": ("pipecg/pipecg.c", ["run_blocking"], ["--alike=variant,most"]),
    "radixsort": ("radixsort/radixsort.cpp", ["gatherBlocking", "moveThere"], ["--alike=variant"]),
}
SHARED = {"pcg": ["laplace.c"], "pipecg": ["laplace.c"]}  # by several of them
LIBRARIES = {"compression": ["-lzstd"], "fft": ["-lfftw3"]}


def compiler(app, mpi):
    return f"mpicxx.{mpi}" if APPS[app][0].endswith(".cpp") else f"mpicc.{mpi}"


def flags(app):
    return ["-std=c++20"] if APPS[app][0].endswith(".cpp") else ["-std=c11", "-D_GNU_SOURCE"]


def lines_of(source, functions):
    """Lines of the functions' bodies, which end where a brace stands under the first word."""
    found, end = set(), None
    for number, line in enumerate(source.splitlines(), 1):
        if end is None:
            for name in functions:
                if re.search(rf"^\s*[\w ]+[ *]{name}\(", line) and not line.rstrip().endswith(";"):
                    end = line[:len(line) - len(line.lstrip())] + "}"
        if end is not None:
            found.add(number)
            if line.startswith(end):
                end = None
    return found


def rewrite(build, app, mpi, folder):
    """Rewrites a copy in `folder`. Returns (its source, what nbc-overlap said)."""
    source = folder / pathlib.Path(APPS[app][0]).name
    source.write_text((HERE / APPS[app][0]).read_text(encoding="utf-8"), encoding="utf-8")
    common = ["app.c", *SHARED.get(app, [])] if source.suffix == ".c" else []
    for name in ("app.c", "app.h", "laplace.c", "laplace.h", "persistent.h"):
        (folder / name).write_text((HERE / name).read_text(encoding="utf-8"), encoding="utf-8")
    promises = APPS[app][2]  # app.c is C: a program in C++ is looked at by itself
    said = subprocess.run(
        [build / "bin" / "nbc-overlap", "--fix", "--across-clocks", *promises, source.name, *common, "--",
         compiler(app, mpi), *flags(app), "-I."],
        cwd=folder, capture_output=True, text=True, check=False)
    if said.returncode:
        sys.exit(f"rewritten.py: nbc-overlap {source}: exit status {said.returncode}\n{said.stderr}")
    return source, said.stdout


def count(app, said):
    """(calls of the blocking variant, those that were rewritten, notes of the others)"""
    name = pathlib.Path(APPS[app][0]).name
    lines = lines_of((HERE / APPS[app][0]).read_text(encoding="utf-8"), APPS[app][1])
    calls, fixed, notes, inside, what = 0, 0, [], False, ""
    for line in said.splitlines():
        place = re.match(r"(?:.*/)?([^/:]+):(\d+):\d+: (remark|note): (.*)", line)
        if not place:
            continue
        if place[3] == "remark":
            inside = place[1] == name and int(place[2]) in lines
            what = f"{place[1]}:{place[2]}: {place[4].split(':')[0]}"
            calls += inside
        elif inside and place[4].startswith("fix: "):
            fixed += 1
            notes.append(f"{what}: {place[4]}")
        elif inside and place[4].startswith(("not changed: ", "it must be complete here: ")):
            notes.append(f"{what}: {place[4]}")
    return calls, fixed, notes


def make(build, app, mpi, folder):
    """The rewritten program, built as the applications are. Returns (program, calls, fixed, notes)."""
    source, said = rewrite(build, app, mpi, folder)
    program, objects = folder / app, []
    for name in ("app.c", *SHARED.get(app, [])):
        objects.append((folder / name).with_suffix(".o"))
        subprocess.run([f"mpicc.{mpi}", "-O2", "-c", "-std=c11", "-D_GNU_SOURCE", "-o", objects[-1], folder / name], check=True)
    subprocess.run([compiler(app, mpi), "-O2", *flags(app), f"-I{folder}", "-o", program, source, *objects,
                    *LIBRARIES.get(app, []), "-lm"], check=True)
    return program, *count(app, said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], default="openmpi")
    parser.add_argument("--app", choices=APPS, action="append")
    parser.add_argument("--make", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    build = options.build.resolve()
    for app in options.app or APPS:
        if options.make:
            options.make.mkdir(exist_ok=True)
            _, calls, fixed, notes = make(build, app, options.mpi, options.make.resolve())
        else:
            with tempfile.TemporaryDirectory() as folder:
                calls, fixed, notes = count(app, rewrite(build, app, options.mpi, pathlib.Path(folder))[1])
        print(f"{app}: {fixed} of {calls} calls")
        for note in notes:
            print(f"  {note}")


if __name__ == "__main__":
    main()
