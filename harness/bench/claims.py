"""The figures that the documents claim: their file, the commands that measure them, and the outcome of each.

A claim is a sentence of the documents, a command, a figure in the command's JSON output, and a bound.
"""

from __future__ import annotations

import json
import operator
import os
import shlex
import subprocess
import tempfile
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

import msgspec

from nonobot.harness import UnusableError
from nonobot.harness.process.nonobot_command import HOME, OWN_BOT, OWN_JUDGE
from nonobot.harness.results.result_files import json_document
from nonobot.harness.text import drawn, last_line, new_table, spaced, styled
from nonobot.harness.toml_files import read_toml
from nonobot.system import printable, reason_of
from nonobot.tournament_data.registry import FOLDER_VARIABLE, State, data_folder, official_sets, state_of

FILE = Path(__file__).with_name("claims.toml")

RELATIONS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "==": ("exactly", operator.eq),
    "<=": ("at most", operator.le),
    ">=": ("at least", operator.ge),
}
"""Relations of a figure to its bound: in words, and as a test of two numbers."""


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim; claims.toml describes its keys."""

    id: str
    sentence: str
    command: str
    figure: str
    is_: Literal["==", "<=", ">="] = msgspec.field(name="is")
    bound: float
    over: str | None = None
    unit: str = ""
    divisor: float = 1.0
    seconds: float = 10.0
    sets: list[str] = []


class _File(msgspec.Struct, forbid_unknown_fields=True):
    claim: list[Claim] = []


def read_claims(file: Path = FILE) -> list[Claim]:
    """Return the claims in a file; UnusableError if it is unreadable or malformed."""
    claims = read_toml(file, _File, {"claim": "a list; start each entry with [[claim]]"}).claim
    if not claims:
        raise UnusableError(f"{file}: no [[claim]]")
    [(name, uses)] = Counter(claim.id for claim in claims).most_common(1)
    if uses > 1:
        raise UnusableError(f"{file}: two claims are called {name}")
    return claims


SETS_VARIABLE = "NONOBOT_SETS"  # environment variable for a folder of official question files


def _folder_of(sets: Sequence[str]) -> Path | str | None:
    """Return the folder that has all the sets; None if none is needed; a sentence if there is no such folder."""
    if not sets:
        return None
    named = os.environ.get(SETS_VARIABLE)
    for folder in (data_folder(), *([Path(named)] if named else [])):
        missing = next((name for name in sets if state_of(official_sets()[name], folder) is not State.HERE), None)
        if not missing:
            return folder
    return (
        f"the official set {missing} is not here: `nonojudge data fetch {missing}`, or name a folder "
        f"that has it with {SETS_VARIABLE}"
    )


PROGRAMS = {"nonobot": OWN_BOT, "nonojudge": OWN_JUDGE}  # this tree's commands, even if others are installed


class Status(StrEnum):
    """Result of measuring a claim."""

    HOLDS = "holds"
    BROKEN = "does not hold"
    SKIPPED = "skipped"  # a set that it needs is missing
    FAILED = "not measured"  # its command printed no figure


@dataclass(frozen=True)
class Measured:
    """A claim with its status and figure, or the reason for having no figure."""

    claim: Claim
    status: Status
    figure: float | None = None
    reason: str | None = None


class _NoFigureError(Exception):
    """A command printed no figure; the message is the reason."""


def measure_all(claims: Sequence[Claim], progress: Callable[[float, str], None]) -> list[Measured]:
    """Return the measurement of every claim; a command that several claims share runs once.

    `progress` is called with the approximate seconds that are done, and the id of the next claim.
    """
    printed: dict[str, object] = {}
    measured = []
    for number, claim in enumerate(claims):
        progress(sum(previous.seconds for previous in claims[:number]), claim.id)
        measured.append(_measured(claim, printed))
    return measured


def _measured(claim: Claim, printed: dict[str, object]) -> Measured:
    folder = _folder_of(claim.sets)
    if isinstance(folder, str):
        return Measured(claim, Status.SKIPPED, reason=folder)
    try:
        if claim.command not in printed:
            printed[claim.command] = _printed(claim.command, {FOLDER_VARIABLE: str(folder)} if folder else {})
        figure = _figure(printed[claim.command], claim)
    except _NoFigureError as error:
        return Measured(claim, Status.FAILED, reason=str(error))
    _, holds = RELATIONS[claim.is_]
    return Measured(claim, Status.HOLDS if holds(figure, claim.bound) else Status.BROKEN, figure)


def _printed(command: str, variables: Mapping[str, str]) -> object:
    """Return the JSON that a command prints; it runs in a temporary folder."""
    first, *others = shlex.split(command)
    path = os.pathsep.join(filter(None, (str(HOME), os.environ.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory(prefix="nonobot-claim-") as folder:
        try:
            done = subprocess.run(
                [*PROGRAMS.get(first, (first,)), *others],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": path, **variables},
                stdin=subprocess.DEVNULL,
                capture_output=True,
            )
        except OSError as error:
            raise _NoFigureError(f"{first} cannot be run: {reason_of(error)}") from None
    # The exit status is ignored: `nonojudge run` exits with 1 if a puzzle is not right, and the figure shows that.
    try:
        return json.loads(done.stdout)
    except ValueError:
        message = last_line(done.stderr) or "it prints no JSON"
        raise _NoFigureError(f"the command ended with status {done.returncode}: {message}") from None


def _figure(printed: object, claim: Claim) -> float:
    divisor = claim.divisor * (1 if claim.over is None else _number(printed, claim.over))
    if not divisor:
        raise _NoFigureError(f"{claim.over} is 0")
    return _number(printed, claim.figure) / divisor


def _number(printed: object, path: str) -> float:
    value = printed
    for step in path.split("."):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]  # type: ignore[index]
        except (KeyError, IndexError, TypeError, ValueError):
            raise _NoFigureError(f"the command prints no {path}") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _NoFigureError(f"{path} is not a number")
    return value


_STYLES = {Status.HOLDS: "green", Status.BROKEN: "bold red", Status.FAILED: "bold red", Status.SKIPPED: "dim"}


def bound_in_words(claim: Claim) -> str:
    """Return the bound of a claim in words."""
    return f"{RELATIONS[claim.is_][0]} {_amount(claim.bound, claim.unit)}"


def _amount(figure: float, unit: str) -> str:
    number = f"{figure:,.0f}" if figure == int(figure) or figure >= 100 else f"{figure:.3g}"
    return f"{number} {unit}".strip()


def listing(claims: Sequence[Claim]) -> str:
    """Return the claims with their commands, as a list to read."""
    lines = []
    for claim in claims:
        needs = f"; needs {', '.join(claim.sets)}" if claim.sets else ""
        lines += [
            claim.id,
            *textwrap.wrap(claim.sentence, 100, initial_indent="  ", subsequent_indent="  "),
            f"  $ {claim.command}",
            f"  {bound_in_words(claim)}; about {claim.seconds:.0f} s{needs}",
            "",
        ]
    return "\n".join(lines)


def as_text(measured: Sequence[Measured], terminal: bool) -> str:
    """Return measured claims for a screen."""
    from rich.text import Text

    table = new_table(("claim", "claimed", "measured", ""), left=(0, 1, 3))
    for row in measured:
        figure = "" if row.figure is None else _amount(row.figure, row.claim.unit)
        status = Text(row.status.value, _STYLES[row.status])
        table.add_row(printable(row.claim.id), bound_in_words(row.claim), figure, status)
    reasons = [styled(f"{row.claim.id}: {row.reason}", _STYLES[row.status]) for row in measured if row.reason]
    broken = [
        [styled(f"{row.claim.id}: {row.claim.sentence}"), styled(f"  $ {row.claim.command}")]
        for row in measured
        if row.status is Status.BROKEN
    ]
    counts = Counter(row.status for row in measured)
    summary = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])
    return drawn(spaced([table], reasons, *broken, [Text(f"{len(measured)} claims: {summary}", "bold")]), terminal)


def as_json(measured: Sequence[Measured]) -> str:
    """Return measured claims as JSON text."""
    claims = [
        {**msgspec.to_builtins(row.claim), "outcome": row.status, "measured": row.figure, "reason": row.reason}
        for row in measured
    ]
    return json_document("claims", claims=claims)
