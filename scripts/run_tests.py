#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run_tests.py BUILD [--units] - run every test of a build; the last line is `N passed, N failed`.

Tests are of two kinds: GoogleTest programs, BUILD/bin/unit-*, and all that lit finds below test/
(layering, format and the algorithm library among them). What fails is shown, what passes is counted.
A program that crashes or hangs is one failure beside those it reported itself. With --units only the
programs are run.
"""

import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIT = "/usr/lib/llvm-19/build/utils/lit/lit.py"
UNIT_SECONDS = 600
LIT_SECONDS = 3600

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
NOT_RUN = {"UNSUPPORTED", "EXCLUDED", "SKIPPED"}


def run(command, seconds, output=None):
    """Status and output; all processes that the command started are ended after `seconds`."""
    process = subprocess.Popen(
        command, stdout=output or subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT,
        text=True, errors="replace", start_new_session=True)
    try:
        text, _ = process.communicate(timeout=seconds)
        return process.returncode, text or ""
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
        return None, (text or "") + f"\nended after {seconds} seconds\n"


def run_shard(program, shard, shards):
    """(passed, failed, what to show), of each `shards`th test"""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        status, text = run(
            ["env", f"GTEST_SHARD_INDEX={shard}", f"GTEST_TOTAL_SHARDS={shards}",
             program, f"--gtest_output=json:{report}", "--gtest_brief=1"], UNIT_SECONDS)
        passed = failed = 0
        if report.exists():
            for suite in json.loads(report.read_text())["testsuites"]:
                for test in suite["testsuite"]:
                    if test["status"] != "RUN" or test["result"] == "SKIPPED":
                        continue
                    if "failures" in test:
                        failed += 1
                    else:
                        passed += 1
    if status != 0 and failed == 0:  # crashed, or the sanitizer has found something at exit
        failed = 1
        text += f"\n{program.name}: exit status {status}\n"
    return passed, failed, text if failed else ""


def run_units(build):
    programs = sorted(p for p in (build / "bin").glob("unit-*") if os.access(p, os.X_OK))
    if not programs:
        print(f"{build}/bin holds no unit tests: was it built?")
        return 0, 1
    # In shards: where a program takes long, no core has nothing left to do meanwhile.
    shards = os.cpu_count()
    total = [0, 0]
    with concurrent.futures.ThreadPoolExecutor(shards) as pool:
        parts = [[pool.submit(run_shard, program, shard, shards) for shard in range(shards)] for program in programs]
        for program, results in zip(programs, parts):
            results = [part.result() for part in results]
            passed, failed = (sum(result[i] for result in results) for i in (0, 1))
            print(f"{program.name}: {passed} passed" + (f", {failed} failed" if failed else ""))
            print("".join(result[2] for result in results), end="", flush=True)
            total[0] += passed
            total[1] += failed
    return total


def run_lit(build):
    report = build / "lit.json"
    report.unlink(missing_ok=True)
    begin = time.monotonic()
    status, _ = run(
        [sys.executable, LIT, "-sv", "--no-progress-bar", f"-j{os.cpu_count()}", "--order=smart",
         f"--param=build={build}", f"--output={report}", ROOT / "test"],
        LIT_SECONDS, output=sys.stdout)
    passed = failed = skipped = 0
    if report.exists():
        for test in json.loads(report.read_text())["tests"]:
            if test["code"] in PASSED:
                passed += 1
            elif test["code"] in NOT_RUN:
                skipped += 1
            else:
                failed += 1
    if skipped:
        print(f"lit: {skipped} do not apply to this build")
    if passed + failed == 0 or (status != 0 and failed == 0):
        print(f"lit: exit status {status}")
        failed += 1
    print(f"lit: {passed} passed" + (f", {failed} failed" if failed else ""), f"in {time.monotonic() - begin:.0f} s")
    return passed, failed


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--units"]):
        sys.exit("usage: run_tests.py BUILD [--units]")
    build = pathlib.Path(sys.argv[1]).resolve()
    passed, failed = run_units(build)
    sys.stdout.flush()
    if len(sys.argv) == 2:
        lit = run_lit(build)
        passed, failed = passed + lit[0], failed + lit[1]
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
