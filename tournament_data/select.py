"""Sets of boards chosen from many: with exactly one solution, or those that cost a solver most.

For each puzzle boards with its number of black cells are drawn until as many as wanted are eligible, and of these
the one that cost most is kept, the first of equals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal

from nonobot.protocol import Puzzle
from nonobot.tournament_data.generate import Board, Recipe, black_cells, check_numbers, draw_board

MOST_DRAWS = 10_000
"""Boards in a row of which none is eligible before a search is given up: a minute or two at 25x25."""

Level = Literal["lines", "probing", "search"]
"""What the only solution takes: one line at a time; trying cells in both colours (FP1); or neither is enough."""


class NoBoardError(Exception):
    """No eligible board turned up; the message is one line that says for which puzzle."""


@dataclass(frozen=True, slots=True)
class Grade:
    """The findings of a solver about a board."""

    decided: bool  # whether the solver came to an end; otherwise the board is passed over
    unique: bool  # whether the clues are known to have exactly one solution
    work: int  # cost, in steps that do not depend on the machine
    conflicts: int = 0  # contradictions that the search met
    level: Level | None = None  # of a unique board, where it was asked for


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for keeping boards of a set."""

    unique: bool = False  # whether a board is eligible only if its clues have no other solution
    choices: int = 1  # eligible boards among which the hardest is chosen, for each puzzle
    most_draws: int = MOST_DRAWS  # boards in a row that may be not eligible

    def eligible(self, grade: Grade) -> bool:
        """Return whether a board may be chosen."""
        return grade.decided and (grade.unique or not self.unique)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The progress of a selection."""

    puzzle: int  # for which a board was just drawn, counted from 1
    eligible: int  # boards found for it so far
    boards: int  # drawn since the start
    grade: Grade  # of the board that was just drawn


def drawn_board(recipe: Recipe, index: int, draw: int) -> Board:
    """Return a board for puzzle `index`, counted from 0, after `draw` other boards were drawn for it.

    It has random numbers of its own: it can be made anywhere, and many machines choose the boards that one would.
    """
    # `Random` makes numbers of a text by SHA-512, alike in every version of Python since 3.2.
    random = Random(f"{abs(recipe.seed):x} {index} {draw}").random
    return draw_board(recipe.width, recipe.height, _black_cells(recipe, index), random)


def _black_cells(recipe: Recipe, index: int) -> int:
    return black_cells(index, recipe.count, recipe.p1, recipe.p2, recipe.width, recipe.height)


class Choice:
    """The choice of a board for one puzzle, by the grades of the boards in the order of the draws."""

    def __init__(self, rules: Rules) -> None:
        self.drawn = 0
        self.eligible = 0
        self._rules = rules
        self._in_vain = 0
        self._undecided = 0
        self._hardest = (-1, 0)  # its work and its draw

    @property
    def missing(self) -> int:
        """Eligible boards still to be found."""
        return self._rules.choices - self.eligible

    @property
    def most(self) -> int:
        """Boards after which the choice is over if none of them is eligible."""
        return self._rules.most_draws - self._in_vain

    @property
    def hopeless(self) -> bool:
        """Whether too many boards in a row are not eligible."""
        return self.most <= 0

    @property
    def over(self) -> bool:
        """Whether no further board is to be drawn."""
        return self.missing == 0 or self.hopeless

    def add(self, grade: Grade) -> None:
        """Take the next board."""
        if self._rules.eligible(grade):
            self.eligible += 1
            self._in_vain = self._undecided = 0
            if grade.work > self._hardest[0]:
                self._hardest = grade.work, self.drawn
        else:
            self._in_vain += 1
            self._undecided += not grade.decided
        self.drawn += 1

    def board(self, recipe: Recipe, index: int) -> Board:
        """Return the board for puzzle `index`, once the choice is over, or raise NoBoardError."""
        if not self.hopeless:
            return drawn_board(recipe, index, self._hardest[1])
        if self._undecided == self._in_vain:
            reason = "was decided in time"
        else:
            reason = "has exactly one solution"
            reason += f", {self._undecided} not decided in time" if self._undecided else ""
        raise NoBoardError(
            f"puzzle {index + 1}: of {self._in_vain} boards of {recipe.width}x{recipe.height} with "
            f"{_black_cells(recipe, index)} black cells none {reason}"
        )


def select(
    recipe: Recipe,
    grade_board: Callable[[Puzzle], Grade],
    rules: Rules,
    on_draw: Callable[[Drawn], None] = lambda _: None,
) -> Iterator[Board]:
    """Yield the boards of a set, one at a time, each the hardest of the eligible ones.

    ValueError: no board can be made from the recipe. NoBoardError, from the iterator: too many boards in a row
    were not eligible.
    """
    check_numbers(recipe.width, recipe.height, recipe.count, recipe.p1, recipe.p2)
    return _selected(recipe, grade_board, rules, on_draw)


def _selected(
    recipe: Recipe, grade_board: Callable[[Puzzle], Grade], rules: Rules, on_draw: Callable[[Drawn], None]
) -> Iterator[Board]:
    boards = 0
    for index in range(recipe.count):
        choice = Choice(rules)
        while not choice.over:
            grade = grade_board(drawn_board(recipe, index, choice.drawn)[0])
            choice.add(grade)
            boards += 1
            on_draw(Drawn(index + 1, choice.eligible, boards, grade))
        yield choice.board(recipe, index)
