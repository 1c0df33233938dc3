"""Boards, lines and masks for the tests: made, converted, compared."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from nonobot.protocol import Clue, Puzzle, clue_of
from tests import naive

# Lines as masks: bit i is cell i


def masks_of(cells: Sequence[naive.Cell]) -> tuple[int, int]:
    black = sum(1 << i for i, cell in enumerate(cells) if cell == 1)
    white = sum(1 << i for i, cell in enumerate(cells) if cell == 0)
    return black, white


def cells_of(black: int, white: int, length: int) -> naive.Line:
    """Return the line of cells of two masks."""
    assert black & white == 0
    assert (black | white) >> length == 0
    return tuple(1 if black >> i & 1 else 0 if white >> i & 1 else None for i in range(length))


def to_text(cells: Sequence[naive.Cell] | None) -> str:
    """Return a line as the papers write it; 'conflict' for None."""
    return "conflict" if cells is None else "".join("u" if cell is None else str(cell) for cell in cells)


def all_states(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the black and the white masks of all 3**length partially painted lines."""
    states = [masks_of(cells) for cells in product((None, 0, 1), repeat=length)]
    black, white = zip(*states, strict=True)
    return np.array(black, dtype=np.int64), np.array(white, dtype=np.int64)


def painted_states(
    clue: Clue, length: int, black: np.ndarray, white: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Paint many states of one line by brute force, one placement after the other.

    Returns the black masks, the white masks, and where no placement agrees (there the masks mean nothing).
    """
    full = (1 << length) - 1
    always_black = np.full(black.shape, full, dtype=np.int64)
    ever_black = np.zeros(black.shape, dtype=np.int64)
    conflict = np.ones(black.shape, dtype=bool)
    for line in naive.placements(tuple(clue), length):
        placed, _ = masks_of(line)
        fits = (black & ~placed | white & placed) == 0
        always_black[fits] &= placed
        ever_black[fits] |= placed
        conflict &= ~fits
    return always_black, full & ~ever_black, conflict


def mask_in(view: Any) -> int:
    """Return the mask that a view of one shows: a number of 64 bits, or several."""
    return int.from_bytes(np.asarray(view, "<u8").tobytes(), "little")


def put_mask(view: Any, index: int, mask: int) -> None:
    place = view[index : index + 1]
    place[...] = np.frombuffer(mask.to_bytes(place.size * 8, "little"), "<u8").reshape(place.shape)


# Boards


def random_grid(rng: random.Random, width: int, height: int, density: float | None = None) -> naive.Grid:
    """Return a fully painted board; a random density where none is given."""
    black = rng.random() if density is None else density
    return [[int(rng.random() < black) for _ in range(width)] for _ in range(height)]


def random_clue(rng: random.Random, length: int) -> Clue:
    black = rng.random()
    return clue_of(rng.random() < black for _ in range(length))


def random_clues(rng: random.Random, width: int, height: int) -> Puzzle:
    """Return a board of random clues that fit their lines; most have no solution."""
    columns = tuple(random_clue(rng, height) for _ in range(width))
    return Puzzle.unchecked(columns=columns, rows=tuple(random_clue(rng, width) for _ in range(height)))


def broken(rng: random.Random, puzzle: Puzzle) -> Puzzle:
    """Return `puzzle` with one clue exchanged for a random one that fits."""
    clues = [*puzzle.columns, *puzzle.rows]
    index = rng.randrange(len(clues))
    clues[index] = random_clue(rng, puzzle.height if index < puzzle.width else puzzle.width)
    return Puzzle.unchecked(columns=tuple(clues[: puzzle.width]), rows=tuple(clues[puzzle.width :]))


def shuffled(rng: random.Random, puzzle: Puzzle) -> Puzzle:
    """Return `puzzle` with its row clues in another order: the counts still agree, often nothing else does."""
    return Puzzle.unchecked(columns=puzzle.columns, rows=tuple(rng.sample(puzzle.rows, puzzle.height)))


def all_grids(width: int, height: int) -> Iterator[naive.Grid]:
    for cells in product((0, 1), repeat=width * height):
        yield [list(cells[y * width : (y + 1) * width]) for y in range(height)]


def array_of(grid: naive.Grid | None) -> np.ndarray | None:
    """Return a grid as `nonobot.bot.papers.deduce` does: int8, -1 unknown, 0 white, 1 black."""
    if grid is None:
        return None
    return np.array([[-1 if cell is None else cell for cell in row] for row in grid], dtype=np.int8)


@st.composite
def grids(draw: st.DrawFn, most_width: int = 8, most_height: int = 8) -> naive.Grid:
    width = draw(st.integers(1, most_width))
    height = draw(st.integers(1, most_height))
    rows = draw(st.lists(st.integers(0, 2**width - 1), min_size=height, max_size=height))
    return [digits(row, 2, width) for row in rows]


def digits(number: int, base: int, count: int) -> list[int]:
    """Return so many digits of a number: a line of cells of which one choice was made, not one for each cell."""
    return [number // base**place % base for place in range(count)]


def puzzles(most_width: int = 8, most_height: int = 8) -> st.SearchStrategy[Puzzle]:
    return grids(most_width, most_height).map(Puzzle.from_grid)
