# SPDX-License-Identifier: BSD-3-Clause
"""goal_round_trip.py NBCC FILE - every algorithm of the library to GOAL, in FILE, and back."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "scripts"))
import batch  # noqa: E402

INAPPLICABLE = re.compile("requires this, which does not hold|asks where the ranks are|is among neighbours")
ACCEPTED = "GOAL says nothing of data: matching, sizes and order were checked, not the result"
SECONDS = 60

nbcc, file = sys.argv[1:]
written = passed_over = 0
with batch.Batch(nbcc) as compiler:
    for algorithm in sorted(ROOT.glob("stdlib_algos/*/*.nbc")):
        for ranks in (1, 7):
            for how in ([], ["--run=default"], ["--run=keep-rounds"]):
                made = compiler.run([algorithm, "--emit=goal", f"--ranks={ranks}", "--count=3", *how], SECONDS)
                if made.returncode and INAPPLICABLE.search(made.stderr):
                    passed_over += 1
                    continue
                pathlib.Path(file).write_text(made.stdout, encoding="utf-8")
                read = compiler.run(["-x", "goal", file, "--prove"], SECONDS)
                if made.returncode or read.returncode or ACCEPTED not in read.stdout:
                    sys.exit(f"{' '.join(made.args)}\n{made.stderr}{read.stdout}{read.stderr}")
                written += 1
print(f"{written} programs, {passed_over} do not apply: all right")
