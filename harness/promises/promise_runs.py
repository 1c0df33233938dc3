"""Running the commands of promises, and what became of each promise."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from nonobot.harness.own_bot import HOME, OWN_BOT
from nonobot.harness.promises.promise import Promise, folder_of
from nonobot.tournament_data.store import FOLDER_VARIABLE

__all__ = ["Outcome", "Shown", "show_all"]

PROGRAMS = {"nonobot": OWN_BOT, "nonojudge": (sys.executable, "-P", "-m", "nonobot.harness")}
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
    folder = folder_of(promise.sets)
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
