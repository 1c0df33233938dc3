"""Files that a command writes: there in full under their name, or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from nonobot.harness.errors import UnusableError

__all__ = ["in_full", "write_output"]


@contextlib.contextmanager
def in_full(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes its name only once it is complete.

    Raises
    ------
    OSError
        If it cannot be opened; or at the end, if it cannot be written.
    """
    if path.exists() and not path.is_file():  # a pipe or a device has nothing to be replaced
        with path.open("wb") as file:
            yield file
        return
    place = path.resolve()
    unfinished = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)


def write_output(path: Path, data: bytes) -> None:
    """Write `data` to the file that the user named.

    Raises
    ------
    UnusableError
        If it cannot be written.
    """
    try:
        with in_full(path) as file:
            file.write(data)
    except OSError as error:
        raise UnusableError(f"cannot write {path}: {error.strerror}") from None
