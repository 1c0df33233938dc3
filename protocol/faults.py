"""What can be wrong with a puzzle, and how it is said.

Every fault is one line for a person: where it is (puzzle number, line number), what is wrong, and what was
expected. A fault belongs to one puzzle and never costs another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nonobot.protocol.puzzle import Clue, Puzzle

__all__ = [
    "AssumedSize",
    "BadGrid",
    "BadHeader",
    "BadSize",
    "BlackCellMismatch",
    "CannotHold",
    "ClueTooLong",
    "Coloured",
    "ExtraLines",
    "Fault",
    "GoalMismatch",
    "LeftOut",
    "LineTooLong",
    "MissingLines",
    "NegativeNumber",
    "NotANumber",
    "NotText",
    "OddLineCount",
    "StrayText",
    "TooLargeNumber",
    "UnknownSection",
    "UnusableMarkup",
    "ZeroBlock",
    "fault_in_clues",
    "needed_length",
    "shown",
]


def shown(text: str, limit: int = 40) -> str:
    """Return `text` quoted for a message: unprintable characters escaped, cut after `limit` characters."""
    return repr(text if len(text) <= limit else text[:limit] + "...")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a puzzle.

    Attributes
    ----------
    what : str
        What is wrong and what was expected, without the place.
    puzzle : int or None
        The k of `$k`; None for text outside any puzzle.
    line : int or None
        The line of the input, counted from 1; None where no line can be named.
    more : int
        How many further faults the same puzzle has.
    """

    what: str
    puzzle: int | None = None
    line: int | None = None
    more: int = 0

    def __str__(self) -> str:
        place = [f"${self.puzzle}"] if self.puzzle is not None else []
        if self.line is not None:
            place.append(f"line {self.line}")
        more = f" (and {self.more} more in this puzzle)" if self.more else ""
        return ": ".join([*place, self.what]) + more

    def at(self, puzzle: int | None, line: int | None) -> Fault:
        """Return the same fault with its place."""
        return replace(self, puzzle=puzzle, line=line)


class NotANumber(Fault):
    """A word of a clue line is not a whole number."""


class NegativeNumber(Fault):
    """A block length below zero."""


class TooLargeNumber(Fault):
    """A block length that no board can have."""


class ZeroBlock(Fault):
    """A 0 beside other block lengths (a 0 alone is an empty clue)."""


class NotText(Fault):
    """Bytes that no text file has."""


class LineTooLong(Fault):
    """An input line that no clue can need."""


class ClueTooLong(Fault):
    """Blocks and the gaps between them are longer than their line."""


class BlackCellMismatch(Fault):
    """Rows and columns count different numbers of black cells."""


class MissingLines(Fault):
    """The next puzzle or the end of the input came before the last clue line."""


class ExtraLines(Fault):
    """Clue lines after the last one that the board's size allows."""


class OddLineCount(Fault):
    """The size of a square board cannot be inferred from an odd number of clue lines."""


class BadHeader(Fault):
    """A `$` that no number follows."""


class StrayText(Fault):
    """Text before the first `$`, or where a format has no place for it."""


class BadSize(Fault):
    """A size that is missing, that no number states, or that no board here can have."""


class AssumedSize(Fault):
    """A size that was made out from the number of lines, since nothing stated it."""


class BadGrid(Fault):
    """A drawn board, start or solution, of the wrong size or with cells that mean nothing."""


class UnknownSection(Fault):
    """A section, key or name that the format does not have."""


class Coloured(Fault):
    """A puzzle of more colours than black and white."""


class UnusableMarkup(Fault):
    """XML, or brackets, that are broken or of a kind that is not read."""


class GoalMismatch(Fault):
    """The solution that a file gives does not have the clues that it gives."""


class LeftOut(Fault):
    """Something that was read but has no place in what is written, or was not kept."""


class CannotHold(Fault):
    """A puzzle that a format has no way to write."""


def needed_length(clue: Clue) -> int:
    """Return how many cells `clue` needs: its blocks and one white cell between neighbours."""
    return sum(clue) + len(clue) - 1 if clue else 0


def fault_in_clues(puzzle: Puzzle) -> tuple[Fault, int | None] | None:
    """Return the first fault that the clues show before any solving, or None.

    Returns
    -------
    (Fault, int or None) or None
        The fault without its place, and the index of the clue at fault, columns first, then rows; None for a
        fault of the whole puzzle.
    """
    index = 0
    for clues, length, kind in (
        (puzzle.columns, puzzle.height, "column"),
        (puzzle.rows, puzzle.width, "row"),
    ):
        if max(map(needed_length, clues), default=0) > length:
            number, needed = next(
                (number, needed_length(clue)) for number, clue in enumerate(clues) if needed_length(clue) > length
            )
            text = f"the clue of {kind} {number + 1} needs {needed} cells, the {kind} has {length}"
            return ClueTooLong(text), index + number
        index += len(clues)
    in_columns, in_rows = _black_cells(puzzle.columns), _black_cells(puzzle.rows)
    if in_columns != in_rows:
        return BlackCellMismatch(
            f"the columns count {in_columns} black cells, the rows {in_rows}; both must be the same"
        ), None
    return None


def _black_cells(clues: Sequence[Clue]) -> int:
    return sum(map(sum, clues))
