#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make_index.py [--check] - stdlib_algos/README.md from the heads and claims of the algorithms.

Each file opens with a comment, `What: how.`, more, and paragraphs `Cost:`, `Use:` and `Source:`;
the columns for rounds and blocks are its claims, which nbcc proves. A collective's folder may hold a
README.md, written by hand, with its theory; the index links to it, and it has to link to every
algorithm beside it. With --check nothing is written: the status says whether the index is up to date.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "stdlib_algos"

INTRODUCTION = """\
# The standard library of algorithms

Made by `scripts/make_index.py` from the files, and checked by a test: edit them, not this.

Rounds and blocks are of the busiest rank, as each file claims and nbcc proves: with `<` or `<=` a
bound, else exact. A block is one rank's contribution, a vector is one block: times its length these
are the bytes that the busiest rank sends. `P` is the number of ranks, `floor_log(b, x)` the largest
e with b^e <= x, `ceil_log(b, x)` the smallest with b^e >= x.
In rank order: right for operators that do not commute. Same bits: all ranks get the same result
to the last bit, whatever floating point does.

An algorithm that is added here is found by this index, the proof and the tests.
"""


class Malformed(Exception):
    pass


def head(path, text):
    """The opening comment as {label: paragraph}; the first is `Idea`, what stands between `More`."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    if not lines or not lines[0].startswith("SPDX-License-Identifier:"):
        raise Malformed(f"{path}: the first line is not the licence's")
    paragraphs = {}
    label = "Idea"
    for line in lines[1:]:
        named = re.match(r"(Cost|Use|Source): ", line)
        if named:
            label = named[1]
            line = line[named.end():]
        elif not line:
            label = "More"
            continue
        paragraphs[label] = (paragraphs.get(label, "") + " " + line).strip()
    for wanted in ("Idea", "Cost", "Use", "Source"):
        if wanted not in paragraphs:
            raise Malformed(f"{path}: the head has no paragraph `{wanted}:`")
    return paragraphs


def split_list(text):
    """At the commas that stand in no brackets."""
    items, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            items.append(text[start:i])
            start = i + 1
    return [" ".join(item.split()) for item in items + [text[start:]] if item.strip()]


def signature(path, text):
    """(kind, name, parameters, requirements, {what: bound}, functions) of a file's only algorithm."""
    code = re.sub(r"//[^\n]*", "", text)
    functions = re.findall(r"(?m)^fn ([^;]*);", code)
    code = re.sub(r"(?m)^fn [^;]*;", "", code)
    clauses = re.compile(r"\s*(\w+)\s+(\w+)\s*(\([^)]*\))?\s*((?:requires|claims)\b[^{]*)?\{")
    found = clauses.match(code)
    if not found:
        raise Malformed(f"{path}: no algorithm")
    kind, name, parameters, rest = found.groups()
    if path.parts[-2:] != (kind, name + ".nbc"):
        raise Malformed(f"{path}: holds {kind} {name}")
    requirements, claims = [], {}
    for what, items in re.findall(r"\b(requires|claims)\b(.*?)(?=\brequires\b|\bclaims\b|$)",
                                  rest or "", re.DOTALL):
        for item in split_list(items):
            if what == "requires":
                requirements.append(item)
            else:
                quantity, comparison, bound = (item.split(maxsplit=2) + ["", ""])[:3]
                claims[quantity] = bound if comparison == "==" else f"{comparison} {bound}".strip()
    return kind, name, parameters or "", requirements, claims, functions


def code(text):
    return f"`{text}`" if text else ""


def row(path):
    text = path.read_text(encoding="utf-8")
    paragraphs = head(path, text)
    kind, name, parameters, requirements, claims, functions = signature(path, text)
    notes = [paragraphs["Use"]]
    if requirements:
        notes.append("Needs " + ", ".join(map(code, requirements)) + ".")
    if "rank_order" in claims:
        notes.append("In rank order.")
    if "bitwise_same" in claims:
        notes.append("Same bits.")
    shown = [claims.get("rounds", ""), claims.get("sent", "")]
    for function in functions:
        if function.split("(")[0] + "(" in " ".join(shown):
            notes.append(code(" ".join(function.split())) + ".")
    return [f"[{name}{parameters}]({kind}/{path.name})", *map(code, shown), " ".join(notes)]


def theory(folder):
    """A sentence that links to the folder's page of theory, if there is one."""
    page = folder / "README.md"
    if not page.exists():
        return ""
    linked = set(re.findall(r"\]\((\w+\.nbc)\)", page.read_text(encoding="utf-8")))
    there = {path.name for path in folder.glob("*.nbc")}
    for name in sorted(linked ^ there):
        raise Malformed(f"{page}: " + (f"does not link to {name}" if name in there else
                                       f"links to {name}, which is not there"))
    return f"Lower bounds, and these algorithms compared: [{folder.name}]({folder.name}/README.md).\n\n"


def index():
    parts = [INTRODUCTION]
    for folder in sorted(p for p in LIBRARY.iterdir() if p.is_dir()):
        parts.append(f"\n## {folder.name}\n\n{theory(folder)}"
                     "| algorithm | rounds | blocks sent | when to use |\n"
                     "|---|---|---|---|\n")
        for path in sorted(folder.glob("*.nbc")):
            parts.append("| " + " | ".join(row(path)) + " |\n")
    return "".join(parts)


def main():
    readme = LIBRARY / "README.md"
    try:
        text = index()
    except Malformed as wrong:
        sys.exit(f"error: {wrong}")
    if sys.argv[1:] == ["--check"]:
        if not readme.exists() or readme.read_text(encoding="utf-8") != text:
            sys.exit(f"{readme.relative_to(ROOT)} is out of date: run scripts/make_index.py")
    elif sys.argv[1:]:
        sys.exit("usage: make_index.py [--check]")
    else:
        readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
