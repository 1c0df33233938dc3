"""What a promise is, and the file in which all of them stand."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from nonobot.harness.errors import UnusableError
from nonobot.tournament_data.registry import official_sets
from nonobot.tournament_data.store import data_folder

__all__ = ["FILE", "Comparison", "Promise", "folder_of", "read_promises"]

FILE = Path(__file__).with_name("promises.toml")


class Comparison(StrEnum):
    """How a figure must stand to its bound."""

    EXACTLY = "=="
    AT_MOST = "<="
    AT_LEAST = ">="

    def holds(self, measured: float, bound: float) -> bool:
        """Tell whether a figure is as promised."""
        if self is Comparison.EXACTLY:
            return measured == bound
        return measured <= bound if self is Comparison.AT_MOST else measured >= bound


class Promise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A promise.

    Attributes
    ----------
    id : str
        Its name on the command line.
    sentence : str
        As the README or docs/performance.md puts it.
    command : str
        What shows it, as one types it; it prints JSON. `nonobot` and `nonojudge` are those of this tree.
    figure : str
        Where the figure stands in that JSON: keys, and numbers of list items, with dots between.
    is_ : Comparison
        `is` in the file.
    bound : float
    over : str or None
        Where another figure stands that the first one is divided by.
    unit : str
        Of the figure and its bound.
    divisor : float
        What the figure is divided by to come in `unit`.
    seconds : float
        How long the command takes, roughly.
    sets : list of str
        Official sets that it needs.
    """

    id: str
    sentence: str
    command: str
    figure: str
    is_: Comparison = msgspec.field(name="is")
    bound: float
    over: str | None = None
    unit: str = ""
    divisor: float = 1.0
    seconds: float = 10.0
    sets: list[str] = []


class _File(msgspec.Struct, forbid_unknown_fields=True):
    promise: list[Promise]


def read_promises(file: Path = FILE) -> list[Promise]:
    """Return the promises of a file.

    Raises
    ------
    UnusableError
        If it cannot be read, or is not as it should be.
    """
    try:
        found = msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), _File).promise
    except OSError as error:
        raise UnusableError(f"cannot read {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UnusableError(f"{file}: {error}") from None
    names = [one.id for one in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnusableError(f"{file}: two promises are called {twice[0]}")
    return found


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
