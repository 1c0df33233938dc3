"""Sets of boards selected from many: those with exactly one solution, or those that are hardest for a solver.

For each puzzle, boards with its number of black cells are drawn until enough of them are eligible. The hardest
eligible board is kept, or the first of equals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal

from nonobot.protocol import Puzzle
from nonobot.tournament_data.generate import Board, Recipe, black_cells, check_numbers, draw_board

MOST_DRAWS = 10_000  # largest number of consecutive boards that are not eligible, before the search is given up

Level = Literal["lines", "probing", "search"]
"""Method that finds the only solution: one line at a time; trying cells in both colours (FP1); or a search."""


class NoBoardError(Exception):
    """No eligible board was found; the message is one text line that names the puzzle."""


@dataclass(frozen=True, slots=True)
class Grade:
    """Findings of a solver about a board."""

    decided: bool  # whether the solver finished; otherwise the board is skipped
    unique: bool  # whether the clues are known to have exactly one solution
    work: int  # line solves, which do not depend on the machine
    conflicts: int = 0  # contradictions in the search
    level: Level | None = None  # difficulty of a unique board, if requested


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for selecting the boards of a set."""

    unique: bool = False  # only boards whose clues have no other solution are eligible
    choices: int = 1  # number of eligible boards per puzzle, of which the hardest is kept
    most_draws: int = MOST_DRAWS  # largest number of consecutive boards that are not eligible

    def eligible(self, grade: Grade) -> bool:
        """Return whether a board with this grade may be kept."""
        return grade.decided and (grade.unique or not self.unique)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Progress of a selection."""

    puzzle: int  # puzzle of the last board, counted from 1
    eligible: int  # eligible boards of this puzzle so far
    boards: int  # boards drawn since the start
    grade: Grade  # grade of the last board


def drawn_board(recipe: Recipe, index: int, draw: int) -> Board:
    """Return board number `draw` for puzzle `index`, both counted from 0.

    It has its own random numbers, so that any machine can make it, and many machines select the same boards.
    """
    # `Random` derives its state from a text by SHA-512, identically in all versions of Python since 3.2.
    random = Random(f"{abs(recipe.seed):x} {index} {draw}").random
    return draw_board(recipe.width, recipe.height, _black_cells(recipe, index), random)


def _black_cells(recipe: Recipe, index: int) -> int:
    return black_cells(index, recipe.count, recipe.p1, recipe.p2, recipe.width, recipe.height)


class Choice:
    """Selection of the board for one puzzle, from the grades of its boards in order."""

    def __init__(self, rules: Rules) -> None:
        self.drawn = 0
        self.eligible = 0
        self._rules = rules
        self._in_vain = 0
        self._undecided = 0
        self._hardest = (-1, 0)  # its work and its draw

    @property
    def missing(self) -> int:
        """Number of eligible boards still to find."""
        return self._rules.choices - self.eligible

    @property
    def most(self) -> int:
        """Number of further boards after which the selection is over if none of them is eligible."""
        return self._rules.most_draws - self._in_vain

    @property
    def hopeless(self) -> bool:
        """Whether too many consecutive boards were not eligible."""
        return self.most <= 0

    @property
    def over(self) -> bool:
        """Whether the selection needs no further board."""
        return self.missing == 0 or self.hopeless

    def add(self, grade: Grade) -> None:
        """Add the grade of the next board."""
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
        """Return the board for puzzle `index` after the selection, or raise NoBoardError."""
        if not self.hopeless:
            return drawn_board(recipe, index, self._hardest[1])
        reason = "was decided in time"
        if self._undecided < self._in_vain:
            more = f", {self._undecided} not decided in time" if self._undecided else ""
            reason = f"has exactly one solution{more}"
        boards = f"{self._in_vain} boards of {recipe.width}x{recipe.height}"
        raise NoBoardError(
            f"puzzle {index + 1}: of {boards} with {_black_cells(recipe, index)} black cells none {reason}"
        )


def select(
    recipe: Recipe,
    grade_board: Callable[[Puzzle], Grade],
    rules: Rules,
    on_draw: Callable[[Drawn], None] = lambda _: None,
) -> Iterator[Board]:
    """Yield the boards of a set, one at a time, each the hardest of the eligible ones.

    ValueError: the recipe makes no board. NoBoardError, later: too many consecutive boards were not eligible.
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
