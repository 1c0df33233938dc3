"""The data folder: where official sets are kept once they are fetched or imported."""

from __future__ import annotations

import hashlib
import os
from enum import Enum
from pathlib import Path

from nonobot.tournament_data.registry import OfficialSet

__all__ = ["FOLDER_VARIABLE", "State", "data_folder", "keep", "state_of", "stored_path"]

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
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs  # only here: a run on a file or on a generated set asks for no folder

    return Path(platformdirs.user_cache_dir("nonobot", appauthor=False)) / "sets"


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
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
