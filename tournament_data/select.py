"""Sets of boards chosen from many: with exactly one solution, or those that cost a solver most.

One stream of random numbers, seeded once as the organisers' generator does, runs through all the boards that are
drawn, kept or not. For each puzzle in its turn boards with its number of black cells are drawn until as many as
wanted are eligible, and of these the one that cost most is kept, the first of equals. Where every first board will
do, that is the organisers' set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from nonobot.protocol import Puzzle
from nonobot.tournament_data.generate import Board, black_cells, check_numbers, draw_board
from nonobot.tournament_data.recipe import Recipe

__all__ = ["MOST_DRAWS", "Appraisal", "Drawn", "NoBoardError", "select"]

MOST_DRAWS = 10_000
"""Boards in a row of which none is eligible before a search is given up: a minute or two at 25x25."""


class NoBoardError(Exception):
    """No eligible board turned up; the message is one line that says for which puzzle."""


@dataclass(frozen=True, slots=True)
class Appraisal:
    """What a solver found out about a board.

    Attributes
    ----------
    decided : bool
        Whether it came to an end; if not, the board is passed over.
    unique : bool
        Whether the board's clues are known to have exactly one solution.
    work : int
        What it cost, in steps that do not depend on the machine.
    """

    decided: bool
    unique: bool
    work: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """How far a selection is.

    Attributes
    ----------
    puzzle : int
        Puzzle that a board was just drawn for, counted from 1.
    eligible : int
        Boards found for it so far.
    boards : int
        Boards drawn since the start.
    appraisal : Appraisal
        Of the board that was just drawn.
    """

    puzzle: int
    eligible: int
    boards: int
    appraisal: Appraisal


def select(
    recipe: Recipe,
    appraise: Callable[[Puzzle], Appraisal],
    *,
    unique: bool = False,
    choices: int = 1,
    most_draws: int = MOST_DRAWS,
    on_draw: Callable[[Drawn], None] = lambda _: None,
) -> Iterator[Board]:
    """Yield the boards of a set, one at a time, each the hardest of `choices` eligible ones.

    Parameters
    ----------
    recipe : Recipe
        Size, number and densities of the boards, and the seed.
    appraise : callable
        The solver.
    unique : bool
        Whether a board is eligible only if its clues have no other solution.
    choices : int
        Eligible boards among which the hardest is chosen, for each puzzle.
    most_draws : int
        Boards in a row that may be not eligible.
    on_draw : callable, optional
        Told of every board that is drawn.

    Raises
    ------
    ValueError
        If no board can be made from the recipe.
    NoBoardError
        From the iterator, if `most_draws` boards in a row were not eligible.
    """
    check_numbers(recipe.width, recipe.height, recipe.count, recipe.p1, recipe.p2)
    return _selected(recipe, appraise, unique, choices, most_draws, on_draw)


def _selected(
    recipe: Recipe,
    appraise: Callable[[Puzzle], Appraisal],
    unique: bool,
    choices: int,
    most_draws: int,
    on_draw: Callable[[Drawn], None],
) -> Iterator[Board]:
    width, height = recipe.width, recipe.height
    random = Random(recipe.seed).random
    drawn = 0
    for index in range(recipe.count):
        black = black_cells(index, recipe.count, recipe.p1, recipe.p2, width, height)
        eligible = in_vain = undecided = 0
        hardest: tuple[int, Board] | None = None
        while eligible < choices:
            if in_vain == most_draws:
                raise NoBoardError(_in_vain(index + 1, recipe, black, most_draws, undecided))
            board = draw_board(width, height, black, random)
            appraisal = appraise(board[0])
            drawn += 1
            if appraisal.decided and (appraisal.unique or not unique):
                eligible += 1
                in_vain = undecided = 0
                if hardest is None or appraisal.work > hardest[0]:
                    hardest = appraisal.work, board
            else:
                in_vain += 1
                undecided += not appraisal.decided
            on_draw(Drawn(index + 1, eligible, drawn, appraisal))
        assert hardest is not None
        yield hardest[1]


def _in_vain(puzzle: int, recipe: Recipe, black: int, draws: int, undecided: int) -> str:
    boards = f"puzzle {puzzle}: of {draws} boards of {recipe.width}x{recipe.height} with {black} black cells"
    if undecided == draws:
        return f"{boards} none was decided in time"
    return f"{boards} none has exactly one solution" + (f", {undecided} not decided in time" if undecided else "")
