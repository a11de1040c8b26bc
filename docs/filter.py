#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""filter.py HEADER - a header as Doxygen wants it; the headers themselves keep plain comments.

    /* SPDX... nbc.h - ...        =>  /** @file ...        the comment that the file begins with
    /* --- what the runtime ...   =>  left out from there on: it is not for users
    /* above a declaration        =>  /** above a declaration
    int a, b; /* behind one */    =>  int a; /**< behind one */ int b; /**< behind one */

Lines keep their numbers, so that Doxygen's complaints name those of the header.
"""

import re
import sys

COMMENT = re.compile(r"(/\*.*?\*/)", re.DOTALL)
# One type, several names: Doxygen would give the comment to one of them alone.
SEVERAL = re.compile(
    r"(\s*(?:const )?(?:struct |enum |union )?\w+ )((?:\*?\w+(?:\[\w+\])?, )+\*?\w+(?:\[\w+\])?);\s*$")


def flat(comment):
    """The words of a comment, on one line."""
    return " ".join(re.sub(r"\n\s*\*", " ", comment[2:-2]).split())


def separate(line, said):
    """Declares the names of a line one by one, each but the last with what is said of all."""
    several = SEVERAL.match(line)
    if not several:
        return line
    kind, names = several.group(1), several.group(2).split(", ")
    return "".join(f"{kind}{name}; /**< {said} */ " for name in names[:-1]) + f"{kind}{names[-1]}; "


def with_comment_above(code, said):
    """Code that begins behind a comment; of several names on the next line, the last is `said` too."""
    before, newline, rest = code.partition("\n")
    line, end, rest = rest.partition("\n")
    if before.strip() or not SEVERAL.match(line):
        return code
    return before + newline + separate(line, said) + f"/**< {said} */" + end + rest


def filtered(text):
    text = re.sub(r"\A/\* SPDX[^\n]*\n \* (\S+) - ", r"/** @file \1\n * ", text, count=1)
    text = re.sub(r"/\* --- what the runtime asks [^\n]* \*/", "/** @cond */", text)
    if "@cond" in text:
        text = re.sub(r"\n(?=#ifdef __cplusplus\n})", r"/** @endcond */\n", text)
    out, above = "", None
    for part in COMMENT.split(text):
        head, newline, line = out.rpartition("\n")
        if not part.startswith("/*"):
            out += with_comment_above(part, above) if above else part
            above = None
        elif line.strip():
            out = head + newline + separate(line, flat(part)) + "/**<" + part[2:]
        else:
            out += part if part.startswith("/**") else "/**" + part[2:]
            above = flat(part)
    return out


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        sys.stdout.write(filtered(header.read()))
