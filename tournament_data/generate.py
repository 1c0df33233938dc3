"""The organisers' generator of question files, reproduced.

Puzzle i of `count` has int((p1 + (p2 - p1) * i / (count - 1)) * (width * height)) black cells: a row-major
list of that many blacks and then the whites, shuffled. The tournaments used Python 2's `random.seed` and
`random.shuffle`; one stream of random numbers, seeded once, runs through all the puzzles of a set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import BinaryIO

from nonobot.protocol import Puzzle, Solution, format_answer, format_puzzle

__all__ = [
    "OFFICIAL_P1",
    "OFFICIAL_P2",
    "Board",
    "black_cells",
    "check_numbers",
    "draw_board",
    "generate",
    "write_set",
]

OFFICIAL_P1, OFFICIAL_P2 = 0.5, 0.35
"""Shares of black cells in the first and the last puzzle of a tournament's set (tcga2013 ended at 0.4)."""

MOST_CELLS = 10_000_000
"""Of one board; a larger one takes minutes, and then more memory than there is."""

Board = tuple[Puzzle, Solution]


def generate(
    size: int | tuple[int, int] = 25,
    count: int = 1000,
    p1: float = OFFICIAL_P1,
    p2: float = OFFICIAL_P2,
    *,
    seed: int,
) -> Iterator[Board]:
    """Yield the boards that the organisers' generator makes from the same numbers, one at a time.

    Each comes with its puzzle, which may have other solutions.

    Parameters
    ----------
    size : int or (int, int)
        Cells of a row and of a column, or width and height; the official generator only makes square boards.
    p1, p2 : float
        Share of black cells in the first and in the last board.
    seed : int
        Of any length; the sign is ignored, as Python does.

    Raises
    ------
    ValueError
        If no board can be made from these numbers.
    """
    width, height = (size, size) if isinstance(size, int) else size
    check_numbers(width, height, count, p1, p2)
    return _boards(width, height, count, p1, p2, seed)


def check_numbers(width: int, height: int, count: int, p1: float, p2: float) -> None:
    """Raise ValueError if no set can be made from these numbers."""
    if width < 1 or height < 1 or count < 0:
        raise ValueError(f"{width}x{height}x{count}: width and height are 1 or more, a count is 0 or more")
    if width * height > MOST_CELLS:
        raise ValueError(f"a board of {width}x{height} has more than {MOST_CELLS} cells")
    for name, share in (("p1", p1), ("p2", p2)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name}={share}: a share of black cells lies between 0 and 1")


def black_cells(index: int, count: int, p1: float, p2: float, width: int, height: int) -> int:
    """Return the number of black cells of board `index`, counted from 0, of a set of `count`."""
    # In this order of operations; (share * width) * height rounds differently: puzzle 667 of the official sets
    # has 249 black cells, not 250.
    share = p1 if count == 1 else p1 + (p2 - p1) * index / (count - 1)
    return int(share * (width * height))


def write_set(boards: Iterable[Board], questions: BinaryIO, solutions: BinaryIO | None = None) -> None:
    """Write question and solution files as the organisers' generator does, numbered from 1."""
    for number, (puzzle, solution) in enumerate(boards, 1):
        questions.write(format_puzzle(number, puzzle))
        if solutions:
            solutions.write(format_answer(number, solution))


def _boards(width: int, height: int, count: int, p1: float, p2: float, seed: int) -> Iterator[Board]:
    random = Random(seed).random  # for a whole number the same stream in Python 2 and 3
    for index in range(count):
        yield draw_board(width, height, black_cells(index, count, p1, p2, width, height), random)


def draw_board(width: int, height: int, black: int, random: Callable[[], float]) -> Board:
    """Return a board with `black` black cells, the next one of a stream of random numbers from 0 to 1."""
    cells = [1] * black + [0] * (width * height - black)
    _shuffle(cells, random)
    grid = [cells[start : start + width] for start in range(0, width * height, width)]
    return Puzzle.from_grid(grid), Solution(grid)


def _shuffle(cells: list[int], random: Callable[[], float]) -> None:
    """Shuffle in place as Python 2 does; Python 3's own shuffle draws other numbers."""
    for last in range(len(cells) - 1, 0, -1):
        other = int(random() * (last + 1))
        cells[last], cells[other] = cells[other], cells[last]
