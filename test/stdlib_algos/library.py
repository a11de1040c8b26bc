# SPDX-License-Identifier: BSD-3-Clause
"""library.py - two lit tests for each algorithm in stdlib_algos/: its proof, and its runs.

A new file there is found by itself. Its parameters are read from its heading; each gets its default
and some other values, and those for which `requires` never holds are passed over.
"""

import pathlib
import re
import subprocess

import lit.formats
import lit.Test

PROVE_UP_TO = 33
RANKS = (1, 2, 3, 5, 8, 13)
VALUES = (2, 3, 7)
SECONDS = 300

# Protocol, elements of a block, calls one behind the other, and what else. A seed makes the device
# delay and reorder all that it may.
RUNS = [
    ("eager", 1, 1, []),
    ("eager", 37, 3, ["--seed=1"]),
    ("rendezvous", 1, 1, []),
    ("rendezvous", 1000, 3, ["--seed=2"]),
    ("auto", 0, 1, []),
    ("auto", 5, 2, ["--in-place"]),
]
INAPPLICABLE = re.compile(r"applies to no number of ranks|requires this, which does not hold")


class Failed(Exception):
    pass


def nbcc(test, *arguments):
    """Runs nbcc. False: `requires` does not hold."""
    command = [f"{test.config.build}/bin/nbcc", test.getFilePath(), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=SECONDS, env=test.config.environment, check=False)
    except subprocess.TimeoutExpired as hung:
        raise Failed(f"{' '.join(command)}\nended after {SECONDS} seconds") from hung
    if done.returncode == 1 and INAPPLICABLE.search(done.stderr):
        return False
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")
    return True


def settings(source):
    """The -p arguments to try; the first are the defaults."""
    heading = re.search(r"(?m)^\w+ \w+\(([^)]*)\)", source)
    names = re.findall(r"(\w+)\s*=", heading[1]) if heading else []
    return [[]] + [["-p", f"{name}={value}"] for name in names for value in VALUES]


def prove(test, source):
    ranks = f"--prove=1..{PROVE_UP_TO}"
    for n, setting in enumerate(settings(source)):
        if not nbcc(test, ranks, *setting) and n == 0:
            raise Failed("with its defaults it applies to no number of ranks")


def run(test, source):
    ran = 0
    kinds = [["--type=f64"]]
    if " reduce " in source:
        kinds = [["--type=f32"], ["--type=i64"]]  # i64: the adapter may do it
        if "rank_order" in source:
            kinds.append(["--type=u64", "--op=affine"])
    for setting in settings(source)[:2]:
        for ranks in RANKS:
            for n, (protocol, count, calls, more) in enumerate(RUNS):
                ran += nbcc(test, "--target=coredirect", "--run", "--quiet", f"--ranks={ranks}",
                            f"--root={(ranks - 1) * (n + 1) // 2 % ranks}", f"--protocol={protocol}",
                            f"--count={count}", f"--calls={calls}", *kinds[n % len(kinds)], *more,
                            *setting)
    if ran == 0:
        raise Failed("nothing was run")


PARTS = {"prove": prove, "run": run}


class Library(lit.formats.ShTest):
    def getTestsInDirectory(self, testSuite, path_in_suite, litConfig, localConfig):
        yield from super().getTestsInDirectory(testSuite, path_in_suite, litConfig, localConfig)
        root = pathlib.Path(localConfig.repository, "stdlib_algos")
        for path in sorted(root.glob("*/*.nbc")):
            for part in PARTS:
                name = path_in_suite + (path.parent.name, f"{path.stem}-{part}")
                yield lit.Test.Test(testSuite, name, localConfig, file_path=str(path))

    def execute(self, test, litConfig):
        part = test.path_in_suite[-1].rpartition("-")[2]
        if part not in PARTS:
            return super().execute(test, litConfig)
        source = pathlib.Path(test.getFilePath()).read_text(encoding="utf-8")
        try:
            PARTS[part](test, source)
        except Failed as why:
            return lit.Test.FAIL, str(why)
        return lit.Test.PASS, ""
