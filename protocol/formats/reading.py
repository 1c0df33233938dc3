"""Reading a file of any format."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

from nonobot.protocol.formats.base import MOST_BYTES, FormatError, Found, Size
from nonobot.protocol.formats.detection import detect
from nonobot.protocol.formats.registry import format_named

__all__ = ["read"]


def read(source: bytes | BinaryIO, format: str | None = None, size: Size | None = None) -> Iterator[Found]:
    """Return the puzzles of a file, and the faults of those that cannot be read, in the order of the file.

    Parameters
    ----------
    source : bytes or binary file
        The whole file; a stream is read to its end first. For TAAI puzzles one at a time, use
        :class:`protocol.TaaiReader`.
    format : str, optional
        A name from :func:`formats`; without, the content decides.
    size : (int, int) or 'auto', optional
        Width and height of every board, used where the format states none; `auto` for square boards of any
        sizes. Without, the format decides.

    Yields
    ------
    Record or Fault
        A fault with a puzzle number stands in the place of that puzzle; one without belongs to no puzzle, as
        does `ExtraLines`: there the puzzle came before.

    Raises
    ------
    FormatError
        At the call: if the file is larger than `MOST_BYTES`, is no text, is of no known format, or if there is
        no format of the given name. Nothing else is raised, whatever the content.
    OSError
        At the call: if the file cannot be read.
    """
    if format:
        format_named(format)  # before anything is read
    data = source if isinstance(source, bytes) else _content(source)
    if len(data) > MOST_BYTES:
        raise FormatError(f"more than {MOST_BYTES >> 20} MiB; a puzzle file is smaller")
    found = format_named(format or detect(data))
    return found.read(data) if found.states_size else found.read(data, size)


def _content(source: BinaryIO) -> bytes:
    pieces = io.BytesIO()
    while pieces.tell() <= MOST_BYTES:
        piece = source.read(min(1 << 20, MOST_BYTES + 1 - pieces.tell()))
        if not piece:
            break
        pieces.write(piece)
    return pieces.getvalue()
