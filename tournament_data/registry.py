"""The official sets: the question files of the tournaments, and the data folder with those that are here.

A file is identified by its digest, whatever its name.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from nonobot.arguments import missing
from nonobot.system import user_cache, whole_file

BROWSABLE = "https://github.com/zxkyjimmy/NonogramRecord"
"""Web page of the files, for people; `official.toml` has their addresses."""

MOST_BYTES = 2_000_000
"""Bound of the size of an official set; they have less than 700,000 bytes."""

_FILE = Path(__file__).with_name("official.toml")


@dataclass(frozen=True, slots=True)
class OfficialSet:
    """A question file of a tournament."""

    name: str  # event and year, such as `taai2011`
    event: str
    year: int
    sha256: str  # of the file as published
    puzzles: int
    side: int  # cells of each side of the boards
    p1: float  # share of black cells in the first puzzle
    p2: float  # and in the last
    url: str
    bytes: int | None = None  # size of the file, if it is known
    line_ends: Literal["lf", "crlf"] | None = None

    @property
    def file_name(self) -> str:
        """Name of the file where it is published, and in the data folder."""
        return f"{self.name}.txt"

    def at(self, base: str) -> OfficialSet:
        """Return the same set, published as `base`/NAME.txt."""
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

FOLDER_VARIABLE = "NONOBOT_DATA"
"""Environment variable that names another data folder."""


class State(Enum):
    """State of an official set in the data folder."""

    HERE = "yes"
    MISSING = "no"
    DAMAGED = "damaged"


def data_folder() -> Path:
    """Return the folder, which need not exist: $NONOBOT_DATA, or `nonobot/sets` in the user's cache folder.

    OSError: the variable names a home folder that is not known.
    """
    chosen = os.environ.get(FOLDER_VARIABLE)
    try:
        return Path(chosen).expanduser() if chosen else user_cache() / "sets"
    except RuntimeError:
        why = "no such home folder; set it to an absolute path"
        raise FileNotFoundError(errno.ENOENT, why, f"{FOLDER_VARIABLE}={chosen}") from None


def stored_path(official: OfficialSet) -> Path:
    """Return the path of the set in the data folder, whether it is there or not."""
    return data_folder() / official.file_name


def state_of(official: OfficialSet, folder: Path | None = None) -> State:
    """Return whether the file of the set is in a folder (default: the data folder), as it was published."""
    try:
        content = ((folder or data_folder()) / official.file_name).read_bytes()
    except OSError:
        return State.MISSING
    return State.HERE if hashlib.sha256(content).hexdigest() == official.sha256 else State.DAMAGED


def keep(official: OfficialSet, content: bytes) -> None:
    """Put the file of the set into the data folder: in full or not at all."""
    path = stored_path(official)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(content)


@dataclass(frozen=True, slots=True)
class Recognised:
    """An official set that a file holds."""

    official: OfficialSet
    content: bytes  # as published
    restored: bool  # whether line ends had been changed, as git and editors do, and were put back


def files_below(folder: Path, on_error: Callable[[OSError], None]) -> Iterator[Path]:
    """Yield the visible files of a folder and of those within, in the order of their names; or the one file.

    `on_error` is called for each folder that cannot be read; the others are read all the same.
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
    """Return the official set that a file holds, None if it holds none."""
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


# --- fetching, with pooch (the extra `data`) --------------------------------------------------------------------


class FetchError(Exception):
    """A set that could not be fetched; the message is one line that says why."""


class OfflineError(FetchError):
    """The server cannot be reached, so that there is no point in asking it for another set."""


class SetupError(FetchError):
    """No set can be fetched as things stand on this machine."""


def fetch(
    official: OfficialSet, *, timeout_seconds: float = 30.0, on_bytes: Callable[[int], None] | None = None
) -> None:
    """Bring the file of a set into the data folder, unless it is there, as published; otherwise raise FetchError.

    The time limit is for connecting to the server, and for each silence after that. `on_bytes` is called with the
    number of bytes in each piece that came in.
    """
    try:
        import pooch  # type: ignore[import-untyped]  # only here: slow to import, and an extra
        import requests
    except ImportError:
        raise SetupError(missing("fetching", "pooch")) from None
    pooch.get_logger().setLevel(logging.ERROR)
    downloader = pooch.HTTPDownloader(progressbar=_Meter(official.url, on_bytes), timeout=timeout_seconds)
    try:
        pooch.retrieve(
            official.url,
            known_hash=f"sha256:{official.sha256}",
            fname=official.file_name,
            path=data_folder(),
            downloader=downloader,
        )
        stored_path(official).chmod(0o644)  # pooch's is for the user alone; a data folder may be shared
    except requests.HTTPError as error:
        answer = error.response
        assert answer is not None  # it is what the error is about
        raise FetchError(f"{official.url}: the server answered {answer.status_code} {answer.reason}") from None
    except requests.exceptions.ChunkedEncodingError:
        raise FetchError(f"{official.url}: the transfer broke off; try again") from None
    except (requests.ConnectionError, requests.Timeout) as error:
        raise OfflineError(f"{official.url}: {_reason(error, timeout_seconds)}") from None
    except requests.RequestException as error:
        raise FetchError(f"{official.url}: {error}") from None
    except ValueError:  # pooch's way to say that the digest differs
        raise FetchError(
            f"{official.url}: not the published file (its SHA-256 differs); nothing was kept"
        ) from None
    except OSError as error:
        raise SetupError(f"cannot write {data_folder()}: {error.strerror or 'Permission denied'}") from None


class _Meter:
    """Stands where pooch expects a progress bar of tqdm's form; stops a transfer that is too long."""

    def __init__(self, url: str, on_bytes: Callable[[int], None] | None) -> None:
        self.total = self._came = 0
        self._url, self._on_bytes = url, on_bytes
        self._whole = False

    def update(self, count: int) -> None:
        if self._whole:
            return
        self._came += count
        if self._came > MOST_BYTES:
            raise FetchError(f"{self._url}: not the published file (over {MOST_BYTES} bytes); nothing was kept")
        if self._on_bytes:
            self._on_bytes(count)

    def reset(self) -> None:
        self._whole = True  # pooch now fills the bar, whatever came in before

    def close(self) -> None:
        pass


def _reason(error: BaseException, timeout_seconds: float) -> str:
    """Return what the system said, which libraries wrap several times."""
    if isinstance(error, TimeoutError):
        return f"no answer within {timeout_seconds:g} s"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    inner = error.__cause__ or error.__context__
    return _reason(inner, timeout_seconds) if inner else "no connection"
