"""Clue lines: read from text, and checked against each other before any solving."""

from __future__ import annotations

from collections.abc import Sequence

from nonobot.protocol.faults import Fault, Kind, shown
from nonobot.protocol.puzzle import Clue, Puzzle

__all__ = ["MOST_DIGITS", "clue_from_words", "fault_in_clues", "needed_length"]

MOST_DIGITS = 6
"""Block lengths of more digits are refused before they are converted."""


def clue_from_words(words: list[str]) -> Clue | Fault:
    """Return the clue that `words` spell: no word or a single 0 is the empty clue.

    Returns
    -------
    Clue or Fault
        The fault is without its place.
    """
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

    Clues that were found right are not looked at again: what reads a puzzle asks, and so does what solves it.

    Returns
    -------
    (Fault, int or None) or None
        The fault without its place, and the index of the clue at fault, columns first, then rows; None for a
        fault of the whole puzzle.
    """
    if puzzle.is_checked:
        return None
    found = _too_long(puzzle) or _unequal(puzzle)
    if not found:
        object.__setattr__(puzzle, "is_checked", True)
    return found


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
