"""Files that are there in full under their name, or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["whole_file"]


@contextlib.contextmanager
def whole_file(path: Path, *, lasting: bool = False) -> Iterator[BinaryIO]:
    """Open a file that takes its name only once it is complete; no other process ever sees a part of it.

    A link stays one. A pipe or a device is written to as it is: it has nothing to be replaced.

    Parameters
    ----------
    path : Path
    lasting : bool
        Whether it is on the disk before it takes its name, and so survives a power cut whole.

    Raises
    ------
    OSError
        If it cannot be opened; or at the end, if it cannot be written. What was there before is there still.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    place = path.resolve()
    unfinished = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            yield file
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)
