# SPDX-License-Identifier: BSD-3-Clause
"""batch.py - thousands of nbcc's command lines without loading it as often (nbcc --batch).

  with batch.Batch(nbcc, cwd=ROOT) as compiler:
      done = compiler.run(["ring.nbc", "--prove=1..8"], timeout=60)

run() is as subprocess.run() with capture_output and text: it gives a CompletedProcess, or raises TimeoutExpired.
Not for several threads at once.
"""

import shlex
import subprocess
import threading


class Batch:
    def __init__(self, nbcc, **options):
        """`options` are subprocess.Popen's: cwd, env."""
        self.nbcc, self.options, self.process = str(nbcc), options, None

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        status = self._end()
        if kind is None and status != 0:  # a sanitizer has found something at the end
            raise RuntimeError(f"{self.nbcc} --batch: exit status {status}")

    def run(self, arguments, timeout):
        words = [str(a) for a in arguments]
        if not self.process:
            self.process = subprocess.Popen([self.nbcc, "--batch"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, **self.options)
        late = threading.Event()
        timer = threading.Timer(timeout, lambda: (late.set(), self.process.kill()))
        timer.start()
        try:
            answer = self._ask(shlex.join(words))
        finally:
            timer.cancel()
        command = [self.nbcc, *words]
        if answer:
            return subprocess.CompletedProcess(command, *answer)
        status = self._end()
        if late.is_set():
            raise subprocess.TimeoutExpired(command, timeout)
        # What a process says that crashes is lost with it: once more, alone.
        alone = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout,
                               check=False, **self.options)
        if alone.returncode == 0:
            alone.returncode = status
            alone.stderr += f"in a batch, not alone, this ends with exit status {status}\n"
        return alone

    def _ask(self, line):
        """(status, output, errors), or None: the process has ended."""
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        numbers = self.process.stdout.readline().split()
        if len(numbers) != 3:
            return None
        status, *lengths = map(int, numbers)
        texts = [self.process.stdout.read(n) for n in lengths]
        if [len(text) for text in texts] != lengths:
            return None
        return status, *(text.decode(errors="replace") for text in texts)

    def _end(self):
        """Its exit status."""
        if not self.process:
            return 0
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdout.close()
        status = self.process.wait()
        self.process = None
        return status
