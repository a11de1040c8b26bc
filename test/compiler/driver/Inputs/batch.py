# SPDX-License-Identifier: BSD-3-Clause
"""batch.py - scripts/batch.py with a compiler that ends in each way in which one can."""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "scripts"))
import batch  # noqa: E402

PROGRAM = r"""#!/bin/bash
case $1 in
  die) echo "dies alone" >&2; exit 3 ;;
  --batch) ;;
  *) exit 0 ;;
esac
while read -r line; do
  case $line in
    die | crash) kill -9 $$ ;;
    hang) exec sleep 1000 ;;
    *) printf '0 4 0\nwell' ;;
  esac
done
"""

with tempfile.TemporaryDirectory() as folder:
    program = pathlib.Path(folder, "nbcc")
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o700)
    with batch.Batch(program) as compiler:
        for line, seconds in [("go", 60), ("die", 60), ("crash", 60), ("hang", 0.5), ("go", 60)]:
            try:
                done = compiler.run([line], seconds)
                print(done.returncode, (done.stdout + done.stderr).strip())
            except subprocess.TimeoutExpired:
                print("hangs")
