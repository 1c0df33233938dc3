"""Where the official sets are that a promise needs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from nonobot.tournament_data.registry import official_sets
from nonobot.tournament_data.store import data_folder

__all__ = ["folder_of"]

SETS_VARIABLE = "NONOBOT_SETS"
"""Environment variable that names a folder of official question files, as for the tests."""


def folder_of(sets: Sequence[str]) -> Path | str | None:
    """Return the folder that has all the sets; None if none is needed; a sentence if there is no such folder."""
    if not sets:
        return None
    named = os.environ.get(SETS_VARIABLE)
    folders = [data_folder(), *([Path(named)] if named else [])]
    for folder in folders:
        if all(_is_there(folder, name) for name in sets):
            return folder
    missing = next(name for name in sets if not _is_there(folders[-1], name))
    return (
        f"the official set {missing} is not here: `nonojudge data fetch {missing}`, or name a folder "
        f"that has it with {SETS_VARIABLE}"
    )


def _is_there(folder: Path, name: str) -> bool:
    official = official_sets()[name]
    try:
        content = (folder / official.file_name).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content).hexdigest() == official.sha256
