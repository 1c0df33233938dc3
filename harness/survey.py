"""Difficulty of random boards by size and density, as counts that can be added up from any worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from nonobot import __version__
from nonobot.harness.results.result_files import json_document
from nonobot.harness.text import NOTHING, drawn, in_unit, new_table, percent
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.generate import black_cells
from nonobot.tournament_data.select import Grade

STEP_PERCENT = 5  # step of the shares of black cells by which boards are grouped


class BoardKind(NamedTuple):
    """Size of boards and their share of black cells, to the nearest `STEP_PERCENT`."""

    width: int
    height: int
    percent: int

    @classmethod
    def of(cls, width: int, height: int, black: int) -> BoardKind:
        """Return the kind of a board with `black` black cells; halfway between two steps is rounded up."""
        step = STEP_PERCENT * width * height
        return cls(width, height, (200 * black + step) // (2 * step) * STEP_PERCENT)

    @classmethod
    def of_puzzle(cls, recipe: Recipe, index: int) -> BoardKind:
        """Return the kind of the boards for puzzle `index` of a set, counted from 0."""
        width, height = recipe.width, recipe.height
        return cls.of(width, height, black_cells(index, recipe.count, recipe.p1, recipe.p2, width, height))


@dataclass(slots=True)
class Row:
    """Counts of the boards of a kind."""

    boards: int = 0
    undecided: int = 0  # given up at a limit
    late: int = 0  # of these, at the time limit: another run may give up others
    unique: int = 0
    lines: int = 0  # of the unique ones, solved by line logic alone
    probing: int = 0  # of the unique ones, solved only with FP1
    work: Counter[int] = field(default_factory=Counter)  # numbers of boards by the champion's rounded count
    conflicts: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0  # to draw and grade, by the clocks of the workers

    def add(self, grade: Grade, line_limit: int) -> None:
        """Count a board that was graded with this limit."""
        self.boards += 1
        self.undecided += not grade.decided
        self.late += not grade.decided and grade.work <= line_limit
        self.unique += grade.unique
        self.lines += grade.level == "lines"
        self.probing += grade.level == "probing"
        self.work[rounded(grade.work)] += 1
        self.conflicts[rounded(grade.conflicts)] += 1

    def __iadd__(self, other: Row) -> Row:
        for attribute in fields(self):
            setattr(self, attribute.name, getattr(self, attribute.name) + getattr(other, attribute.name))
        return self


class Survey:
    """A table of rows by kind of board."""

    def __init__(self) -> None:
        self._rows: dict[BoardKind, Row] = {}

    def row(self, kind: BoardKind) -> Row:
        """Return the row of a kind, created if missing."""
        return self._rows.setdefault(kind, Row())

    def rows(self) -> Iterator[tuple[BoardKind, Row]]:
        """Yield all rows, by size and density."""
        return iter(sorted(self._rows.items()))

    def __iadd__(self, other: Survey) -> Survey:
        for kind, row in other.rows():
            mine = self.row(kind)
            mine += row
        return self


def rounded(number: int) -> int:
    """Return a count rounded down to two digits, so that few values are kept."""
    unit = 10 ** max(0, len(str(number)) - 2)
    return number // unit * unit


def quantile(counts: Counter[int], share: float) -> int:
    """Return the smallest value that at least `share` of the counted values, one or more, do not exceed."""
    wanted, seen = share * counts.total(), 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= wanted:
            break
    return value


def as_text(survey: Survey, terminal: bool) -> str:
    """Return the table for people: shares of each row's boards, and quantiles of the champion's work."""
    boards = ("size", "black", "boards", "lines", "probing", "unique", "undecided")
    table = new_table((*boards, "work 50%", "work 99%", "conflicts 99%", "boards/s"), no_wrap=True)
    last = None
    for kind, row in survey.rows():
        size = f"{kind.width}x{kind.height}"
        shares = (row.lines, row.lines + row.probing, row.unique, row.undecided)
        table.add_row(
            "" if size == last else size,
            f"{kind.percent}%",
            f"{row.boards:,}",
            *(percent(number / row.boards) if number else NOTHING for number in shares),
            *(f"{quantile(row.work, share):,}" for share in (0.5, 0.99)),
            f"{quantile(row.conflicts, 0.99):,}",
            in_unit(row.boards / row.seconds if row.seconds else None, 1, 0),
        )
        last = size
    return drawn([table], terminal)


def as_json(survey: Survey, recipes: Sequence[str], line_limit: int) -> str:
    """Return all counts as JSON text, with the recipes of the boards."""
    rows = []
    for kind, row in survey.rows():
        values = {attribute.name: getattr(row, attribute.name) for attribute in fields(row)}
        for name in ("work", "conflicts"):
            values[name] = dict(sorted(values[name].items()))
        rows.append(kind._asdict() | values)
    of_boards = {"recipes": list(recipes), "line_limit": line_limit, "rows": rows}
    return json_document("survey", version=__version__, **of_boards)
