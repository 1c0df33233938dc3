"""Cell colours, and clues: made of cells or of words, and checked against each other before any solving."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nonobot.protocol.faults import Fault, Kind, shown

if TYPE_CHECKING:
    from nonobot.protocol.puzzle import Puzzle

__all__ = [
    "BLACK",
    "MOST_DIGITS",
    "UNKNOWN",
    "WHITE",
    "Clue",
    "clue_from_words",
    "clue_of",
    "fault_in_clues",
    "needed_length",
]

UNKNOWN, WHITE, BLACK = -1, 0, 1
"""Colours of cells."""

Clue = tuple[int, ...]
"""The lengths of the blocks of a line, in order; empty for a line without black cells."""

MOST_DIGITS = 6
"""Block lengths of more digits are refused before they are converted."""


def clue_of(cells: Iterable[int]) -> Clue:
    """Return the clue of a fully painted line: the lengths of its runs of black cells."""
    return tuple(len(run) for run in bytes(map(bool, cells)).split(b"\0") if run)


def clue_from_words(words: list[str]) -> Clue | Fault:
    """Return the clue that `words` spell, or a fault without its place; no word or one 0 is the empty clue."""
    if not words:
        return ()
    text = "".join(words)
    if text.isascii() and text.isdigit() and max(map(len, words)) <= MOST_DIGITS:
        clue = tuple(map(int, words))
        if 0 not in clue:
            return clue
        if len(clue) == 1:
            return ()
    return _fault_in_words(words)


def _fault_in_words(words: list[str]) -> Fault:
    for word in words:
        digits = word.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            return Fault(Kind.NOT_A_NUMBER, f"clue {shown(word)} is not a number")
        if word != digits:
            return Fault(Kind.NEGATIVE_NUMBER, f"clue {shown(word)} is negative; block lengths are 1 or more")
        if len(digits) > MOST_DIGITS:
            return Fault(Kind.TOO_LARGE_NUMBER, f"clue {shown(word)} is longer than any board")
    return Fault(Kind.ZERO_BLOCK, "a 0 beside other block lengths; a 0 alone is an empty clue")


def needed_length(clue: Clue) -> int:
    """Return how many cells `clue` needs: its blocks and one white cell between neighbours."""
    return sum(clue) + len(clue) - 1 if clue else 0


def fault_in_clues(puzzle: Puzzle) -> tuple[Fault, int | None] | None:
    """Return the first fault that the clues show before any solving, or None.

    The fault has no place. With it comes the index of the clue at fault, columns first, then rows; None if it
    is a fault of the whole puzzle. Clues that had no fault are not checked again.
    """
    if puzzle.is_checked:
        return None
    fault = _too_long(puzzle) or _unequal(puzzle)
    if not fault:
        object.__setattr__(puzzle, "is_checked", True)
    return fault


def _too_long(puzzle: Puzzle) -> tuple[Fault, int] | None:
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
            return Fault(Kind.CLUE_TOO_LONG, text), index + number
        index += len(clues)
    return None


def _unequal(puzzle: Puzzle) -> tuple[Fault, None] | None:
    in_columns, in_rows = _black_cells(puzzle.columns), _black_cells(puzzle.rows)
    if in_columns == in_rows:
        return None
    text = f"the columns count {in_columns} black cells, the rows {in_rows}; both must be the same"
    return Fault(Kind.BLACK_CELL_MISMATCH, text), None


def _black_cells(clues: Sequence[Clue]) -> int:
    return sum(map(sum, clues))
