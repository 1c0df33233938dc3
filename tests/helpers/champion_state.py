"""The champion's memory in the hands of a test: a puzzle in it, its variables by name, its trail and clauses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.champion.clauses import HEADER
from nonobot.bot.strategy import put_puzzle
from nonobot.protocol import Puzzle
from tests import naive
from tests.helpers.boards import put_mask
from tests.helpers.champion_kernels import Kernel

Variable = tuple[int, ...]
"""(y, x): the cell is black; (line, block, place): the block starts at `place` or before."""

Literal = tuple[Variable, bool]


class ChampionState:
    """The memory of a strategy, to be set and looked at from outside.

    Lines are numbered as in :mod:`nonobot.bot.champion.state`: rows, then columns. `bits` is the width of masks.
    """

    def __init__(self, bits: int = 64) -> None:
        self.puzzle = Puzzle.unchecked(columns=((),), rows=((),))
        self.m = ChampionStrategy(least_bits=bits).load(self.puzzle)
        self.longest = bits - 2

    def load(self, puzzle: Puzzle) -> None:
        """Start a search at level 0 that knows nothing but the puzzle; it need not have a solution."""
        self.puzzle = puzzle
        self._facts: dict[int, list[dict[Variable, bool]]] = {}
        put_puzzle(self.m, puzzle, None)
        self["root.black"].fill(0)
        self["root.white"].fill(0)
        assert Kernel.start(self.m)

    def __getitem__(self, path: str) -> np.ndarray:
        return self.m.view(path)

    def one(self, path: str) -> int:
        return int(self[path][0])

    def paint(self, line: int, black: int, white: int) -> None:
        put_mask(self["board.black"], line, black)
        put_mask(self["board.white"], line, white)

    # Lines

    @property
    def clues(self) -> list[tuple[int, ...]]:
        return [*self.puzzle.rows, *self.puzzle.columns]

    def length(self, line: int) -> int:
        return self.puzzle.width if line < self.puzzle.height else self.puzzle.height

    def cell(self, line: int, i: int) -> tuple[int, int]:
        return (line, i) if line < self.puzzle.height else (i, line - self.puzzle.height)

    def lines_of(self, variables: Sequence[Variable]) -> list[int]:
        """Return the lines that all of the variables belong to."""
        of_each = [
            {variable[0]} if len(variable) == 3 else {variable[0], self.puzzle.height + variable[1]}
            for variable in variables
        ]
        return sorted(set.intersection(*of_each))

    def facts(self, line: int) -> list[dict[Variable, bool]]:
        """Return for each placement of a line what it says of each of the line's variables."""
        if line in self._facts:
            return self._facts[line]
        every = self._facts[line] = []
        for placement in naive.placements(tuple(self.clues[line]), self.length(line)):
            says: dict[Variable, bool] = {self.cell(line, i): bool(c) for i, c in enumerate(placement)}
            for block, start in enumerate(naive.block_starts(placement)):
                for place in range(self.length(line)):
                    says[line, block, place] = start <= place
            every.append(says)
        return every

    # Variables and literals

    def name(self, variable: int) -> Variable:
        if variable < self.one("cells"):
            return divmod(variable, self.puzzle.width)
        fields = ("bound_line", "bound_block", "bound_place")
        line, block, place = (int(self[field][variable]) for field in fields)
        return line, block, place

    def literal(self, number: int) -> Literal:
        return self.name(number >> 1), not number & 1

    def value(self, variable: int) -> bool | None:
        value = int(self["value"][2 * variable])
        assert int(self["value"][2 * variable + 1]) == -value
        return None if value == 0 else value > 0

    def known(self) -> dict[Variable, bool]:
        values = ((v, self.value(v)) for v in range(self.one("variables")))
        return {self.name(variable): value for variable, value in values if value is not None}

    # The trail

    def open_level(self) -> None:
        level = self.one("level")
        if level == 0:
            Kernel.take_over_root(self.m)
        self["level_start"][level] = self.one("trail_size")
        self["level"][0] = level + 1

    def event_of(self, variable: int) -> int:
        return int(self["event_of"][variable])

    def level_of(self, variable: int) -> int:
        return int(self["event_level"][self.event_of(variable)])

    def reason(self, event: int) -> int:
        return int(self["trail"]["reason"][event])

    def reasons(self, variable: int) -> list[int]:
        """Return the variables that explain the value of one that was not decided."""
        reason = self.reason(self.event_of(variable))
        if reason >= 0:
            assert self.clause(reason)[0] >> 1 in self.variables_of(self.event_of(variable))
            return [literal >> 1 for literal in self.clause(reason)[1:]]
        end = Kernel.reasons(self.m, variable, 0)
        return self["reasons"][:end].tolist()

    def variables_of(self, event: int) -> list[int]:
        every = range(self.one("variables"))
        return [v for v in every if self.value(v) is not None and self.event_of(v) == event]

    # Clauses

    def add_clause(self, literals: Sequence[int], lbd: int) -> int:
        self["learned"][: len(literals)] = literals
        self["learned_size"][0] = len(literals)
        self["learned_lbd"][0] = lbd
        return int(Kernel.add_clause(self.m))

    def clause(self, place: int) -> tuple[int, ...]:
        literals = self["arena"][place + HEADER :]
        return tuple(literals[: self.header(place)["size"]].tolist())

    def header(self, place: int) -> np.void:
        """Return what the memory says of a clause beside its literals."""
        return self["clause"][place]

    def clauses(self) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """Yield of each clause its place, its literals and its LBD with flags."""
        for place in self["clauses"][: self.one("clause_count")].tolist():
            yield place, self.clause(place), int(self.header(place)["flags"])


def holds(literal: Literal, grid: naive.Grid) -> bool:
    """Tell whether a literal is true of a painted board."""
    variable, positive = literal
    if len(variable) == 2:
        return bool(grid[variable[0]][variable[1]]) == positive
    line, block, place = variable
    cells = grid[line] if line < len(grid) else [row[line - len(grid)] for row in grid]
    return (naive.block_starts(cells)[block] <= place) == positive
