"""Drawn boards changed until their clues have one solution: few cells change, and where it shows least.

No solver is in it: it is handed one. As long as there are several solutions, one of the cells in which they differ
is changed. Of those the ones that would join their neighbours' colour are tried first, which are cells at the edge
of black areas and specks; the one after which the fewest cells differ is kept. In the end each change that was not
needed is taken back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt

from nonobot.harness.grading import Findings
from nonobot.harness.pictures.image_cells import Cells
from nonobot.protocol import Puzzle

__all__ = ["MOST_TRIES", "MadeUnique", "differing", "make_unique"]

MOST_TRIES = 1000
"""Boards that are solved before it is given up: seconds at 30x30."""

CHOICES = 16
"""Cells tried for each change. A dithered board of 30x30 took 26 changes with 8 of them, 15 with 16, and with 32
13 and twice the tries."""

MOST_LATE = 10
"""Boards that the bot may run out of time on."""


@dataclass(frozen=True, slots=True, eq=False)
class MadeUnique:
    """What came of it.

    Attributes
    ----------
    cells : Cells
        The board; as it was drawn if `unique` is false.
    changed : int
        Cells in which it is not what was drawn.
    unique : bool
        Whether its clues have no other solution.
    tries : int
        Boards that were solved.
    """

    cells: Cells
    changed: int
    unique: bool
    tries: int


def differing(cells: Cells, findings: Findings) -> Cells:
    """Return in which cells a solution that was found is not what was drawn."""
    return (findings.solutions != cells).any(axis=0)


def make_unique(
    cells: Cells,
    solve: Callable[[Puzzle], Findings],
    *,
    most_tries: int = MOST_TRIES,
    on_change: Callable[[int, int, int], None] = lambda *_: None,
) -> MadeUnique:
    """Return a board with a single solution that differs in few cells from what was drawn.

    Parameters
    ----------
    cells : Cells
    solve : callable
        Tells the solutions of a board, two at least if it has two. The same answers lead to the same board.
    most_tries : int
        Boards to solve before the end.
    on_change : callable, optional
        Told the number of tries, of changed cells, and of cells in which solutions were found to differ.
    """
    search = _Search(cells, solve, most_tries)
    found = search.look(())
    while found is not None and not found.unique:
        search.now = found
        on_change(search.tries, len(search.changed), int(differing(search.board(), found).sum()))
        found = search.change()
    if found is None:
        return MadeUnique(cells, 0, False, search.tries)
    search.take_back()
    return MadeUnique(search.board(), len(search.changed), True, search.tries)


class _Search:
    """The cells changed so far, the solutions found then, and how often was asked."""

    now: Findings

    def __init__(self, cells: Cells, solve: Callable[[Puzzle], Findings], most_tries: int) -> None:
        self.changed: list[tuple[int, int]] = []
        self.tries = 0
        self._drawn = cells
        self._solve = solve
        self._most_tries = most_tries
        self._late = 0
        self._random = Random(0)

    def board(self, *beside: tuple[int, int]) -> Cells:
        """Return the board as it is now, with some more cells changed."""
        cells = self._drawn.copy()
        for place in (*self.changed, *beside):
            cells[place] ^= True
        return cells

    def look(self, beside: tuple[tuple[int, int], ...]) -> Findings | None:
        """Return what is found of the board with more cells changed; None if that says nothing, or not in time."""
        if self.tries >= self._most_tries or self._late >= MOST_LATE:
            return None
        self.tries += 1
        found = self._solve(Puzzle.from_grid(self.board(*beside).astype(np.uint8)))
        self._late += not found.in_time
        return found if found.unique or len(found.solutions) > 1 else None

    def change(self) -> Findings | None:
        """Change the cell that leaves least open, and return what is found then; None if there is none."""
        best: tuple[tuple[bool, int], tuple[int, int], Findings] | None = None
        for place in self._places():
            found = self.look((place,))
            if found is None:
                continue
            left = (not found.complete, int(differing(self.board(place), found).sum()))
            if best is None or left < best[0]:
                best = left, place, found
            if found.unique:
                break
        if best is None:
            return None
        self.changed.append(best[1])
        return best[2]

    def take_back(self) -> None:
        """Undo the changes that the solution is single without, the latest last."""
        for place in list(self.changed):
            found = self.look((place,))  # changed twice: as it was drawn
            if found is not None and found.unique:
                self.changed.remove(place)

    def _places(self) -> list[tuple[int, int]]:
        """Return the cells to try, the least conspicuous first."""
        cells = self.board()
        open_cells = differing(cells, self.now)
        joined = _neighbours_of_other_colour(cells)
        places = [(int(y), int(x)) for y, x in np.argwhere(open_cells) if (y, x) not in self.changed]
        self._random.shuffle(places)  # of equals not all the upper ones
        return sorted(places, key=lambda place: -joined[place])[:CHOICES]


def _neighbours_of_other_colour(cells: Cells) -> npt.NDArray[np.int_]:
    """Return of each cell how many of the eight around it have the other colour; beyond the border is white."""
    height, width = cells.shape
    around = np.pad(cells, 1).astype(np.int_)
    black = sum(around[y : y + height, x : x + width] for y in range(3) for x in range(3)) - cells
    return np.where(cells, 8 - black, black)
