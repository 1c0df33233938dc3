"""What arrives on a file descriptor, each piece as soon as it is there, up to a point in time."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable, Iterator

__all__ = ["chunks_until", "lines_of"]

_CHUNK_BYTES = 1 << 16
_LONGEST_KEPT = 1 << 16
"""A line is cut after about so many bytes: no clue is longer, and memory stays small."""


def chunks_until(descriptor: int, deadline: float | None) -> Iterator[bytes]:
    """Yield what arrives on `descriptor` until its end.

    Parameters
    ----------
    descriptor : int
        Open for reading.
    deadline : float or None
        On the clock of `time.monotonic`.

    Raises
    ------
    TimeoutError
        If `deadline` passes before the end.
    OSError
        If the descriptor cannot be read.
    """
    while True:
        _wait(descriptor, deadline)
        chunk = os.read(descriptor, _CHUNK_BYTES)
        if not chunk:
            return
        yield chunk


def lines_of(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines in pieces of a stream, each before the piece after its end is asked for."""
    kept = b""
    for chunk in chunks:
        lines = chunk.split(b"\n")
        if len(lines) > 1:
            yield kept + lines[0]
            yield from lines[1:-1]
            kept = b""
        if len(kept) < _LONGEST_KEPT:
            kept += lines[-1]
    if kept:
        yield kept


def _wait(descriptor: int, deadline: float | None) -> None:
    """Wait for input, or raise TimeoutError when the time is up."""
    if deadline is None:
        return
    remaining = deadline - time.monotonic()
    if remaining <= 0 or not select.select([descriptor], [], [], remaining)[0]:
        raise TimeoutError
