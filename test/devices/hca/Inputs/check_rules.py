#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_rules.py TABLE UNIT RULES - whether the tests that a table names are those that there are."""

import re
import subprocess
import sys


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def of_unit(program):
    suite = ""
    for line in said(program, "--gtest_list_tests"):
        name = line.split("#")[0].strip()
        if line.startswith(" "):
            yield suite + name
        elif name.endswith("."):
            suite = name


def main():
    table, unit, rules = sys.argv[1:]
    with open(table, encoding="utf-8") as file:
        rows = [line for line in file if line.startswith("| ") and not line.startswith("| rule |")]
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    device, api = set(of_unit(unit)), set(said(rules, "--list"))
    wrong = [f"no test {name}" for name in sorted(named - device - api)]
    wrong += [f"{name} is in no row" for name in sorted(api - named)]
    wrong += [f"a rule has no test: {row.strip()}" for row in rows if "`" not in row]
    print("\n".join(wrong) if wrong else f"{len(rows)} rules, {len(named)} tests")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
