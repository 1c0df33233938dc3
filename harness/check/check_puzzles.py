"""The puzzles of the self-test: easy ones, without empty lines unless a step is about them."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from nonobot.protocol import Puzzle, format_puzzle
from nonobot.tournament_data.generate import generate

Size = tuple[int, int]
Numbered = tuple[int, Puzzle]

SMALLEST_SIDE = 4  # smallest board for which every step has a puzzle
LARGEST_SIDE = 200  # largest board; making larger ones takes longer than the steps


def easy(size: Size, count: int) -> list[Puzzle]:
    """Return `count` boards that any bot solves, line by line; each has one solution and no empty line."""
    random = Random(1)
    return [Puzzle.from_grid(_nested(*size, random)) for _ in range(count)]


def hard(size: Size) -> list[Puzzle]:
    """Return boards that, if large, keep even a bot busy that takes a millisecond for each."""
    count = min(1000, 1000 * 25 * 25 // (size[0] * size[1]))
    black = 0.3  # a share below that of the sparsest boards of a tournament
    return [puzzle for puzzle, _ in generate(size, count, black, black, seed=1)]


def with_empty_edge_columns(size: Size) -> Puzzle:
    """Return an easy board whose first and last columns are empty, and no other line."""
    return Puzzle.from_grid([[0, *row, 0] for row in _nested(size[0] - 2, size[1], Random(2))])


def with_empty_edge_rows(size: Size) -> Puzzle:
    """Return an easy board whose first and last rows are empty, and no other line."""
    empty = [0] * size[0]
    return Puzzle.from_grid([empty, *_nested(size[0], size[1] - 2, Random(3)), empty])


def filled(size: Size, cell: int) -> Puzzle:
    """Return the board whose cells are all `cell`."""
    return Puzzle.from_grid([[cell] * size[0]] * size[1])


def ambiguous(size: Size) -> Puzzle:
    """Return a board with two solutions or more, none of whose lines is empty."""
    width, height = size
    white, black = [0] * (width - 3), [1] * (width - 3)
    grid = [[1, 0, 0, *white], [0, 1, 0, *white], [0, 0, 0, *black], *[[1, 1, 1, *black]] * (height - 3)]
    return Puzzle.from_grid(grid)  # the first two rows can be swapped


def unsolvable(size: Size) -> Puzzle:
    """Return clues that fit their lines, count the same black cells both ways, and have no board."""
    width, height = size
    # All rows but the second are full, so no column but the first can have its blocks together.
    rows: tuple[tuple[int, ...], ...] = ((width,), (1,), *[(width,)] * (height - 2))
    return Puzzle(columns=((height,), *[(height - 1,)] * (width - 1)), rows=rows)


def numbered(puzzles: Iterable[Puzzle]) -> list[Numbered]:
    """Return the puzzles with their numbers, from 1 on."""
    return list(enumerate(puzzles, 1))


def text_of(puzzles: Iterable[Numbered]) -> bytes:
    """Return the puzzles in the official form."""
    return b"".join(format_puzzle(number, puzzle) for number, puzzle in puzzles)


def _nested(width: int, height: int, random: Random) -> list[list[int]]:
    """Return a board where each row includes the black columns of every row that has fewer.

    No other board has its counts of black cells (Ryser 1957: no two rows and two columns have cells to exchange),
    and the known lines always complete another one.
    """
    rank = list(range(width))
    random.shuffle(rank)
    lengths = [width, *[random.randint(1, width) for _ in range(height - 1)]]  # a full row: no column is empty
    random.shuffle(lengths)
    return [[int(place < length) for place in rank] for length in lengths]
