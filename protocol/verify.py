"""Independent check of answers: computes the clues again from the cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nonobot.protocol.clues import Clue, spaced

if TYPE_CHECKING:
    from nonobot.protocol.puzzle import Puzzle, Solution


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A row or column of an answer that breaks its clue, numbered from 1."""

    kind: Literal["row", "column"]
    number: int
    expected: Clue
    found: Clue

    def __str__(self) -> str:
        expected, found = (spaced(clue, empty="no black cell") for clue in (self.expected, self.found))
        return f"{self.kind} {self.number}: expected {expected}, found {found}"


def mismatches(puzzle: Puzzle, solution: Solution) -> list[Mismatch]:
    """Return the rows and columns in which `solution` breaks the clues of `puzzle`; ValueError: sizes differ."""
    if puzzle.size != solution.size:
        raise ValueError("a {}x{} answer to a {}x{} puzzle".format(*solution.size, *puzzle.size))
    rows, columns = _clues(solution.rows), _clues(solution.columns)
    return [*_differences("row", puzzle.rows, rows), *_differences("column", puzzle.columns, columns)]


def _differences(
    kind: Literal["row", "column"], expected: Sequence[Clue], found: Sequence[Clue]
) -> Iterator[Mismatch]:
    for number, (clue, own) in enumerate(zip(expected, found, strict=True), 1):
        if clue != own:
            yield Mismatch(kind, number, clue, own)


def _clues(lines: list[bytes]) -> list[Clue]:
    """Return the clue of each line, by splitting the line at its white cells."""
    return [tuple(map(len, filter(None, line.split(b"\0")))) for line in lines]
