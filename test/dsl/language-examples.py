#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""language-examples.py LANGUAGE.md FOLDER - runs every example of the reference of the language.

    ```nbc                   a whole file: nbcc proves it for 1 to 9 ranks
    ```nbc fragment (kind)   the body of an algorithm of this kind: nbcc checks it
    ```nbc error             nbcc refuses it, with the message that stands behind `// error: `

Examples are written to FOLDER, one file each, named by the line they begin in. `nbcc` is found by
name. Prints what is wrong, and at the end how many ran; at least one of each sort must have.
"""

import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^```nbc[ ]*(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(text):
    """(line, sort, source) of each."""
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        sort, _, kind = match[1].partition(" ")
        source = match[2]
        if sort == "fragment":
            source = f"{kind.strip('()')} fragment {{\n{source}}}\n"
        yield line, sort or "whole", source


def problem(path, sort, source):
    """What is wrong with an example, or None."""
    command = ["nbcc", str(path), "--emit=ast" if sort == "fragment" else "--prove=1..9"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    output = run.stdout + run.stderr
    if sort in ("whole", "fragment"):
        return None if run.returncode == 0 else f"exit status {run.returncode}:\n{output}"
    if sort != "error":
        return f"no such sort of example: '{sort}'"
    wanted = re.findall(r"// error: (.*)", source)
    if not wanted:
        return "no `// error: ` says what is wrong with it"
    if run.returncode != 1:
        return f"exit status {run.returncode}, wanted 1:\n{output}"
    missing = [message for message in wanted if message not in output]
    return f"no word of: {missing}\n{output}" if missing else None


def main():
    reference, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    count = {"whole": 0, "fragment": 0, "error": 0}
    failed = False
    for line, sort, source in examples(reference.read_text(encoding="utf-8")):
        path = folder / f"line-{line}.nbc"
        path.write_text(source, encoding="utf-8")
        count[sort] = count.get(sort, 0) + 1
        if wrong := problem(path, sort, source):
            print(f"{reference}:{line}: {wrong}")
            failed = True
    print(", ".join(f"{n} {sort}" for sort, n in count.items()))
    return 1 if failed or 0 in count.values() else 0


if __name__ == "__main__":
    sys.exit(main())
