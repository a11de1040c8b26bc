#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""words.py ROOT BUILD - the grammar, its reference and the parser made of it agree.

The words of the grammar are those that LANGUAGE.md lists, and the parser decides by one token
everywhere: it holds no call to ANTLR's simulation, which is slow and recursive.
"""

import pathlib
import re
import sys


def main():
    root, build = map(pathlib.Path, sys.argv[1:3])
    grammar = (root / "grammar/Nbc.g4").read_text(encoding="utf-8")
    words = set(re.findall(r"^[A-Z]+: '([a-z]+)';$", grammar, re.MULTILINE))

    reference = (root / "dsl/LANGUAGE.md").read_text(encoding="utf-8")
    paragraph = re.search(r"^Words that cannot be names: `([a-z ]+)`", reference, re.MULTILINE)
    listed = set(paragraph[1].split())

    wrong = [f"'{w}' is in the grammar, not in LANGUAGE.md" for w in sorted(words - listed)]
    wrong += [f"'{w}' is in LANGUAGE.md, not in the grammar" for w in sorted(listed - words)]

    parser = (build / "grammar/generated/NbcParser.cpp").read_text(encoding="utf-8")
    if "NbcParser::FileContext" not in parser:
        wrong.append("this is not the generated parser")
    wrong += ["the parser simulates: one token does not decide a branch"] * (
        "adaptivePredict(" in parser)

    print("\n".join(wrong) or f"{len(words)} words agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
