"""Independent verification: the clues of an answer, computed again from its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from protocol.puzzle import Clue, Puzzle, Solution, clue_of

__all__ = ["Mismatch", "mismatches"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A line of an answer that has not the clue it should have.

    Attributes
    ----------
    kind : 'row' or 'column'
    number : int
        Counted from 1.
    expected, found : Clue
    """

    kind: Literal["row", "column"]
    number: int
    expected: Clue
    found: Clue

    def __str__(self) -> str:
        return f"{self.kind} {self.number}: expected {_words(self.expected)}, found {_words(self.found)}"


def _words(clue: Clue) -> str:
    return " ".join(map(str, clue)) or "no black cell"


def mismatches(puzzle: Puzzle, solution: Solution) -> list[Mismatch]:
    """Return the lines in which `solution` breaks the clues of `puzzle`; none means that it is right.

    Raises
    ------
    ValueError
        If the two have not the same size.
    """
    if (puzzle.width, puzzle.height) != (solution.width, solution.height):
        raise ValueError(f"a {solution.width}x{solution.height} answer to a {puzzle.width}x{puzzle.height} puzzle")
    rows = solution.cells.tolist()
    columns = solution.cells.T.tolist()
    wrong: list[Mismatch] = []
    for number, (clue, cells) in enumerate(zip(puzzle.rows, rows, strict=True), 1):
        if clue_of(cells) != clue:
            wrong.append(Mismatch("row", number, clue, clue_of(cells)))
    for number, (clue, cells) in enumerate(zip(puzzle.columns, columns, strict=True), 1):
        if clue_of(cells) != clue:
            wrong.append(Mismatch("column", number, clue, clue_of(cells)))
    return wrong
