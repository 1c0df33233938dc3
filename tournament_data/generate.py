"""Reproduction of the organisers' generator of question files, and sets named by its parameters.

Puzzle i of `count` has int((p1 + (p2 - p1) * i / (count - 1)) * (width * height)) black cells: a row-major
list of that many blacks and then the whites, shuffled. The tournaments used Python 2's `random.seed` and
`random.shuffle`; one stream of random numbers, seeded once, runs through all the puzzles of a set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import BinaryIO

from nonobot.protocol import Puzzle, Solution, format_answer, format_puzzle

OFFICIAL_P1, OFFICIAL_P2 = 0.5, 0.35  # shares of black cells in a tournament's first and last puzzle
MOST_CELLS = 10_000_000  # largest number of cells of one board; a larger board takes minutes and too much memory

Board = tuple[Puzzle, Solution]


def generate(
    size: int | tuple[int, int] = 25,
    count: int = 1000,
    p1: float = OFFICIAL_P1,
    p2: float = OFFICIAL_P2,
    *,
    seed: int,
) -> Iterator[Board]:
    """Yield the boards that the organisers' generator makes from the same parameters, one at a time.

    Each board is a solution of its puzzle, which may have others. `p1` and `p2` are the shares of black cells in
    the first and in the last board. A seed may have any length; its sign is ignored, as in Python. The official
    generator makes only squares. ValueError: no board can be made from these parameters.
    """
    width, height = (size, size) if isinstance(size, int) else size
    check_numbers(width, height, count, p1, p2)
    return _boards(width, height, count, p1, p2, seed)


def check_numbers(width: int, height: int, count: int, p1: float, p2: float) -> None:
    """Raise ValueError if no set can be made from these parameters."""
    if width < 1 or height < 1 or count < 0:
        raise ValueError(f"{width}x{height}x{count}: width and height are 1 or more, a count is 0 or more")
    if width * height > MOST_CELLS:
        raise ValueError(f"a board of {width}x{height} is too large; the limit is {MOST_CELLS:,} cells")
    for name, share in (("p1", p1), ("p2", p2)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name}={share:g} is not a share of black cells from 0 to 1")


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
    """Return a board with `black` black cells, drawn from a stream of random numbers from 0 to 1."""
    cells = [1] * black + [0] * (width * height - black)
    _shuffle(cells, random)
    grid = [cells[start : start + width] for start in range(0, width * height, width)]
    return Puzzle.from_grid(grid), Solution(grid)


def _shuffle(cells: list[int], random: Callable[[], float]) -> None:
    """Shuffle in place as Python 2 does; Python 3's own shuffle draws other numbers."""
    for last in range(len(cells) - 1, 0, -1):
        other = int(random() * (last + 1))
        cells[last], cells[other] = cells[other], cells[last]


# --- sets named by their parameters ------------------------------------------------------------------------------

PREFIX = "boardgen:"  # beginning of a set specification
FORM = f"{PREFIX}WIDTHxHEIGHTxCOUNT:seed=S[:p1=0.5][:p2=0.35]"


@dataclass(frozen=True)
class Recipe:
    """Parameters of a generated set; see :func:`generate`.

    >>> str(Recipe.parse("boardgen:25x25x1000:p2=0.4:seed=7"))
    'boardgen:25x25x1000:seed=7:p2=0.4'
    """

    width: int
    height: int
    count: int
    seed: int
    p1: float = OFFICIAL_P1
    p2: float = OFFICIAL_P2

    @classmethod
    def parse(cls, text: str) -> Recipe:
        """Return the recipe in a set specification, or raise ValueError."""
        dimensions, *settings = text.removeprefix(PREFIX).split(":")
        given: dict[str, str] = {}
        for setting in settings:
            name, _, value = setting.partition("=")
            if name not in ("seed", "p1", "p2") or name in given:
                raise ValueError(f"unexpected {setting!r}; expected {FORM}")
            given[name] = value
        if "seed" not in given:
            raise ValueError(f"no seed; expected {FORM}")
        try:
            return cls(
                *parse_dimensions(dimensions),
                seed=parse_seed(given["seed"]),
                p1=parse_share(given["p1"]) if "p1" in given else OFFICIAL_P1,
                p2=parse_share(given["p2"]) if "p2" in given else OFFICIAL_P2,
            )
        except ValueError as error:
            raise ValueError(f"{error}; expected {FORM}") from None

    def __str__(self) -> str:
        text = f"{PREFIX}{self.width}x{self.height}x{self.count}:seed={Decimal(self.seed)}"
        if self.p1 != OFFICIAL_P1:
            text += f":p1={self.p1}"
        if self.p2 != OFFICIAL_P2:
            text += f":p2={self.p2}"
        return text

    def boards(self) -> Iterator[Board]:
        """Yield the boards of the set, one at a time."""
        return generate((self.width, self.height), self.count, self.p1, self.p2, seed=self.seed)


def parse_dimensions(text: str) -> tuple[int, int, int]:
    """Return width, height and count from a text such as `25x25x1000`, or raise ValueError."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}(x[1-9][0-9]{0,8}){2}", text):
        raise ValueError(f"{text!r} is not WIDTHxHEIGHTxCOUNT, such as 25x25x1000")
    width, height, count = map(int, text.split("x"))
    return width, height, count


def parse_share(text: str) -> float:
    """Return a share of black cells, or raise ValueError."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a share of black cells, such as {OFFICIAL_P1}") from None


def parse_seed(text: str) -> int:
    """Return a seed, or raise ValueError; official seeds have up to 19937 bits, more digits than `int` reads."""
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(f"seed {text!r} is not a whole number")
    return int(Decimal(text))
