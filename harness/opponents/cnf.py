"""A nonogram as clauses (CNF): cells, and block positions in order encoding.

Variables: one for each cell, true for black; and for each block j of each line and each place p in its range
S(j, p), "block j starts at p or before". The range of a block runs from where it starts with all blocks pushed to
the front to where it starts with all pushed to the back; S is false before the range and true from its end on,
and needs no variable there.

For a line with blocks of lengths c:

- order: S(j, p) -> S(j, p + 1);
- the blocks in turn, a white cell between them: S(j, p) -> S(j - 1, p - c[j-1] - 1);
- block to cell: S(j, i) and not S(j, i - c[j]) -> cell i is black, as block j covers it;
- gap to cell: S(j - 1, i - c[j-1]) and not S(j, i) -> cell i is white, as it lies behind block j - 1 and before j.

Every cell is in a block or in a gap, so the last two, read backwards, move the blocks when a cell is known: unit
propagation works both ways.

Source: the order encoding is Tamura, Taga, Kitagawa and Banbara, "Compiling finite linear CSP into SAT",
Constraints 14 (2009).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from nonobot.protocol import Clue, Puzzle

__all__ = ["clauses_by_line"]

Clauses = list[list[int]]


def clauses_by_line(puzzle: Puzzle) -> Iterator[Clauses]:
    """Yield the clauses of each row, then of each column.

    Variable 1 + y * width + x is the cell in row y and column x.

    Yields
    ------
    list of list of int
        Clauses of literals as solvers take them: v, or -v for not v.

    Raises
    ------
    ValueError
        If a clue does not fit its line.
    """
    width, height = puzzle.width, puzzle.height
    cells = [list(range(1 + y * width, 1 + (y + 1) * width)) for y in range(height)]
    last = width * height
    for clue, line in zip((*puzzle.rows, *puzzle.columns), (*cells, *zip(*cells, strict=True)), strict=True):
        clauses, last = _line_clauses(clue, line, last)
        yield clauses


def _line_clauses(clue: Clue, cells: Sequence[int], last: int) -> tuple[Clauses, int]:
    """Return the clauses of a line, and the last variable then in use; `last` is the last one before."""
    length = len(cells)
    firsts = [0, *accumulate(block + 1 for block in clue)]  # the last one would be a further block's
    slack = length + 1 - firsts[-1]  # how far each block can be moved
    if slack < 0:
        raise ValueError(f"the clue {clue} does not fit {length} cells")
    clauses: Clauses = []

    def starts_by(block: int, place: int) -> int | None:
        """Return the literal of S(block, place), 0 where it is always false, None where it is always true."""
        if block < 0 or (block < len(clue) and place >= firsts[block] + slack):
            return None
        if block == len(clue) or place < firsts[block]:
            return 0
        return last + 1 + block * slack + place - firsts[block]

    def add(when: int | None, unless: int | None, then: int | None) -> None:
        """Append: `when` and not `unless` imply `then`; unless that is always so."""
        if when == 0 or unless is None or then is None:
            return
        clauses.append([literal for literal in (-(when or 0), unless, then) if literal])

    for block, size in enumerate(clue):
        for place in range(firsts[block], firsts[block] + slack):
            add(starts_by(block, place), 0, starts_by(block, place + 1))
            if block:
                add(starts_by(block, place), 0, starts_by(block - 1, place - clue[block - 1] - 1))
        for i in range(firsts[block], firsts[block] + slack + size):
            add(starts_by(block, i), starts_by(block, i - size), cells[i])
    for gap in range(len(clue) + 1):
        before = clue[gap - 1] if gap else 0
        for i in range(length):
            add(starts_by(gap - 1, i - before), starts_by(gap, i), -cells[i])
    return clauses, last + len(clue) * slack
