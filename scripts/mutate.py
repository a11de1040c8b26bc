#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mutate.py [FILE ...] - does nbcc refuse an algorithm with one mistake in it?

    send out[me] to (me + 1) mod P;  =>  send out[me] to (me - 1) mod P;

Each file, by default all of stdlib_algos/, is changed in one place at a time; `nbcc --prove` has to
refuse the result, by front end or proof, with the defaults and with other values of the parameters.
What it accepts is one of these:

promises less    it holds, but no longer for operators that do not commute, or with the same bits
                 on all ranks, or for blocks of different lengths; nbcc says so
same schedules   the mutant makes the very schedules of the original, but for ports, which are
                 hints: no mistake
explained        equivalent.txt, beside this file, says why it is right, too
a survivor       shown with its lines; the exit status is 1. A crash or a hang is one, too

Changes of `requires` and `claims` are counted apart: what they allow beyond is no mistake.
About 0.2 s of one core for each mutant, some 150 of them for each algorithm.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "stdlib_algos"
EXPLAINED = pathlib.Path(__file__).with_name("equivalent.txt")
UNEVEN = ROOT / "test" / "stdlib_algos" / "Inputs" / "uneven.topology"
SECONDS = 120  # a loop without end takes 20 million steps to be found
VALUES = (1, 2, 3, 5)  # of parameters, beside the defaults

TOKEN = re.compile(r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|(?P<word>\w+)|"
                   r"(?P<sign>\.\.<|\.\.|\+:|->|[-+*/]=|[<>=!]=|[^\s\w])", re.DOTALL)
BRACKETS = {"(": ")", "[": "]", "{": "}"}
INSTEAD = {
    "+": "-*", "-": "+", "*": "+/", "/": "*", "<": ["<=", ">="], "<=": "<", ">": [">="],
    ">=": [">", "<"], "==": ["!=", "<="], "!=": ["=="], "..": ["..<"], "..<": [".."],
    "*=": ["+="], "/=": ["-="], "+=": ["*="], "xor": ["+"], "and": ["or"], "or": ["and"],
    "even": ["odd"], "odd": ["even"], "min": ["max"], "max": ["min"],
    "floor_log": ["ceil_log"], "ceil_log": ["floor_log"],
}
# For how many ranks schedules are compared, and where these are, for an algorithm that asks.
SCHEDULES = {1: ["1x1"], 2: ["1x2", "2x1"], 3: ["1x3", "3x1"], 4: ["2x2", "4x1"], 5: ["1x5"],
             7: ["7x1"], 8: ["2x4", "4x2"], 9: ["3x3"], 13: [UNEVEN], 16: ["4x4", "2x8"]}
ASKS = re.compile(r"\b(?:nodes|node_of|ranks_on|first_on_node|local_rank)\b")
# Likewise grids, for an algorithm of neighbours.
GRIDS = {1: ["1p"], 2: ["2p", "2"], 3: ["3px1p", "3"], 4: ["2x2p", "4p"], 6: ["3x2p", "2x3"],
         12: ["4x3p", "2px3x2"]}
NEIGHBORS = re.compile(r"^neighbor_", re.MULTILINE)
PROMISES = ("any, also those that do not commute", "the same bits on all ranks",
            "lengths of blocks: any", "any, also of v-variants")
PEER = {"to", "from", "with", "signal", "await"}

Token = collections.namedtuple("Token", "text begin end")
Edit = collections.namedtuple("Edit", "begin end text what")  # [begin, end) becomes text
Statement = collections.namedtuple("Statement", "tokens first last head blocks")


def tokenize(source):
    return [Token(m.group(), m.start(), m.end()) for m in TOKEN.finditer(source)
            if m.lastgroup != "skip"]


class Program:
    """The tokens of a file, which brackets belong together, and the statements of its body."""

    def __init__(self, source):
        self.source = source
        self.tokens = tokenize(source)
        self.partner = {}
        opened = []
        for i, token in enumerate(self.tokens):
            if token.text in BRACKETS:
                opened.append(i)
            elif opened and token.text == BRACKETS[self.tokens[opened[-1]].text]:
                self.partner[opened[-1]] = i
                self.partner[i] = opened.pop()
        heads = [m for m in re.finditer(r"(?m)^(?!fn |import |//)\w+ \w+", source)]
        if len(heads) != 1:
            raise SystemExit(f"{len(heads)} algorithms in one file, one is wanted")
        self.head = next(i for i, t in enumerate(self.tokens) if t.begin == heads[0].start())
        self.body = next(i for i in range(self.head, len(self.tokens))
                         if self.tokens[i].text == "{" and self.partner[i] == len(self.tokens) - 1)

    def text(self, first, last):
        """Of tokens first .. last, with what stands between them."""
        return self.source[self.tokens[first].begin:self.tokens[last].end] if first <= last else ""

    def edit(self, first, last, text, what):
        return Edit(self.tokens[first].begin, self.tokens[last].end, text, what)

    def find(self, first, last, *texts):
        """The first of these tokens outside brackets, or last + 1."""
        i = first
        while i <= last and self.tokens[i].text not in texts:
            i = self.partner[i] + 1 if self.tokens[i].text in BRACKETS else i + 1
        return min(i, last + 1)

    def primary(self, first):
        """The last token of a number, a name, a call, or an expression in brackets."""
        if self.tokens[first].text == "(":
            return self.partner[first]
        following = first + 1
        if following in self.partner and self.tokens[following].text == "(":
            return self.partner[following]
        return first

    def block(self, opening):
        """The statements between { and its }."""
        statements, i = [], opening + 1
        while i < self.partner[opening]:
            first, blocks = i, []
            if self.tokens[i].text in ("round", "for", "if"):
                head = i
                while True:
                    brace = self.find(i + 1, self.partner[opening], "{")
                    blocks.append(brace)
                    i = self.partner[brace]
                    if self.tokens[i + 1].text != "else":
                        break
                    i += 1
                last = i
            else:
                head = last = self.find(i, self.partner[opening], ";")
            statements.append(Statement(self.tokens, first, last, head, blocks))
            i = last + 1
        return statements

    def blocks(self):
        """(statements, whether in a round) of every block of the body."""
        waiting = [(self.body, False)]
        while waiting:
            opening, concurrent_ = waiting.pop()
            statements = self.block(opening)
            yield statements, concurrent_
            for s in statements:
                waiting += [(b, concurrent_ or self.tokens[s.first].text == "round")
                            for b in s.blocks]


def change_tokens(p, first, last):
    """Operators, numbers, functions, `mod`, `not`: wherever expressions stand."""
    for i in range(first, last + 1):
        text = p.tokens[i].text
        for other in INSTEAD.get(text, ()):
            yield p.edit(i, i, other, f"{text} becomes {other}")
        if text.isdecimal():
            for n in (int(text) - 1, int(text) + 1):
                if n >= 0:
                    yield p.edit(i, i, str(n), f"{text} becomes {n}")
        if text == "mod":
            yield p.edit(i, p.primary(i + 1), "", "mod is dropped")
        if text == "not":
            yield p.edit(i, i, "", "not is dropped")
        if text == "if":
            then = p.find(i + 1, last, "then")
            other = p.find(i + 1, last, "else")
            brace = p.find(i + 1, last, "{")
            if then < min(brace, other) and other <= last:
                end = p.find(other + 1, last, ";", ",") - 1
                if p.find(other + 1, end, ")") <= end:
                    end = p.find(other + 1, end, ")") - 1
                yield p.edit(then, end, f"then {p.text(other + 1, end)} else "
                                        f"{p.text(then + 1, other - 1)}", "swaps then and else")
                yield p.edit(i + 1, then - 1, f"not ({p.text(i + 1, then - 1)})", "negates")


def change_places(p, first, last):
    """Peers, indices, counts."""
    for i in range(first, last + 1):
        if p.tokens[i].text in PEER:
            end = p.find(i, last, ";", "on") - 1
            peer = p.text(i + 1, end)
            for by in ("+ 1", "- 1"):
                yield p.edit(i + 1, end, f"({peer} {by}) mod P", f"the peer is {by}")
        if p.tokens[i].text == "[" and p.tokens[i + 1].text != "{":
            end = p.partner[i] - 1
            if "in" in (t.text for t in p.tokens[i:end]):
                continue  # scratch t[j in 0 ..< n]
            plus = p.find(i + 1, end, "+:")
            for a, b, what in ((i + 1, plus - 1, "index"), (plus + 1, end, "count")):
                if a > b or (what == "index" and p.tokens[i - 2].text == "scratch"):
                    continue
                for by in ("+ 1", "- 1"):
                    yield p.edit(a, b, f"{p.text(a, b)} {by}", f"the {what} is {by}")
                if what == "index" and plus > end:
                    yield p.edit(a, b, f"({p.text(a, b)} + 1) mod P", "the index is + 1 mod P")


def change_names(p, first, last):
    """One integer for another, one buffer for another."""
    words = [t.text for t in p.tokens]
    numbers = {"me", "P"} | {words[i + 1] for i in range(p.head, last)
                             if words[i] in ("let", "for") or words[i + 2:i + 3] == ["in"]}
    numbers |= {words[i - 1] for i in range(p.head, first) if words[i] == "="}
    numbers |= {"root"} & set(words)
    numbers = {n for n in numbers if n.isidentifier()}
    buffers = {words[i + 1] for i in range(first, last) if words[i] in ("scratch", "as")}
    buffers |= {"in", "out", "data"} & set(words[first:])
    for i in range(first, last):
        if words[i - 1] in ("let", "for", "scratch", "as") or words[i + 1] == "in":
            continue
        if words[i] == "in" and words[i - 1] in numbers:
            continue  # for i in
        for names in (numbers, buffers):
            for other in sorted(names - {words[i]}) if words[i] in names else ():
                yield p.edit(i, i, other, f"{words[i]} becomes {other}")


def change_statements(p):
    """Leaves out, reorders, swaps, cuts."""
    for statements, in_round in p.blocks():
        for s in statements:
            yield from change_statement(p, s, in_round)
        for a, b in itertools.pairwise(statements):
            words = p.tokens[a.first].text, p.tokens[b.first].text
            if "let" in words or "split" in words or "scratch" in words:
                continue
            if in_round and sorted(words) in (["recv", "send"], ["await", "signal"]):
                continue  # they begin together: no order
            between = p.source[p.tokens[a.last].end:p.tokens[b.first].begin]
            yield p.edit(a.first, b.last,
                         p.text(b.first, b.last) + between + p.text(a.first, a.last),
                         f"{words[0]} and {words[1]} swap")


def change_statement(p, s, in_round):
    word = p.tokens[s.first].text
    if word in ("copy", "reduce", "send", "recv", "exchange", "signal", "await", "round"):
        yield p.edit(s.first, s.last, "", f"{word} is left out")
    if word in ("copy", "reduce"):
        arrow = p.find(s.first, s.last, "->")
        if word == "copy":
            yield p.edit(s.first + 1, s.last, f"{p.text(arrow + 1, s.last - 1)} -> "
                                              f"{p.text(s.first + 1, arrow - 1)};", "from, to swap")
        else:
            comma = p.find(s.first, s.last, ",")
            a, b = p.text(s.first + 1, comma - 1), p.text(comma + 1, arrow - 1)
            into = p.text(arrow + 1, s.last - 1)
            yield p.edit(s.first, s.last, f"reduce {b}, {a} -> {into};", "operands swap")
            yield p.edit(s.first, s.last, f"reduce {a}, {a} -> {into};", "one operand twice")
            yield p.edit(s.first, s.last, f"reduce {b}, {b} -> {into};", "one operand twice")
            yield p.edit(s.first, s.last, f"copy {b} -> {into};", "copies, reduces not")
    if word == "exchange":
        arrow, peer = p.find(s.first, s.last, "->"), p.find(s.first, s.last, "with")
        sends, receives = p.text(s.first + 1, arrow - 1), p.text(arrow + 1, peer - 1)
        rest = p.text(peer + 1, s.last)
        yield p.edit(s.first, s.last, f"send {sends} to {rest}", "sends only")
        yield p.edit(s.first, s.last, f"recv {receives} from {rest}", "receives only")
    if word == "round":
        inside = p.block(s.blocks[0])
        for i, inner in enumerate(inside[:-1]):
            if not any(p.tokens[x.first].text == "let" for x in inside):
                cut = inner.last
                yield p.edit(cut, cut, p.tokens[cut].text + " } round {", f"is cut after {i + 1}")
    if word == "for":
        condition = p.find(s.first, s.blocks[0], "if")
        if condition < s.blocks[0]:
            yield p.edit(condition, s.blocks[0] - 1, "", "the condition is left out")
            yield p.edit(condition + 1, s.blocks[0] - 1,
                         f"not ({p.text(condition + 1, s.blocks[0] - 1)})", "negates")
    if word == "if":
        for a, b in itertools.pairwise(s.blocks):
            yield p.edit(a, p.partner[b],
                         p.text(b, p.partner[b]) + p.text(p.partner[a] + 1, b - 1)
                         + p.text(a, p.partner[a]), "branches swap")
        for a in s.blocks:
            start = a
            while p.tokens[start].text != "if" and start > s.first:
                start -= 1
            if p.partner.get(a) and p.tokens[a - 1].text != "else":
                condition = p.text(start + 1, a - 1)
                yield p.edit(start + 1, a - 1, f"not ({condition})", "negates")
                yield p.edit(start + 1, a - 1, "true", "condition is dropped")
        if len(s.blocks) > 1:
            last = s.blocks[-1]
            if p.tokens[last - 1].text == "else":
                yield p.edit(last - 1, p.partner[last], "", "else is left out")


def mutants(source):
    """{(begin, end, text): Edit} of the program, and of its requirements and claims."""
    p = Program(source)
    claims = p.find(p.head, p.body, "requires", "claims")
    functions = [i for i in range(p.head) if p.tokens[i].text == "="]
    edits = [e for i in functions for e in change_tokens(p, i + 1, p.find(i, p.head, ";"))]
    edits += change_tokens(p, p.body, len(p.tokens) - 1)
    edits += change_places(p, p.body, len(p.tokens) - 1)
    edits += change_names(p, p.body, len(p.tokens) - 1)
    edits += change_statements(p)
    apart = list(change_tokens(p, claims, p.body - 1)) if claims < p.body else []
    return [list({edit[:3]: edit for edit in some}.values()) for some in (edits, apart)]


def apply(source, edit):
    return source[:edit.begin] + edit.text + source[edit.end:]


def difference(source, edit):
    """The lines that the edit touches: as they were, as they are."""
    begin = source.rfind("\n", 0, edit.begin) + 1
    end = source.find("\n", edit.end)
    was, now = source[begin:end], source[begin:edit.begin] + edit.text + source[edit.end:end]
    return tuple(" ".join(s.split()) for s in (was, now))


def settings(source):
    heading = re.search(r"(?m)^(?!fn )\w+ \w+\(([^)]*)\)", source)
    names = re.findall(r"(\w+)\s*=", heading[1]) if heading else []
    return [[]] + [["-p", f"{name}={value}"] for name in names for value in VALUES]


def promises(said):
    return {promise for promise in PROMISES if promise in said}


class Judge:
    def __init__(self, nbcc, ranks):
        self.nbcc, self.ranks = nbcc, ranks
        self.known = {}  # of originals, which each mutant is compared with

    def run(self, file, *arguments):
        """(status, what it printed); the status is None where it did not end."""
        try:
            done = subprocess.run([self.nbcc, file, *arguments], capture_output=True, text=True,
                                  errors="replace", timeout=SECONDS, check=False)
            return done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            return None, f"did not end in {SECONDS} seconds"

    def prove(self, file, setting):
        return self.run(file, f"--prove=1..{self.ranks}", *setting)

    def schedules(self, file, setting):
        """Of all ranks, for some numbers of them, without places in the source and ports."""
        program = file.read_text(encoding="utf-8")
        if NEIGHBORS.search(program):
            worlds = [(ranks, f"--cart={grid}") for ranks, all in GRIDS.items() for grid in all]
        elif ASKS.search(program):
            worlds = [(ranks, f"--topology={where}")
                      for ranks, places in SCHEDULES.items() for where in places]
        else:
            worlds = [(ranks, None) for ranks in SCHEDULES]
        made = []
        for ranks, world in worlds:
            status, text = self.run(file, "--emit=schedule", "--rank=all", f"--ranks={ranks}",
                                    f"--root={ranks // 2}", *([world] if world else []), *setting)
            made.append(re.sub(r"( port \d+)? at \d+:\d+$", "", text, flags=re.MULTILINE)
                        if status == 0 else None)  # it does not apply
        return made

    def of_original(self, what, path, setting):
        key = what, path, *setting
        if key not in self.known:
            self.known[key] = what(path, setting)
        return self.known[key]

    def same(self, file, original, setting):
        made = self.schedules(file, setting)
        return any(made) and made == self.of_original(self.schedules, original, setting)

    def verdict(self, path, program, options):
        """(word, what was printed)"""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, path.name)
            file.write_text(program, encoding="utf-8")
            accepted, weaker = [], False
            for setting in options:
                status, said = self.prove(file, setting)
                if status is None:
                    return "hangs", said
                if status == 0:
                    accepted.append(setting)
                    original = self.of_original(self.prove, path, setting)[1]
                    weaker |= promises(original) > promises(said)
                elif status != 1 or "error:" not in said:
                    return "crashes", f"status {status}: {said}"
                elif "`requires` holds for none" not in said:
                    return ("refused by the proof" if " fails with " in said else
                            "refused by the front end"), said
            if not accepted:
                return "refused by the front end", said
            if weaker:
                return "promises less", ""
            if all(self.same(file, path, s) for s in accepted):
                return "same schedules", ""
            return "accepted", ""


def read_explained(file):
    """{(algorithm, line as it was, line as it is): why}, from blocks of four lines."""
    explained = {}
    if file.exists():
        lines = [l.strip() for l in file.read_text(encoding="utf-8").splitlines()
                 if not l.startswith("#")]
        for key, block in itertools.groupby(lines, bool):
            block = list(block)
            if not key:
                continue
            if len(block) != 4 or block[1][:2] != "- " or block[2][:2] != "+ ":
                raise SystemExit(f"{file}: name, - line, + line and reason are wanted: {block}")
            explained[block[0], block[1][2:], block[2][2:]] = block[3]
    return explained


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("files", nargs="*", type=pathlib.Path)
    options.add_argument("--nbcc", default=ROOT / "build" / "release" / "bin" / "nbcc")
    options.add_argument("--ranks", type=int, default=17, help="prove for 1 .. this [17]")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--claims", action="store_true", help="also show claims that survive")
    chosen = options.parse_args()
    judge, explained = Judge(chosen.nbcc, chosen.ranks), read_explained(EXPLAINED)
    survivors, used = 0, set()

    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        for path in chosen.files or sorted(LIBRARY.glob("*/*.nbc")):
            path = path.resolve()
            name = f"{path.parent.name}/{path.name}"
            source = path.read_text(encoding="utf-8")
            parameters = settings(source)
            kinds = mutants(source)
            verdicts = [list(pool.map(lambda e: judge.verdict(path, apply(source, e), parameters),
                                      edits)) for edits in kinds]
            counts, shown = collections.Counter(), []
            for edit, (word, said) in zip(kinds[0], verdicts[0]):
                key = (name, *difference(source, edit))
                if word == "accepted" and key in explained:
                    used.add(key)
                    word = "explained"
                counts[word] += 1
                if word in ("accepted", "hangs", "crashes"):
                    line = source.count("\n", 0, edit.begin) + 1
                    shown += [f"  {name}:{line}: {word}: {edit.what}", f"    - {key[1]}",
                              f"    + {key[2]}", *(f"      {l}" for l in said.splitlines()[:8])]
            apart = collections.Counter(word.partition(" ")[0] for word, _ in verdicts[1])
            print(f"{name}: {len(kinds[0])} mutants, "
                  + ", ".join(f"{n} {word}" for word, n in sorted(counts.items()))
                  + f"; of {len(kinds[1])} of its head {apart['refused']} refused", flush=True)
            survivors += counts["accepted"] + counts["hangs"] + counts["crashes"]
            for bad in ("hangs", "crashes"):
                survivors += apart[bad]
            if chosen.claims:
                shown += ["    ".join(["  head", v[0], *difference(source, e)])
                          for e, v in zip(kinds[1], verdicts[1]) if not v[0].startswith("refused")]
            else:
                shown += ["    ".join(["  head", v[0], *difference(source, e), v[1]])
                          for e, v in zip(kinds[1], verdicts[1]) if v[0] in ("hangs", "crashes")]
            if shown:
                print("\n".join(shown), flush=True)
    stale = [] if chosen.files else sorted(set(explained) - used)
    for name, was, now in stale:
        print(f"equivalent.txt explains what is not there: {name}: {was} => {now}")
    print(f"{survivors} unexplained survivors")
    return 1 if survivors or stale else 0


if __name__ == "__main__":
    sys.exit(main())
