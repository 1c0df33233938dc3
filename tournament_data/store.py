"""The data folder: official sets, fetched or imported, known by their digest whatever the files are called."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from nonobot.system import user_cache, whole_file
from nonobot.tournament_data.registry import MOST_BYTES, OfficialSet, official_sets

__all__ = [
    "FOLDER_VARIABLE",
    "Recognised",
    "State",
    "data_folder",
    "files_below",
    "keep",
    "recognise",
    "state_of",
    "stored_path",
]

FOLDER_VARIABLE = "NONOBOT_DATA"
"""Environment variable that names another data folder."""


class State(Enum):
    """What the data folder has of an official set."""

    HERE = "yes"
    MISSING = "no"
    DAMAGED = "damaged"


def data_folder() -> Path:
    """Return the folder, which need not exist: $NONOBOT_DATA, or `nonobot/sets` in the user's cache folder."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen).expanduser() if chosen else user_cache() / "sets"


def stored_path(official: OfficialSet) -> Path:
    """Return where the file of the set is, or would be."""
    return data_folder() / official.file_name


def state_of(official: OfficialSet) -> State:
    """Tell whether the file of the set is in the data folder, as it was published."""
    try:
        content = stored_path(official).read_bytes()
    except OSError:
        return State.MISSING
    return State.HERE if hashlib.sha256(content).hexdigest() == official.sha256 else State.DAMAGED


def keep(official: OfficialSet, content: bytes) -> None:
    """Put the file of the set into the data folder: in full or not at all.

    Raises
    ------
    OSError
        If that folder cannot be written.
    """
    path = stored_path(official)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(content)


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
