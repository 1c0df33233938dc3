"""Official sets recognised by their digest, whatever the files are called."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nonobot.tournament_data.registry import MOST_BYTES, OfficialSet, official_sets

__all__ = ["Recognised", "files_below", "recognise"]


@dataclass(frozen=True, slots=True)
class Recognised:
    """An official set that was found.

    Attributes
    ----------
    official : OfficialSet
    content : bytes
        The file as published.
    restored : bool
        Whether the line ends had been changed, as git and editors do, and were put back.
    """

    official: OfficialSet
    content: bytes
    restored: bool


def files_below(folder: Path, on_error: Callable[[OSError], None]) -> Iterator[Path]:
    """Yield the files of a folder and of those within, in the order of their names, but nothing hidden.

    Parameters
    ----------
    folder : Path
        Or one file.
    on_error : callable
        Told of each folder that cannot be read; the others are gone through all the same.
    """
    if folder.is_file():
        yield folder
        return
    for place, folders, files in os.walk(folder, onerror=on_error):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(place, name)
            if not name.startswith(".") and path.is_file():
                yield path


def recognise(path: Path) -> Recognised | None:
    """Return the official set that a file holds, None if it holds none.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    if path.stat().st_size > MOST_BYTES:
        return None
    content = path.read_bytes()
    lf = content.replace(b"\r\n", b"\n")
    by_digest = {official.sha256: official for official in official_sets().values()}
    for candidate in (content, lf, lf.replace(b"\n", b"\r\n")):
        official = by_digest.get(hashlib.sha256(candidate).hexdigest())
        if official:
            return Recognised(official, candidate, restored=candidate != content)
    return None
