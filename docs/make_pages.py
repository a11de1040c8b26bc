#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make_pages.py --doxygen DOXYGEN --nbcc NBCC --version VERSION --output FOLDER

Pages of the public headers and of the compiler:

    FOLDER/html/index.html       all of the headers
    FOLDER/man/man3/nbc.h.3      a header, a struct (nbc_call.3), a function (nbc_start.3)
    FOLDER/man/man1/nbcc.1       what `nbcc --help` says

Fails when Doxygen finds something undocumented, and shows where.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What is meant for users, and for those who bring a device of their own.
HEADERS = ["runtime/include/nbc.h", "runtime/include/nbc/library.h", "runtime/include/nbc/build.h", "runtime/include/nbc/algorithms.h", "runtime/include/nbc/jit.h",
           "runtime/include/nbc/p2p.h", "runtime/include/nbc/shm.h", "runtime/mpi/nbc_mpi.h"]


def run_doxygen(doxygen, version, output):
    environment = dict(os.environ, NBC_VERSION=version, NBC_PAGES=str(output), NBC_ROOT=str(ROOT),
                       NBC_PYTHON=sys.executable,
                       NBC_HEADERS=" ".join(str(ROOT / header) for header in HEADERS))
    done = subprocess.run([doxygen, ROOT / "docs" / "Doxyfile"], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        sys.exit(done.stdout + "make_pages: the headers have no pages yet")


def plain(roff):
    """Without fonts and soft points."""
    return re.sub(r"\\f[A-Z]|\\&", "", roff)


def mended(page):
    """Doxygen leaves text at the beginning of a line as it is, also what roff takes for a command."""
    known = "TH|SH|SS|PP|IP|RI|RS|RE|ad|br|fi|in|nf|nh|ti"
    return re.sub(rf"^(?='|\.(?!(?:{known})\b))", r"\\&", page, flags=re.MULTILINE)


def function_pages(header, page):
    """Doxygen makes one page for a header. (name, page) for each function there."""
    title = re.match(r'\.TH "[^"]*" 3 (.*)\n', page).group(1)
    functions = page.partition('.SH "Function Documentation"')[2].partition("\n.SH ")[0]
    for part in functions.split('\n.SS "')[1:]:
        declaration, _, text = part.partition('"\n')
        name = re.search(r"(\w+) \(", plain(declaration)).group(1)
        whole = re.sub(r"(?<!,) ", "\0", plain(declaration).rstrip().replace("* ", "*").replace(" (", "("))
        declared = textwrap.fill(whole + ";", 72, subsequent_indent=" " * 4).replace("\0", " ")
        brief = re.split(r"(?<=\w)\\?&?[.:;](?:\s|$)", plain(text.replace("\n.PP\n", "", 1)).strip())[0]
        yield name, "\n".join([
            f'.TH "{name}" 3 {title}', ".ad l", ".nh", ".SH NAME",
            f"{name} \\- {brief[:1].lower()}{brief[1:]}".replace("\n", " "), ".SH SYNOPSIS", ".nf",
            f"#include <{header}>", "", declared, ".fi", ".SH DESCRIPTION",
            text.strip(), ".SH SEE ALSO", f"{pathlib.Path(header).name}(3)", ""])


def compiler_page(nbcc, version):
    """nbcc(1), of what nbcc says of itself: a paragraph, a group of options, or lines as they are."""
    help_text = subprocess.run([nbcc, "--help"], text=True, stdout=subprocess.PIPE, check=True).stdout
    escape = lambda line: re.sub(r"^([.'])", r"\\&\1", line.replace("\\", "\\e").replace("-", "\\-"))
    name, _, rest = help_text.partition("\n")
    examples, _, rest = rest.partition("Usage:")
    usage, _, rest = rest.partition("\n")
    out = [f'.TH nbcc 1 "" "Version {version}" nbc', ".ad l", ".nh", ".SH NAME",
           escape(name).replace("nbcc \\- ", "nbcc \\- ", 1).rstrip("."), ".SH SYNOPSIS",
           escape(usage.strip()), ".SH EXAMPLES", ".nf", escape(examples.strip("\n")), ".fi"]
    for section in re.split(r"\n\n+(?=\S)", rest.strip("\n")):
        head, _, body = section.partition("\n")
        if not body or not body.startswith(" "):  # a paragraph: "Exit status: 0 if ..."
            head, _, body = section.partition(": ")
            out += [f'.SH "{escape(head)}"', escape(" ".join(body.split()))]
            continue
        out.append(f'.SH "{escape(head.rstrip(":"))}"')
        if not re.search(r"^  -", body, re.MULTILINE):
            out += [".nf", *map(escape, body.split("\n")), ".fi"]
            continue
        for line in body.split("\n"):
            option = re.match(r"  (-.*?)(?:\s{2,}|$)(.*)", line)
            if option:
                out += [".TP", f"\\fB{escape(option.group(1).strip())}\\fP"]
                line = option.group(2)
            if line.strip():
                out.append(escape(line.strip()))
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser()
    for name in ("doxygen", "nbcc", "version", "output"):
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args()
    output = pathlib.Path(given.output).resolve()
    for folder in ("html", "man"):  # of an earlier time
        if (output / folder).exists():
            shutil.rmtree(output / folder)
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder)
        run_doxygen(given.doxygen, given.version, made)
        (output / "man" / "man1").mkdir(parents=True)
        shutil.move(made / "html", output / "html")
        shutil.move(made / "man" / "man3", output / "man" / "man3")
    for page in (output / "man" / "man3").iterdir():
        page.write_text(mended(page.read_text()))
    for header in HEADERS:
        name = pathlib.Path(header).name
        include = re.sub(r".*?/(?:include|mpi)/", "", header)
        page = (output / "man" / "man3" / f"{name}.3").read_text()
        for function, text in function_pages(include, page):
            (output / "man" / "man3" / f"{function}.3").write_text(text)
    (output / "man" / "man1" / "nbcc.1").write_text(compiler_page(given.nbcc, given.version))


if __name__ == "__main__":
    main()
