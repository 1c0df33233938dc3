"""The ranking as text, Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from nonobot.harness.ranking.standings import Evidence, Ranking, Row, Scope, slowest_place
from nonobot.harness.results.result_files import json_document
from nonobot.harness.results.run_result import EndReason, Verdict
from nonobot.harness.text import GAP, MEBIBYTE, NOTHING, drawn, first_of, in_unit, new_table, spaced, styled, width
from nonobot.system import shortened

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

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
    for ranking in ranked:
        for row in ranking.rows:
            values = _values(row)
            pairings = values.pop("pairings")
            verdicts = {name.replace("-", "_"): count for name, count in values.pop("verdicts").items()}
            lists = {
                "set_name": [facts.name for facts in ranking.sets],
                "set_sha256": [facts.sha256 for facts in ranking.sets],
                "ends": row.ends,
            }
            joined = {name: _no_formula(";".join(map(_cell, entries))) for name, entries in lists.items()}
            joined["files"] = _no_formula(shortened(";".join(row.files), 100_000))
            texts = {name: _no_formula(_cell(value)) for name, value in values.items() if isinstance(value, str)}
            writer.writerow({**values, **texts, **verdicts, **joined, "scope": ranking.scope.value})
            for pairing in pairings:
                opponent = _no_formula(_cell(pairing["opponent"]))
                writer.writerow({**pairing, "scope": "pairing", "bot": texts["bot"], "opponent": opponent})
    return text.getvalue()


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
    parts: list[str] = []
    for ranking in ranked:
        parts.append(f"## {_escaped(ranking.title)}")
        parts.append("\n".join(f"- {_escaped(note)}" for note in ranking.notes))
        if ranking.rows:
            columns = _columns(ranking)
            ruler = ["---" if name in WORDS else "---:" for name in columns]
            names = [_escaped(name) if name.startswith(AGAINST) else name for name in columns]
            rows = [map(_escaped, cells) for cells in zip(*columns.values(), strict=True)]
            parts.append("\n".join(f"| {' | '.join(line)} |" for line in (names, ruler, *rows)))
        if ranking.warnings:
            parts.append("\n".join(f"- **warning:** {_escaped(line)}" for line in ranking.warnings))
    return "\n\n".join(parts) + "\n"


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|~$#])", r"\\\1", shortened(text))


def as_text(ranked: Sequence[Ranking], terminal: bool) -> str:
    """Return tables for a screen, in colour only if `terminal` is true and NO_COLOR is not set.

    Only a terminal limits their width.
    """
    blocks: list[Sequence[RenderableType]] = []
    left_out: dict[str, None] = {}
    room = widest = width(terminal)
    for ranking in ranked:
        columns = _columns(ranking) if ranking.rows else {}
        shown, pairings = _fitted(columns, room) if terminal else (columns, {})
        left_out |= dict.fromkeys(name for name in columns if name not in {**shown, **pairings})
        blocks.append([styled(ranking.title, "bold"), *(styled(note, "dim") for note in ranking.notes)])
        if ranking.rows:
            blocks.append([_table(ranking, shown)])
            widest = room if terminal else max(widest, _width(shown))
        if pairings:
            blocks += _cross_tables(columns["bot"], pairings, room)
        blocks.append([styled(f"warning: {line}", "yellow") for line in ranking.warnings])
    if left_out:
        line = f"no room for {first_of([*left_out], 4)}: a wider terminal, or -o FILE, has them"
        blocks.append([styled(line, "dim")])
    return drawn(spaced(*blocks), terminal, widest)


Columns = Mapping[str, list[str]]  # by their names, with a cell for each row


def _fitted(columns: Columns, room: int) -> tuple[Columns, Columns]:
    """Return the columns that fit in a table of this width, and the pairings if they need tables of their own."""
    if _width(columns) <= room:
        return columns, {}
    short = {name: [*map(_short, cells)] if name == "bot" else cells for name, cells in columns.items()}
    pairings = {name: cells for name, cells in columns.items() if name.startswith(AGAINST)}
    fitting = _without_given_up(short, room)
    if not pairings or _width(fitting) <= room:
        return fitting, {}
    return _without_given_up(
        {name: cells for name, cells in short.items() if name not in pairings}, room
    ), pairings


def _without_given_up(columns: Columns, room: int) -> Columns:
    for name in GIVEN_UP:
        if _width(columns) > room:
            columns = {other: cells for other, cells in columns.items() if other != name}
    return columns


def _width(columns: Columns) -> int:
    from rich.text import Text

    return sum(max(Text(text).cell_len for text in [name, *cells]) + GAP for name, cells in columns.items()) - GAP


def _short(name: str) -> str:
    return shortened(name, MOST_OF_A_NAME)


def _cross_tables(bots: Sequence[str], pairings: Columns, room: int) -> list[list[RenderableType]]:
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
    blocks: list[list[RenderableType]] = [[styled("cross table: points (solved : conceded)", "dim")]]
    for first in range(0, len(against), columns_of_a_part):
        part = {**rows, **dict([*against.items()][first : first + columns_of_a_part])}
        table = new_table([*part], left=(1,), no_wrap=True)
        for cells in zip(*part.values(), strict=True):
            table.add_row(*map(styled, cells))
        blocks.append([table])
    return blocks


def _table(ranking: Ranking, columns: Columns) -> Table:
    table = new_table()
    for name in columns:
        # On a narrow screen words may be broken into lines, but never numbers.
        table.add_column(styled(name), justify="left" if name in WORDS else "right", no_wrap=name not in WORDS)
    for row, cells in zip(ranking.rows, zip(*columns.values(), strict=True), strict=True):
        is_first = row.rank == 1 and ranking.scope is not Scope.LOGS
        table.add_row(*map(styled, cells), style="bold" if is_first else "")
    return table


def _columns(ranking: Ranking) -> dict[str, list[str]]:
    """Return the columns that people see, by their names, with a cell for each row."""
    ranked = [row.bot for row in ranking.rows] if ranking.scope is Scope.MATCH else []
    others = [pairing.opponent for row in ranking.rows for pairing in row.pairings]  # some without a run so far
    cells: dict[str, Callable[[Row], str]] = {
        "#": lambda row: str(row.rank),
        "bot": lambda row: row.bot,
        "version": lambda row: row.version or NOTHING,
        "points": lambda row: str(row.points),
        "solved": lambda row: str(row.solved),
        **{f"{AGAINST}{name}": partial(_pairing, name) for name in dict.fromkeys(ranked + others)},
        "logged": lambda row: str(row.logged),
        "right": lambda row: str(row.right),
        "wrong": lambda row: str(row.verdicts[Verdict.WRONG]),
        "other": _others,
        "time s": lambda row: in_unit(row.time_seconds, 1, 2),
        "own s": lambda row: in_unit(row.own_seconds, 1, 2),
        "CPU s": lambda row: in_unit(row.cpu_seconds, 1, 2),
        "peak MiB": lambda row: in_unit(row.peak_memory_bytes, MEBIBYTE, 0),
        "median ms": lambda row: in_unit(row.median_seconds, 1e-3, 2),
        "slowest s": lambda row: _slowest(row, ranking),
        "end": _end,
        "runs": lambda row: str(row.run_count),
    }
    absent = ABSENT[ranking.scope].copy()
    if all(row.run_count == 1 for row in ranking.rows):
        absent.add("runs")
    if all(row.version is None for row in ranking.rows):
        absent.add("version")
    if all(row.own_seconds is None for row in ranking.rows):
        absent.add("own s")
    return {name: [_cell(cell(row)) for row in ranking.rows] for name, cell in cells.items() if name not in absent}


def _pairing(opponent: str, row: Row) -> str:
    return next((str(pairing) for pairing in row.pairings if pairing.opponent == opponent), "")


def _others(row: Row) -> str:
    others = [verdict for verdict in row.verdicts if verdict not in (Verdict.RIGHT, Verdict.WRONG)]
    named = [f"{row.verdicts[verdict]} {verdict}" for verdict in others if row.verdicts[verdict]]
    return ", ".join(named) or NOTHING


def _slowest(row: Row, ranking: Ranking) -> str:
    place = slowest_place(row, ranking)
    return f"{in_unit(row.slowest_seconds, 1, 3)} ({place})" if place else NOTHING


def _end(row: Row) -> str:
    """Return every end other than `finished`, otherwise that."""
    if row.evidence is Evidence.ANSWERS:
        return "answers only"
    others = [end for end in row.ends if end != EndReason.FINISHED]
    return ", ".join(dict.fromkeys(others)) or EndReason.FINISHED.value
