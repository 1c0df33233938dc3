"""Drawn boards changed, in few and hardly visible cells, until their clues have one solution.

As long as there are several solutions, the search changes one of the cells in which they differ. It first tries
cells that get their neighbours' colour, such as specks and cells at the edge of black areas. It keeps the change
after which the fewest cells differ. In the end it undoes each change that was not needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt

from nonobot.harness.pictures.image_cells import Cells
from nonobot.harness.puzzles.grading import Findings
from nonobot.protocol import Puzzle

CHOICES = 16
"""Cells tried for each change. A dithered board of 30x30 took 26 changes with 8 of them, 15 with 16, and with 32
13 and twice the tries."""

MOST_LATE = 10  # most boards on which the bot may run out of time


@dataclass(frozen=True, slots=True, eq=False)
class MadeUnique:
    """The board whose clues have one solution, or the drawn board if not `unique`."""

    cells: Cells
    changed: int  # number of cells
    unique: bool
    tries: int  # number of boards solved


def differing(cells: Cells, findings: Findings) -> Cells:
    """Return the cells in which some solution differs from the drawn board."""
    return (findings.solutions != cells).any(axis=0)


def make_unique(
    cells: Cells,
    solve: Callable[[Puzzle], Findings],
    *,
    most_tries: int,
    on_change: Callable[[int, int, int], None] = lambda *_: None,
) -> MadeUnique:
    """Return a board with a single solution that differs from the drawn one in few cells.

    `solve` returns the solutions of a board, at least two if it has two. `most_tries` is the number of boards to
    solve. `on_change` is called with the number of tries, of changed cells, and of cells in which solutions
    differ.
    """
    search = _Search(cells, solve, most_tries)
    findings = search.look(())
    while findings is not None and not findings.unique:
        on_change(search.tries, len(search.changed), int(differing(search.board(), findings).sum()))
        findings = search.change(findings)
    if findings is None:
        return MadeUnique(cells, 0, False, search.tries)
    search.take_back()
    return MadeUnique(search.board(), len(search.changed), True, search.tries)


class _Search:
    """The cells changed so far, the solutions of that board, and the number of boards solved."""

    def __init__(self, cells: Cells, solve: Callable[[Puzzle], Findings], most_tries: int) -> None:
        self.changed: list[tuple[int, int]] = []
        self.tries = 0
        self._drawn = cells
        self._solve = solve
        self._most_tries = most_tries
        self._late = 0
        self._random = Random(0)

    def board(self, *more: tuple[int, int]) -> Cells:
        """Return the present board, with some more cells changed."""
        cells = self._drawn.copy()
        for place in (*self.changed, *more):
            cells[place] ^= True
        return cells

    def look(self, more: tuple[tuple[int, int], ...]) -> Findings | None:
        """Return the solutions of the board with more cells changed; None without any in time, or at a limit."""
        if self.tries >= self._most_tries or self._late >= MOST_LATE:
            return None
        self.tries += 1
        findings = self._solve(Puzzle.from_grid(self.board(*more).astype(np.uint8)))
        self._late += not findings.in_time
        return findings if findings.unique or len(findings.solutions) > 1 else None

    def change(self, now: Findings) -> Findings | None:
        """Change the cell after which the fewest cells differ, and return the solutions then; None without any."""
        best: tuple[tuple[bool, int], tuple[int, int], Findings] | None = None
        for place in self._places(now):
            findings = self.look((place,))
            if findings is None:
                continue
            left = (not findings.complete, int(differing(self.board(place), findings).sum()))
            if best is None or left < best[0]:
                best = left, place, findings
            if findings.unique:
                break
        if best is None:
            return None
        self.changed.append(best[1])
        return best[2]

    def take_back(self) -> None:
        """Undo the changes that are not needed for a single solution, in their order."""
        for place in list(self.changed):
            findings = self.look((place,))  # changed twice: as drawn
            if findings is not None and findings.unique:
                self.changed.remove(place)

    def _places(self, now: Findings) -> list[tuple[int, int]]:
        """Return the cells to try, the least visible changes first."""
        cells = self.board()
        open_cells = differing(cells, now)
        joined = _neighbours_of_other_colour(cells)
        places = [(int(y), int(x)) for y, x in np.argwhere(open_cells) if (y, x) not in self.changed]
        self._random.shuffle(places)  # so that equal ones are not all at the top
        return sorted(places, key=lambda place: -joined[place])[:CHOICES]


def _neighbours_of_other_colour(cells: Cells) -> npt.NDArray[np.int_]:
    """Return for each cell the number of its eight neighbours of the other colour; beyond the border is white."""
    height, width = cells.shape
    around = np.pad(cells, 1).astype(np.int_)
    black = sum(around[y : y + height, x : x + width] for y in range(3) for x in range(3)) - cells
    return np.where(cells, 8 - black, black)
