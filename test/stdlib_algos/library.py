# SPDX-License-Identifier: BSD-3-Clause
"""library.py - lit tests for each algorithm in stdlib_algos/.

prove    it is proved, with its defaults and other values of its parameters
mutants  it is not proved any more when a statement is left out, when a message goes to the next
         rank or comes from there, when all ranks take part in what some do, when a group is of the
         next ranks, or when operands that are claimed to be in order change places
         (scripts/mutate.py makes many more, and takes its time)
run      it runs on the software device of each target, and every byte is checked; half as often with
         another value of its first parameter
lengths  likewise where each block has a length and a place of its own, if it is proved to be right
         then; else it is refused

A new file is found by itself. Its parameters are read from its heading; values for which `requires`
never holds are passed over.
"""

import pathlib
import re
import subprocess
import sys

import lit.formats
import lit.Test

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import batch  # noqa: E402

PROVE_UP_TO = 33
MUTANTS_UP_TO = (9, 16)  # the second for those that are proved up to the first
RANKS = (1, 2, 3, 5, 8, 13)
SLOW_RANKS = (1, 5, 8)
# Where they are, for an algorithm that asks; proofs try several of each size by themselves.
TOPOLOGIES = {1: "1x1", 2: "2x1", 3: "1x3", 5: "5x1", 8: "2x4", 13: "uneven.topology"}
ASKS = re.compile(r"\b(?:nodes|node_of|ranks_on|first_on_node|local_rank)\b")
# Likewise who is whose neighbour, for a kind that has some.
NEIGHBORS = {1: "--cart=1px1", 2: "--cart=2p", 3: "--cart=3x1p", 5: "--graph=five.graph",
             8: "--cart=2px2x2p", 13: "--cart=13"}
VALUES = (2, 3, 7)
SECONDS = 300

# Target, protocol, elements of a block, calls one behind the other, and what else. A seed makes the
# device delay and reorder all that it may.
RUNS = [
    ("coredirect", "eager", 1, 1, []),
    ("coredirect", "eager", 37, 3, ["--seed=1"]),
    ("coredirect", "rendezvous", 1, 1, []),
    ("coredirect", "rendezvous", 1000, 3, ["--seed=2"]),
    ("coredirect", "auto", 0, 1, []),
    ("coredirect", "auto", 5, 2, ["--in-place"]),
    ("mpi", "auto", 0, 1, []),
    ("mpi", "auto", 37, 3, ["--seed=3"]),
    ("mpi", "auto", 5, 2, ["--in-place", "--seed=4"]),
    ("sci", "auto", 0, 1, []),
    ("sci", "auto", 37, 3, ["--seed=8", "--transfer=pio"]),
    ("sci", "auto", 1101, 2, ["--in-place", "--seed=9", "--transfer=dma"]),
    ("shm", "auto", 37, 3, ["--seed=3"]),
    ("shm", "auto", 700, 2, ["--in-place"]),
    ("verbs", "auto", 0, 1, []),
    ("verbs", "auto", 1, 2, ["--seed=5"]),
    ("verbs", "auto", 37, 3, ["--seed=6", "--rendezvous=read"]),
    ("verbs", "auto", 701, 2, ["--in-place", "--seed=7"]),
    ("verbs", "auto", 701, 2, ["--seed=10", "--rendezvous=direct"]),
]
INAPPLICABLE = re.compile(r"applies to no number of ranks|requires this, which does not hold")


class Failed(Exception):
    pass


def slow(test):
    """With sanitizers everything takes four times as long, and what they look for is in fewer runs."""
    return "sanitizer" in test.config.available_features


def numbers(test):
    return SLOW_RANKS if slow(test) else RANKS


def start(test, *arguments):
    """Runs nbcc to its end."""
    try:
        return test.compiler.run(arguments, SECONDS)
    except subprocess.TimeoutExpired as hung:
        raise Failed(f"{' '.join(hung.cmd)}\nended after {SECONDS} seconds") from hung


def story(done):
    return f"{' '.join(done.args)}\nexit status {done.returncode}\n{done.stdout}{done.stderr}"


def nbcc(test, *arguments):
    """Runs nbcc on the algorithm. False: `requires` does not hold."""
    done = start(test, test.getFilePath(), *arguments)
    if done.returncode == 1 and INAPPLICABLE.search(done.stderr):
        return False
    if done.returncode != 0:
        raise Failed(story(done))
    return True


def settings(source):
    """The -p arguments to try; the first are the defaults."""
    heading = re.search(r"(?m)^(?!fn )\w+ \w+\(([^)]*)\)", source)
    names = re.findall(r"(\w+)\s*=", heading[1]) if heading else []
    return [[]] + [["-p", f"{name}={value}"] for name in names for value in VALUES]


def prove(test, source):
    ranks = f"--prove=1..{PROVE_UP_TO}"
    for n, setting in enumerate(settings(source)):
        if not nbcc(test, ranks, *setting) and n == 0:
            raise Failed("with its defaults it applies to no number of ranks")


STATEMENT = re.compile(r"\b(?:run|copy|send|recv|exchange|signal|await|reduce)\b[^;{}]*(?:\{[^}]*\})?[^;{}]*;")
PEER = re.compile(r"(.*(?:\b(?:to|from|with)|^signal|^await) )(.*?)( on port .*)?;", re.DOTALL)
AMONG = re.compile(r"(run .*?) among \w+(.*)", re.DOTALL)
MEMBER = re.compile(r"\bgroup \w+\[\w+ in [^=]*\] = ([^;]*);")
OPERANDS = re.compile(r"reduce (.*), (.*) -> (.*);", re.DOTALL)


def mutate(source):
    """(what was done, the wrong program), for all that can't be right."""
    begin = re.search(r"(?m)^\{", source).start()
    for found in STATEMENT.finditer(source, begin):
        statement = found.group()
        wrong = [""]
        if statement.startswith("run"):
            wrong += [among[1] + among[2]] if (among := AMONG.fullmatch(statement)) else []
        elif peer := PEER.fullmatch(statement):
            wrong.append(f"{peer[1]}({peer[2]} + 1) mod P{peer[3] or ''};")
        operands = OPERANDS.fullmatch(statement)
        if operands and "rank_order" in source:
            wrong.append(f"reduce {operands[2]}, {operands[1]} -> {operands[3]};")
        for replacement in wrong:
            yield (f"{statement} -> {replacement or 'nothing'}",
                   source[: found.start()] + replacement + source[found.end():])
    for found in MEMBER.finditer(source, begin):
        yield (f"{found.group()} -> the next rank",
               f"{source[: found.start(1)]}({found[1]} + 1) mod P{source[found.end(1):]}")


def mutants(test, source):
    folder = pathlib.Path(test.getExecPath()).parent
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{test.path_in_suite[-1]}.nbc"
    count = 0
    for what, program in mutate(source):
        file.write_text(program, encoding="utf-8")
        for up_to in MUTANTS_UP_TO:
            done = start(test, file, f"--prove=1..{up_to}")
            if done.returncode != 0:
                break
        if done.returncode != 1 or " fails with " not in done.stderr:
            raise Failed(f"{what}\n{story(done)}")
        count += 1
    if count < 3:
        raise Failed(f"only {count} mutants were made")


def placed(source, ranks):
    """Where the ranks are, for an algorithm that asks; who is whose neighbour, for one that has some."""
    if re.search(r"(?m)^neighbor_", source):
        option, _, graph = NEIGHBORS[ranks].partition("=")
        if option == "--graph":
            graph = pathlib.Path(__file__).parent / "Inputs" / graph
        return [f"{option}={graph}"]
    if not ASKS.search(source):
        return []
    where = TOPOLOGIES[ranks]
    if not re.fullmatch(r"\d+x\d+", where):
        where = pathlib.Path(__file__).parent / "Inputs" / where
    return [f"--topology={where}"]


def run(test, source):
    ran = 0
    kinds = [["--type=f64"]]
    if re.search(r"\breduce\b", source):
        kinds = [["--type=f32"], ["--type=i64"]]  # i64: the adapter may do it
        if "rank_order" in source:
            kinds.append(["--type=u64", "--op=affine"])
    for other, setting in enumerate(settings(source)[: 1 if slow(test) else 2]):
        for ranks in numbers(test):
            for n, (target, protocol, count, calls, more) in enumerate(RUNS):
                if other and (n + ranks) % 2:
                    continue
                ran += nbcc(test, f"--target={target}", "--run", "--quiet", f"--ranks={ranks}",
                            f"--root={(ranks - 1) * (n + 1) // 2 % ranks}", f"--protocol={protocol}",
                            f"--count={count}", f"--calls={calls}", *kinds[n % len(kinds)], *more,
                            *placed(source, ranks), *setting)
    if ran == 0:
        raise Failed("nothing was run")


# Of blocks each of its own length: target, protocol, lengths, calls, and what else.
LENGTHS = [
    ("coredirect", "auto", "--count=1", 1, []),
    ("coredirect", "auto", "--count=40", 3, ["--seed=1"]),
    ("coredirect", "auto", "--counts=0", 2, []),
    ("coredirect", "rendezvous", "--counts=0,0,5", 1, []),
    ("coredirect", "rendezvous", "--count=701", 2, ["--seed=2"]),
    ("coredirect", "auto", "--counts=9,0,0,0,0,0,0", 2, ["--in-place"]),
    ("coredirect", "auto", "--count=30", 1, ["--seed=1..8", "--vary"]),
    ("mpi", "auto", "--counts=0,0,5", 2, ["--in-place"]),
    ("mpi", "auto", "--count=30", 1, ["--seed=1..4", "--vary"]),
    ("sci", "auto", "--counts=0,0,701", 2, ["--in-place"]),
    ("sci", "auto", "--count=30", 1, ["--seed=1..4", "--vary"]),
    ("shm", "auto", "--count=30", 1, ["--seed=1..4", "--vary"]),
    ("verbs", "auto", "--counts=0,0,701", 2, ["--in-place"]),
    ("verbs", "auto", "--count=30", 1, ["--seed=1..6", "--vary"]),
]
OWN_LENGTHS = ("allgather", "alltoall", "gather", "scatter", "reduce_scatter", "neighbor_allgather",
               "neighbor_alltoall")
# A rank of a tree does not know how long the blocks are that go through it.
AT_ROOT = re.compile(r"the length of \w+\[\d+\] is known at the root only")
EQUALLY_LONG = "right only if all blocks are equally long"


def lengths(test, source):
    proof = start(test, test.getFilePath(), f"--prove=1..{max(RANKS)}")
    right = "lengths of blocks: any" in proof.stdout
    kind, name = pathlib.Path(test.getFilePath()).parts[-2:]
    may_ask = kind in ("gather", "scatter") and name not in ("linear.nbc", "sequential.nbc")
    ran = refused = 0
    for ranks in numbers(test):
        for n, (target, protocol, count, calls, more) in enumerate(LENGTHS):
            if kind == "reduce_scatter" and "--in-place" in more:
                continue  # MPI's row of elements is no row of blocks there
            done = start(test, test.getFilePath(), f"--target={target}", "--run", "--quiet",
                         "--lengths=each", f"--ranks={ranks}",
                         f"--root={(ranks - 1) * (n + 1) // 2 % ranks}", f"--protocol={protocol}",
                         count, f"--calls={calls}", *placed(source, ranks), "--type=i32", *more)
            if done.returncode == 1 and INAPPLICABLE.search(done.stderr):
                continue
            no = (AT_ROOT.search(done.stderr) if may_ask else not right and EQUALLY_LONG in done.stderr)
            if done.returncode != (1 if no else 0):
                raise Failed(story(done))
            ran, refused = ran + (not no), refused + bool(no)
    if (ran == 0) if right else (refused == 0):
        raise Failed(f"{ran} runs, {refused} refused, where the proof said: {proof.stdout}")


PARTS = {"prove": prove, "mutants": mutants, "run": run, "lengths": lengths}


class Library(lit.formats.ShTest):
    def getTestsInDirectory(self, testSuite, path_in_suite, litConfig, localConfig):
        yield from super().getTestsInDirectory(testSuite, path_in_suite, litConfig, localConfig)
        library = pathlib.Path(localConfig.repository, "stdlib_algos")
        if path_in_suite != (library.name,):  # not for __pycache__, too
            return
        for path in sorted(library.glob("*/*.nbc")):
            for part in PARTS:
                if part == "lengths" and path.parent.name not in OWN_LENGTHS:
                    continue
                name = path_in_suite + (path.parent.name, f"{path.stem}-{part}")
                yield lit.Test.Test(testSuite, name, localConfig, file_path=str(path))

    def execute(self, test, litConfig):
        part = test.path_in_suite[-1].rpartition("-")[2]
        if part not in PARTS:
            return super().execute(test, litConfig)
        source = pathlib.Path(test.getFilePath()).read_text(encoding="utf-8")
        try:
            with batch.Batch(f"{test.config.build}/bin/nbcc", env=test.config.environment) as test.compiler:
                PARTS[part](test, source)
        except (Failed, RuntimeError) as why:
            return lit.Test.FAIL, str(why)
        return lit.Test.PASS, ""
