# SPDX-License-Identifier: BSD-3-Clause
"""lit_format.py - tests as lit runs them, with a folder for temporary files for each that runs at the time.

mpirun of Open MPI has a folder there by the host's name: of two at once, one may take away what the other has just made.
"""

import os

import lit.formats


class Apart(lit.formats.ShTest):
    def execute(self, test, lit_config):
        folder = os.path.join(os.environ["TMPDIR"], str(os.getpid()))  # in lit's own, which it removes
        os.makedirs(folder, exist_ok=True)
        test.config.environment["TMPDIR"] = folder
        return super().execute(test, lit_config)
