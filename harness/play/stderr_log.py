"""Keeping what a bot writes to stderr: its beginning and its end, however much there is."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

__all__ = ["StderrLog"]

BEGINNING_BYTES = 1 << 20
END_BYTES = 1 << 16


class StderrLog:
    """A file of bounded size; it is made with the first byte.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    received_bytes : int
        How much was written, kept or not.
    """

    def __init__(self, path: Path) -> None:
        self.received_bytes = 0
        self._path = path
        self._file: BinaryIO | None = None
        self._end = b""

    def write(self, data: bytes) -> None:
        """Take the next bytes: into the file as long as there is room, then into the end that is kept."""
        if not data:
            return
        if self._file is None:
            self._file = self._path.open("wb")
        room = max(0, BEGINNING_BYTES - self.received_bytes)
        self.received_bytes += len(data)
        self._file.write(data[:room])
        self._file.flush()
        self._end = (self._end + data[room:])[-END_BYTES:]

    def close(self) -> None:
        """Write the end, with a line that says how much is left out before it."""
        if self._file is None:
            return
        left_out = self.received_bytes - BEGINNING_BYTES - len(self._end)
        if left_out > 0:
            self._file.write(b"\n[%d bytes left out here]\n" % left_out)
        self._file.write(self._end)
        self._file.close()
