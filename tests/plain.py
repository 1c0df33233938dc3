"""The same tests once more, with the kernels as plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba

IS_PLAIN = bool(numba.config.DISABLE_JIT)


def passes_as_plain_python(module: str) -> None:
    """Run a test module with NUMBA_DISABLE_JIT=1, all but the test that calls this."""
    options = ["-x", "-n0", "-p", "no:cacheprovider", "-m", "", "-k", "not plain_python"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, module],
        cwd=Path(__file__).parent.parent,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout
