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
    """State of the file of an official set in the data folder."""

    HERE = "yes"
    MISSING = "no"
    DAMAGED = "damaged"


def data_folder() -> Path:
    """Return the folder, which may not exist: $NONOBOT_DATA, or `nonobot/sets` in the user's cache folder."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen).expanduser() if chosen else user_cache() / "sets"


def stored_path(official: OfficialSet) -> Path:
    """Return the path of the set's file, whether it exists or not."""
    return data_folder() / official.file_name


def state_of(official: OfficialSet) -> State:
    """Return whether the file of the set is in the data folder, as it was published."""
    try:
        content = stored_path(official).read_bytes()
    except OSError:
        return State.MISSING
    return State.HERE if hashlib.sha256(content).hexdigest() == official.sha256 else State.DAMAGED


def keep(official: OfficialSet, content: bytes) -> None:
    """Write the file of the set into the data folder, in full or not at all; OSError if that is impossible."""
    path = stored_path(official)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(content)


@dataclass(frozen=True, slots=True)
class Recognised:
    """An official set in a file: `content` as published; `restored` if its line ends had been changed."""

    official: OfficialSet
    content: bytes
    restored: bool


def files_below(folder: Path, on_error: Callable[[OSError], None]) -> Iterator[Path]:
    """Yield the files of a folder and its subfolders by name, without hidden ones; `folder` may be a file.

    `on_error` receives the error of each folder that cannot be read; the others follow.
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
    """Return the official set that a file contains, None if it contains none; OSError if it cannot be read."""
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
