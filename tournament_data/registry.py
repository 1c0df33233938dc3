"""The official sets: question files of the tournaments, and the data folder that stores them.

A file is identified by its digest, whatever its name.
"""

from __future__ import annotations

import errno
import hashlib
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from nonobot.system import beginning_of, content_of, user_cache, whole_file
from nonobot.tournament_data.downloads import OnBytes, PublishedFile

BROWSABLE = "https://github.com/zxkyjimmy/NonogramRecord"  # web page of the official files
MOST_BYTES = 2_000_000  # largest size of an official set in bytes; they have less than 700,000
_FILE = Path(__file__).with_name("official.toml")


@dataclass(frozen=True, slots=True)
class OfficialSet:
    """A question file of a tournament, as published."""

    name: str  # event and year, such as `taai2011`
    event: str
    year: int
    sha256: str  # digest of the file as published
    puzzles: int
    side: int  # number of rows and of columns of the boards
    p1: float  # share of black cells in the first puzzle
    p2: float  # share of black cells in the last puzzle
    url: str
    bytes: int | None = None  # size of the file, if known
    line_ends: Literal["lf", "crlf"] | None = None

    @property
    def file_name(self) -> str:
        """Name of the published file, also in the data folder."""
        return f"{self.name}.txt"

    def at(self, base: str) -> OfficialSet:
        """Return the same set with the address `base`/NAME.txt."""
        return replace(self, url=f"{base.rstrip('/')}/{self.file_name}")


@cache
def official_sets() -> Mapping[str, OfficialSet]:
    """Return the official sets by their names, in the order of their years."""
    table = tomllib.loads(_FILE.read_text(encoding="ascii"))
    repository = table.pop("repository")
    sets = {}
    for name, facts in table.items():
        folder = f"{repository}/{facts.pop('commit', 'HEAD')}/question"
        sets[name] = OfficialSet(name, url="", **facts).at(folder)
    return MappingProxyType(sets)


# --- the data folder ---------------------------------------------------------------------------------------------

FOLDER_VARIABLE = "NONOBOT_DATA"  # environment variable that names another data folder


class State(Enum):
    """State of an official set's file in the data folder."""

    HERE = "yes"
    MISSING = "no"
    DAMAGED = "damaged"


def data_folder() -> Path:
    """Return the data folder, which need not exist: $NONOBOT_DATA (OSError: no such home), or the user's cache."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    try:
        return Path(chosen).expanduser() if chosen else user_cache() / "sets"
    except RuntimeError:
        why = "no such home folder; set it to an absolute path"
        raise FileNotFoundError(errno.ENOENT, why, f"{FOLDER_VARIABLE}={chosen}") from None


def stored_path(official: OfficialSet) -> Path:
    """Return the path of the set in the data folder; the file may be missing."""
    return data_folder() / official.file_name


def state_of(official: OfficialSet, folder: Path | None = None) -> State:
    """Return the state of the set's file in a folder (default: the data folder)."""
    try:
        content = beginning_of((folder or data_folder()) / official.file_name, MOST_BYTES + 1)
    except OSError:
        return State.MISSING
    return State.HERE if hashlib.sha256(content).hexdigest() == official.sha256 else State.DAMAGED


def keep(official: OfficialSet, content: bytes) -> None:
    """Put the file of the set into the data folder, completely or not at all."""
    path = stored_path(official)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(content)


@dataclass(frozen=True, slots=True)
class Recognised:
    """An official set that a file contains."""

    official: OfficialSet
    content: bytes  # content as published
    restored: bool  # whether line ends, changed by git or an editor, were restored


def files_below(folder: Path, on_error: Callable[[OSError], None]) -> Iterator[Path]:
    """Yield the visible files of a folder and its subfolders in the order of their names; or the file itself.

    `on_error` is called for each folder that cannot be read; the others are still read.
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
    """Return the official set that a file contains, or None; OSError if the file cannot be read."""
    if path.stat().st_size > MOST_BYTES:
        return None
    content = content_of(path, MOST_BYTES)
    lf = content.replace(b"\r\n", b"\n")
    by_digest = {official.sha256: official for official in official_sets().values()}
    for candidate in (content, lf, lf.replace(b"\n", b"\r\n")):
        official = by_digest.get(hashlib.sha256(candidate).hexdigest())
        if official:
            return Recognised(official, candidate, restored=candidate != content)
    return None


def fetch(official: OfficialSet, *, timeout_seconds: float = 30.0, on_bytes: OnBytes | None = None) -> None:
    """Download the file of a set to the data folder, as `PublishedFile.fetch` does; FetchError: it cannot."""
    published = PublishedFile(official.url, f"sha256:{official.sha256}", MOST_BYTES)
    published.fetch(stored_path(official), timeout_seconds=timeout_seconds, on_bytes=on_bytes)
