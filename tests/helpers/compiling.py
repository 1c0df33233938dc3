"""One process of those that run tests compiles what all of them need; the others wait, and find it done."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Be the only one of this user's processes to compile for tests."""
    with Path(tempfile.gettempdir(), f"nonobot-tests-{os.getuid()}-compiling").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
