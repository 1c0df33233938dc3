"""The ranking as text, Markdown, CSV and JSON: its columns, and which of them a screen has room for."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from nonobot.harness.ranking.standings import Evidence, Ranking, Row, Scope, slowest_place
from nonobot.harness.results.result_files import json_document
from nonobot.harness.results.run_result import EndReason, Verdict
from nonobot.harness.text import GAP, MEBIBYTE, NOTHING, drawn, first_of, in_unit, new_table, spaced, styled, width
from nonobot.system import shortened

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

T = TypeVar("T")

WORDS = ("bot", "version", "other", "end")  # columns without numbers
GIVEN_UP = ("peak MiB", "CPU s", "median ms", "own s", "runs", "version", "slowest s")
"""Columns that a narrow terminal omits, in this order."""

AGAINST = "vs "  # beginning of the name of a column of a cross table
MOST_OF_A_NAME = 24  # characters of a bot's name, on a terminal without room for the table
MATCH_COLUMNS = {"points", "solved"}
ABSENT = {
    Scope.SET: {"logged", *MATCH_COLUMNS},
    Scope.OVERALL: {"logged", *MATCH_COLUMNS},
    Scope.MATCH: {"logged", "right", "wrong", "other", "CPU s", "peak MiB", "median ms", "slowest s"},
    Scope.LOGS: {"right", "wrong", "other", "CPU s", "peak MiB", "end", *MATCH_COLUMNS},
}
"""Columns that a ranking does not have."""

CSV_COLUMNS = (
    *("scope", "set_name", "set_sha256", "rank", "bot", "evidence", "puzzle_count", "logged"),
    *(verdict.value.replace("-", "_") for verdict in Verdict),
    *("time_seconds", "cpu_seconds", "peak_memory_bytes", "median_seconds"),
    *("slowest_seconds", "slowest_puzzle", "slowest_set", "ends", "run_count", "files", "own_seconds", "version"),
    *("points", "solved", "opponent", "conceded"),
)
"""Columns of the CSV form; new ones are only added at the end."""


def as_json(ranked: Sequence[Ranking], problems: Sequence[str]) -> str:
    """Return all rankings as JSON text."""
    sections = [
        msgspec.to_builtins(replace(ranking, rows=[])) | {"rows": [_values(row) for row in ranking.rows]}
        for ranking in ranked
    ]
    return json_document("table", sections=sections, errors=list(problems))


def as_csv(ranked: Sequence[Ranking]) -> str:
    """Return one line for each row of each ranking, and each pairing of a match.

    Unknown values are empty, lists are separated by `;`.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(line for ranking in ranked for row in ranking.rows for line in _csv_lines(row, ranking))
    return text.getvalue()


def _csv_lines(row: Row, ranking: Ranking) -> Iterator[dict[str, Any]]:
    values = _values(row)
    pairings, verdicts = values.pop("pairings"), values.pop("verdicts")
    lists = {
        "set_name": [facts.name for facts in ranking.sets],
        "set_sha256": [facts.sha256 for facts in ranking.sets],
        "ends": row.ends,
    }
    joined = {name: _no_formula(";".join(map(_cell, entries))) for name, entries in lists.items()}
    joined["files"] = _no_formula(shortened(";".join(row.files), 100_000))
    texts = {name: _no_formula(_cell(value)) for name, value in values.items() if isinstance(value, str)}
    counts = {name.replace("-", "_"): count for name, count in verdicts.items()}
    yield {**values, **texts, **counts, **joined, "scope": ranking.scope.value}
    for pairing in pairings:
        opponent = _no_formula(_cell(pairing["opponent"]))
        yield {**pairing, "scope": "pairing", "bot": texts["bot"], "opponent": opponent}


def _no_formula(text: str) -> str:
    """Return a text that no spreadsheet computes: a stranger chooses the names of bots and sets."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def _cell(text: str) -> str:
    return shortened(text, 200)


def _values(row: Row) -> dict[str, Any]:
    """Return a row as plain values, with the names of its files instead of their results."""
    names = ["files" if column.name == "results" else column.name for column in fields(row)]
    values = {name: msgspec.to_builtins(getattr(row, name)) for name in names}
    pairings = [{**msgspec.to_builtins(pairing), "points": pairing.points} for pairing in row.pairings]
    return values | {"pairings": pairings}


def as_markdown(ranked: Sequence[Ranking]) -> str:
    """Return a Markdown table for each ranking, with its notes above it and its warnings below."""
    return "\n\n".join(part for ranking in ranked for part in _markdown(ranking) if part) + "\n"


def _markdown(ranking: Ranking) -> Iterator[str]:
    yield f"## {_escaped(ranking.title)}"
    yield "\n".join(f"- {_escaped(note)}" for note in ranking.notes)
    if columns := _columns(ranking):
        ruler = ["---" if name in WORDS else "---:" for name in columns]
        names = [_escaped(name) if name.startswith(AGAINST) else name for name in columns]
        rows = [map(_escaped, cells) for cells in zip(*columns.values(), strict=True)]
        yield "\n".join(f"| {' | '.join(line)} |" for line in (names, ruler, *rows))
    yield "\n".join(f"- **warning:** {_escaped(line)}" for line in ranking.warnings)


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|~$#])", r"\\\1", shortened(text))


def as_text(ranked: Sequence[Ranking], terminal: bool) -> str:
    """Return tables for a screen, in colour only if `terminal` is true and NO_COLOR is not set.

    Only a terminal limits their width.
    """
    room = width(terminal)
    views = [_View(ranking, room if terminal else None) for ranking in ranked]
    blocks = [block for view in views for block in view.blocks(room)]
    if left_out := dict.fromkeys(name for view in views for name in view.left_out):
        line = f"no room for {first_of([*left_out], 4)}: a wider terminal, or -o FILE, has them"
        blocks.append([styled(line, "dim")])
    widest = room if terminal else max([room, *(_width(view.shown) for view in views)])
    return drawn(spaced(*blocks), terminal, widest)


Columns = Mapping[str, list[str]]  # by their names, with a cell for each row


class _View:
    """A ranking for a screen: its columns `shown` in `room`, and pairings that need tables of their own."""

    def __init__(self, ranking: Ranking, room: int | None) -> None:
        self._ranking = ranking
        self._columns = _columns(ranking)
        self.shown: Columns = self._columns
        self._pairings: Columns = {}
        if room is not None and _width(self._columns) > room:
            self._fit(room)
        self.left_out = _without(self._columns, {**self.shown, **self._pairings})

    def _fit(self, room: int) -> None:
        short = {**self._columns, "bot": [*map(_short, self._columns["bot"])]}
        pairings = {name: cells for name, cells in short.items() if name.startswith(AGAINST)}
        self.shown = _without_given_up(short, room)
        if pairings and _width(self.shown) > room:
            self.shown, self._pairings = _without_given_up(_without(short, pairings), room), pairings

    def blocks(self, room: int) -> Iterator[Sequence[RenderableType]]:
        """Yield its title with the notes, its tables and its warnings."""
        ranking = self._ranking
        yield [styled(ranking.title, "bold"), *(styled(note, "dim") for note in ranking.notes)]
        yield [_table(ranking, self.shown)] if self.shown else []
        if self._pairings:
            yield from _cross_tables(self._columns["bot"], self._pairings, room)
        yield [styled(f"warning: {line}", "yellow") for line in ranking.warnings]


def _without(columns: Mapping[str, T], names: Container[str]) -> dict[str, T]:
    return {name: column for name, column in columns.items() if name not in names}


def _without_given_up(columns: Columns, room: int) -> Columns:
    for name in GIVEN_UP:
        if _width(columns) > room:
            columns = _without(columns, [name])
    return columns


def _width(columns: Columns) -> int:
    from rich.text import Text

    return sum(max(Text(text).cell_len for text in [name, *cells]) + GAP for name, cells in columns.items()) - GAP


def _short(name: str) -> str:
    return shortened(name, MOST_OF_A_NAME)


def _cross_tables(bots: Sequence[str], pairings: Columns, room: int) -> Iterator[Sequence[RenderableType]]:
    """Return the cross table of a match in parts of this width: bots have numbers, which name the columns."""
    names = [
        column.removeprefix(AGAINST) for column in pairings
    ]  # in the order of `bots`, then those without a run
    numbers = [str(number) for number in range(1, len(names) + 1)]
    rows = {"no.": numbers, "bot": [*map(_short, names)]}
    absent = [""] * (len(names) - len(bots))
    against = {
        f"{AGAINST}{number}": cells + absent for number, cells in zip(numbers, pairings.values(), strict=True)
    }
    cell_width = max(_width({name: cells}) for name, cells in against.items()) + GAP
    columns_of_a_part = max(1, (room - _width(rows)) // cell_width)
    yield [styled("cross table: points (solved : conceded)", "dim")]
    for first in range(0, len(against), columns_of_a_part):
        part = {**rows, **dict([*against.items()][first : first + columns_of_a_part])}
        table = new_table([*part], left=(1,), no_wrap=True)
        for cells in zip(*part.values(), strict=True):
            table.add_row(*map(styled, cells))
        yield [table]


def _table(ranking: Ranking, columns: Columns) -> Table:
    table = new_table()
    for name in columns:
        # On a narrow screen words may be broken into lines, but never numbers.
        table.add_column(styled(name), justify="left" if name in WORDS else "right", no_wrap=name not in WORDS)
    for row, cells in zip(ranking.rows, zip(*columns.values(), strict=True), strict=True):
        is_first = row.rank == 1 and ranking.scope is not Scope.LOGS
        table.add_row(*map(styled, cells), style="bold" if is_first else "")
    return table


def _pairing(opponent: str, row: Row, _: Ranking) -> str:
    return next((str(pairing) for pairing in row.pairings if pairing.opponent == opponent), "")


def _others(row: Row, _: Ranking) -> str:
    counts = {verdict: row.verdicts[verdict] for verdict in row.verdicts.keys() - {Verdict.RIGHT, Verdict.WRONG}}
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts.get(verdict)) or NOTHING


def _slowest(row: Row, ranking: Ranking) -> str:
    place = slowest_place(row, ranking)
    return f"{in_unit(row.slowest_seconds, 1, 3)} ({place})" if place else NOTHING


def _end(row: Row, _: Ranking) -> str:
    """Return every end other than `finished`, otherwise that."""
    if row.evidence is Evidence.ANSWERS:
        return "answers only"
    others = [end for end in row.ends if end != EndReason.FINISHED]
    return ", ".join(dict.fromkeys(others)) or EndReason.FINISHED.value


Cells = Mapping[str, Callable[[Row, Ranking], str]]

NAMES: Cells = {
    "#": lambda row, _: str(row.rank),
    "bot": lambda row, _: row.bot,
    "version": lambda row, _: row.version or NOTHING,
    "points": lambda row, _: str(row.points),
    "solved": lambda row, _: str(row.solved),
}
FIGURES: Cells = {
    "logged": lambda row, _: str(row.logged),
    "right": lambda row, _: str(row.right),
    "wrong": lambda row, _: str(row.verdicts[Verdict.WRONG]),
    "other": _others,
    "time s": lambda row, _: in_unit(row.time_seconds, 1, 2),
    "own s": lambda row, _: in_unit(row.own_seconds, 1, 2),
    "CPU s": lambda row, _: in_unit(row.cpu_seconds, 1, 2),
    "peak MiB": lambda row, _: in_unit(row.peak_memory_bytes, MEBIBYTE, 0),
    "median ms": lambda row, _: in_unit(row.median_seconds, 1e-3, 2),
    "slowest s": _slowest,
    "end": _end,
    "runs": lambda row, _: str(row.run_count),
}
"""The columns that people see, in their order; those for each opponent come between."""

OF_SOME: dict[str, Callable[[Row], bool]] = {
    "runs": lambda row: row.run_count > 1,
    "version": lambda row: row.version is not None,
    "own s": lambda row: row.own_seconds is not None,
}
"""Columns that a ranking has if any of its rows needs it."""


def _columns(ranking: Ranking) -> dict[str, list[str]]:
    """Return the columns that people see, by their names, with a cell for each row; none without rows."""
    rows = ranking.rows
    absent = ABSENT[ranking.scope] | {name for name, needs in OF_SOME.items() if not any(map(needs, rows))}
    cells: Cells = _without({**NAMES, **_against(ranking), **FIGURES}, absent)
    return {name: [_cell(cell(row, ranking)) for row in rows] for name, cell in cells.items()} if rows else {}


def _against(ranking: Ranking) -> Cells:
    if ranking.scope is not Scope.MATCH:
        return {}
    opponents = [pairing.opponent for row in ranking.rows for pairing in row.pairings]  # some without a run so far
    everyone = dict.fromkeys([*(row.bot for row in ranking.rows), *opponents])
    return {f"{AGAINST}{name}": partial(_pairing, name) for name in everyone}
