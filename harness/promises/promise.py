"""What a promise is, the file in which all of them stand, and what becomes of each when its command is run."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.bot_command import HOME, OWN_BOT, OWN_JUDGE
from nonobot.tournament_data.registry import official_sets
from nonobot.tournament_data.store import FOLDER_VARIABLE, data_folder

__all__ = ["FILE", "Comparison", "Outcome", "Promise", "Shown", "read_promises", "show_all"]

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


def _folder_of(sets: Sequence[str]) -> Path | str | None:
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


PROGRAMS = {"nonobot": OWN_BOT, "nonojudge": OWN_JUDGE}
"""What stands for the first word of a command: the commands of this tree, wherever another one is installed."""


class Outcome(StrEnum):
    """What became of a promise.

    SKIPPED: what it needs is not here. FAILED: its command gave no figure.
    """

    HOLDS = "holds"
    BROKEN = "does not hold"
    SKIPPED = "skipped"
    FAILED = "not measured"


@dataclass(frozen=True)
class Shown:
    """A promise, the figure measured, what became of it and, where there is no figure, why."""

    promise: Promise
    outcome: Outcome
    measured: float | None = None
    reason: str | None = None


class _NoFigureError(Exception):
    """A command that shows nothing; the message says why."""


def show_all(promises: Sequence[Promise], progress: Callable[[float, str], None]) -> list[Shown]:
    """Return what became of every promise; promises of one command have it run once.

    Parameters
    ----------
    promises : sequence of Promise
    progress : callable
        Told how many of the seconds that the commands will take are over, roughly, and the promise under way.
    """
    printed: dict[str, object] = {}
    shown = []
    seconds = 0.0
    for promise in promises:
        progress(seconds, promise.id)
        shown.append(_shown(promise, printed))
        seconds += promise.seconds
    return shown


def _shown(promise: Promise, printed: dict[str, object]) -> Shown:
    folder = _folder_of(promise.sets)
    if isinstance(folder, str):
        return Shown(promise, Outcome.SKIPPED, reason=folder)
    try:
        if promise.command not in printed:
            printed[promise.command] = _printed(promise.command, {FOLDER_VARIABLE: str(folder)} if folder else {})
        measured = _figure(printed[promise.command], promise)
    except _NoFigureError as error:
        return Shown(promise, Outcome.FAILED, reason=str(error))
    holds = promise.is_.holds(measured, promise.bound)
    return Shown(promise, Outcome.HOLDS if holds else Outcome.BROKEN, measured)


def _printed(command: str, variables: Mapping[str, str]) -> object:
    """Return the JSON that a command prints; it runs in a folder of its own, so that nothing is left behind."""
    first, *others = shlex.split(command)
    path = os.pathsep.join(filter(None, (str(HOME), os.environ.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory(prefix="nonobot-promise-") as folder:
        try:
            done = subprocess.run(
                [*PROGRAMS.get(first, (first,)), *others],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": path, **variables},
                stdin=subprocess.DEVNULL,
                capture_output=True,
            )
        except OSError as error:
            raise _NoFigureError(f"{first} cannot be run: {error.strerror}") from None
    # The exit status says little: `nonojudge run` ends with 1 if a puzzle is not right, and that is the figure.
    try:
        return json.loads(done.stdout)
    except ValueError:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        words = lines[-1] if lines else "it prints no JSON"
        raise _NoFigureError(f"the command ended with status {done.returncode}: {words}") from None


def _figure(printed: object, promise: Promise) -> float:
    figure = _number(printed, promise.figure) / promise.divisor
    if promise.over is None:
        return figure
    below = _number(printed, promise.over)
    if not below:
        raise _NoFigureError(f"{promise.over} is 0")
    return figure / below


def _number(printed: object, path: str) -> float:
    found = printed
    for step in path.split("."):
        try:
            found = found[int(step)] if isinstance(found, list) else found[step]  # type: ignore[index]
        except (KeyError, IndexError, TypeError, ValueError):
            raise _NoFigureError(f"the command prints no {path}") from None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise _NoFigureError(f"{path} is no number")
    return found
