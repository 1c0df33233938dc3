"""The scratch folder of a run: where a bot may write, and what goes when it has gone."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["scratch_folder"]


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a fresh folder that only this user may enter, and remove it at the end, whatever stands in it.

    What is removed is a stranger's work: folders that forbid their removal, or nested deeper than a path may be
    long. The system's `rm` is made for that; `shutil.rmtree` ends in a RecursionError.
    """
    folder = Path(tempfile.mkdtemp(prefix="nonojudge-")).resolve()
    try:
        yield folder
    finally:
        for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)
