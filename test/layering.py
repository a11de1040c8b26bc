#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""layering.py [ROOT] - data flows one way: who may include whom.

Every folder with sources has a line here, and each of its includes must lead to itself or to a
folder in that line. Targets do not know each other, and nobody but the list of targets knows them.
"""

import pathlib
import re
import sys

IR = ["dsl", "compiler/ir"]
MAY_INCLUDE = {
    "dsl": [],
    "compiler/ir": ["dsl"],
    "compiler/passes": IR,
    "compiler/abi": ["dsl"],
    "compiler/lower": ["dsl", "compiler/abi"],
    "compiler/elaborate": IR + ["compiler/abi"],
    "compiler/jit": IR + ["compiler/abi", "compiler/lower", "compiler/elaborate"],
    "compiler/operators": ["compiler/lower"],
    "compiler/output": IR + ["compiler/abi", "compiler/lower", "compiler/operators", "codegen",
                             "runtime/include"],
    "compiler/prove": IR,
    "compiler/exchange": IR,
    "codegen": IR + ["runtime/include"],
    "codegen/common": IR + ["codegen", "runtime/include"],
    "codegen/messages": IR + ["codegen", "codegen/common", "runtime/include"],
    "compiler/templates": IR + ["compiler/passes", "codegen"],
    "compiler/shipped": IR + ["compiler/abi", "compiler/elaborate", "compiler/templates", "codegen",
                              "runtime/include"],
    "compiler/algorithms": ["dsl", "compiler/abi", "compiler/shipped", "runtime/include"],
    "compiler/selection": ["dsl", "runtime/include"],
    "compiler/compile_source": ["dsl", "codegen", "compiler/driver", "compiler/output", "runtime/include"],
    "compiler/driver": IR + ["compiler/passes", "compiler/elaborate", "compiler/jit", "compiler/templates",
                             "compiler/operators", "compiler/output", "compiler/prove",
                             "compiler/exchange", "compiler/selection", "compiler/shipped", "codegen",
                             "runtime/include", "devices/hca", "devices/p2p", "devices/sisci",
                             "devices/verbs"],
    "runtime/include": [],
    "runtime/common": [],
    "runtime/src": ["runtime/include", "runtime/common"],
    "runtime/kernels": ["runtime/include", "runtime/src"],
    "runtime/mpi": ["runtime/include"],
    "runtime/sci": ["runtime/include"],
    "runtime/shm": ["runtime/include", "runtime/common"],
    "runtime/verbs": ["runtime/include"],
    "runtime/devx": ["runtime/include", "runtime/verbs"],
    "devices": ["runtime/include"],
    "devices/verbs": ["runtime/include", "devices/hca"],
    "devices/verbs_exp": ["runtime/include", "devices/hca"],
    "dropin": ["dsl", "compiler/selection", "runtime/include", "runtime/mpi"],
    "tools/bench": ["dsl", "runtime/include", "runtime/mpi"],
    "tools/overlap": [],
    "tools/adapters": ["runtime/include", "runtime/devx"],
}
EACH_TARGET = IR + ["codegen", "codegen/common", "codegen/messages", "runtime/include"]
LIST_OF_TARGETS = "codegen/targets.cpp"

# Large foreign headers, and where they end.
FOREIGN = {
    "llvm-c/blake3.h": ["compiler/algorithms"],
    "llvm/": ["compiler/lower", "compiler/jit", "compiler/operators", "compiler/output", "tools/overlap"],
    "clang/": ["compiler/operators", "tools/overlap"],
    "antlr4": ["dsl/parse.cpp"],
    "Nbc": ["dsl/parse.cpp"],
    "CLI/": ["compiler/driver", "tools/bench", "tools/overlap"],
    "pugixml": ["compiler/exchange"],
    "nlohmann/": ["compiler/selection/read_table.cpp", "tools/bench/json.cpp"],
    "mpi.h": ["runtime/mpi", "dropin", "tools/bench"],
    "hwloc.h": ["runtime/shm/numa.c"],
    "dropin/default_table.h": ["dropin/selection.cpp"],  # made by the build
}

SOURCES = {".h", ".c", ".cpp", ".def"}
TOPS = ["dsl", "compiler", "codegen", "runtime", "devices", "dropin", "tools"]
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def layer(path):
    """The folder with a line here that holds a path; a target's or device's is its own."""
    parts = path.split("/")
    if parts[0] in ("codegen", "devices") and len(parts) > 2:
        return "/".join(parts[:2])
    for n in range(len(parts) - 1, 0, -1):
        if "/".join(parts[:n]) in MAY_INCLUDE:
            return "/".join(parts[:n])
    return "/".join(parts[:-1])


def allowed(source):
    own = layer(source)
    if own in MAY_INCLUDE:
        return MAY_INCLUDE[own]
    if own.startswith("codegen/"):
        return EACH_TARGET
    if own.startswith("devices/"):
        return MAY_INCLUDE["devices"]
    return None


def wrong_include(root, source, bracket, name):
    """Why this include is not allowed, or None."""
    for prefix, users in FOREIGN.items():
        if name.startswith(prefix):
            at_home = any(source == u or source.startswith(u + "/") for u in users)
            return None if at_home else f"only {' and '.join(users)} may include <{name}>"
    if bracket == "<":
        return None
    for base in ("", "runtime/include/", str(pathlib.Path(source).parent) + "/"):
        if (root / (base + name)).is_file():
            target = layer(base + name)
            break
    else:
        return f"there is no {name}"
    own = layer(source)
    if target == own or target in allowed(source):
        return None
    if source == LIST_OF_TARGETS and target.startswith("codegen/"):
        return None
    return f"{own} may not include {target} ({name})"


def findings(root):
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            source = path.relative_to(root).as_posix()
            if path.suffix not in SOURCES or not path.is_file():
                continue
            if allowed(source) is None:
                yield f"{source}:1: {layer(source)} has no line in test/layering.py"
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                include = INCLUDE.match(line)
                why = include and wrong_include(root, source, *include.groups())
                if why:
                    yield f"{source}:{number}: {why}"


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here
    found = list(findings(root))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
