"""What a file of no known format looks most like, and what is missing for that: one line, for whoever brought it.

A form that does not say what is what is not guessed at. Numbers alone, in two parts with a blank line between,
are rows and columns in one program and columns and rows in another: taken the wrong way round, most of them would
still be puzzles, and their solutions wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from nonobot.protocol.faults import shown
from nonobot.protocol.formats.text_lines import NUMBERS

__all__ = ["nearest"]

_HEADING = re.compile(r"\W*(?P<name>rows?|columns?|cols?|horizontals?|verticals?)\b(?P<behind>.*)", re.IGNORECASE)
_COLUMN_NAMES = ("col", "ver")
_SIZES = re.compile(r"(\d{1,9})\s+(\d{1,9})", re.ASCII)


def nearest(lines: Sequence[str]) -> str | None:
    """Return what lines look most like and what they lack, as the end of a sentence; None if like nothing.

    Parameters
    ----------
    lines : sequence of str
        The first lines of a file, stripped; the first is not blank. No format takes them for its own.
    """
    full = [line for line in lines if line]
    for say in (_numbers_alone, _like_picross, _like_olsak, _with_headings, _like_sized, _like_brackets):
        said = say(lines if say is _numbers_alone else full)
        if said:
            return said
    return None


def _numbers_alone(lines: Sequence[str]) -> str | None:
    code = [line for line in lines if not line.startswith("#")]
    if not any(code) or not all(map(NUMBERS.fullmatch, code)):
        return None
    parts = [sum(1 for _ in part) for is_full, part in groupby(code, key=bool) if is_full]
    first, *others = (line for line in code if line)
    if len(parts) == 2:
        return (
            "looks most like cwd (height, width, rows, a blank line, columns), but its first two lines, "
            f"{shown(first)} and {shown(others[0])}, are not its height and its width"
        )
    size = _SIZES.fullmatch(first)
    if size:
        needed = int(size[1]) + int(size[2])
        return (
            f"looks most like nin, but {shown(first)} asks for {needed} clue lines and there are {sum(parts) - 1}"
        )
    return f"has {_of_numbers(sum(parts))} and neither a size nor headings: nothing says which are the rows"


def _of_numbers(count: int) -> str:
    return f"{count} {'line' if count == 1 else 'lines'} of numbers"


def _like_picross(full: Sequence[str]) -> str | None:
    if not any(re.match(r"GRID\b", line) for line in full):
        return None
    missing = next((word for word in ("ROWS", "COLUMNS") if word not in full), None)
    return f"looks most like picross, but has no line '{missing}'" if missing else None


def _like_olsak(full: Sequence[str]) -> str | None:
    starts = [line for line in full if line.startswith(":")]
    colours = any(line[:2].lower() == "#d" for line in full)
    if not starts or not (colours or any(NUMBERS.fullmatch(line) for line in full)):
        return None
    return f"looks most like g, but has {len(starts)} of the lines with ':' before the rows and before the columns"


def _with_headings(full: Sequence[str]) -> str | None:
    found = [heading for line in full if (heading := _HEADING.fullmatch(line))]
    kinds = {"columns" if heading["name"].lower().startswith(_COLUMN_NAMES) else "rows" for heading in found}
    if not kinds:
        return None
    if len(kinds) == 1:
        missing = ({"rows", "columns"} - kinds).pop()
        return f"has a line {shown(found[0][0])}, but none for the {missing}"
    if all(re.match(r"\s*=", heading["behind"]) for heading in found):
        return "looks most like pynogram, but has no line '[clues]'"
    return f"looks most like hv, but has {shown(found[0][0])} and {shown(found[-1][0])} where that has H and V"


def _like_sized(full: Sequence[str]) -> str | None:
    if not _SIZES.fullmatch(full[0]):
        return None
    other = next((line for line in full[1:] if not NUMBERS.fullmatch(line)), None)
    return f"looks most like nin, but {shown(other)} is no clue" if other else None


def _like_brackets(full: Sequence[str]) -> str | None:
    line = next((line for line in full if re.search(r"[\[{(]\s*[\[{(]\s*\d", line)), None)
    if line is None:
        return None
    return (
        f"looks most like lists, but {shown(line)} starts neither with a bracket nor with a name such as 'rows ='"
    )
