"""The ranking as text, Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from nonobot.harness.ranking.standings import Evidence, Row, Scope, Section
from nonobot.harness.results.run_result import EndReason, Verdict
from nonobot.harness.text import GAP, NOTHING, drawn, in_unit, new_table, plain, width

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["CSV_COLUMNS", "TABLE_SCHEMA_VERSION", "as_csv", "as_json", "as_markdown", "as_text"]

TABLE_SCHEMA_VERSION = 1
"""Of the JSON form; raised by a change that old readers cannot take."""

WORDS = ("bot", "other", "end")
"""Columns that hold no numbers."""

GIVEN_UP = ("peak MB", "CPU s", "median ms", "runs", "slowest s")
"""Columns that a narrow terminal does without, in this order."""

_OTHERS = tuple(verdict for verdict in Verdict if verdict not in (Verdict.RIGHT, Verdict.WRONG))

CSV_COLUMNS = (
    "scope",
    "set_name",
    "set_sha256",
    "rank",
    "bot",
    "evidence",
    "puzzle_count",
    "logged",
    *(verdict.value.replace("-", "_") for verdict in Verdict),
    "time_seconds",
    "cpu_seconds",
    "peak_memory_bytes",
    "median_seconds",
    "slowest_seconds",
    "slowest_puzzle",
    "slowest_set",
    "ends",
    "run_count",
    "files",
)
"""Columns of the CSV form; new ones are only ever added at the end."""


def as_json(sections: Sequence[Section], problems: Sequence[str]) -> str:
    """Return all of it as JSON text."""
    table = {
        "kind": "table",
        "schema_version": TABLE_SCHEMA_VERSION,
        "sections": [
            msgspec.to_builtins(replace(section, rows=[])) | {"rows": [_plain_values(row) for row in section.rows]}
            for section in sections
        ],
        "problems": list(problems),
    }
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def as_csv(sections: Sequence[Section]) -> str:
    """Return one line for each row of each ranking; what is not known is empty, lists are separated by `;`."""
    text = io.StringIO()
    writer = csv.DictWriter(text, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for section in sections:
        for row in section.rows:
            values = _plain_values(row)
            verdicts = {name.replace("-", "_"): count for name, count in values.pop("verdicts").items()}
            writer.writerow(
                {
                    **values,
                    **verdicts,
                    "scope": section.scope.value,
                    "set_name": ";".join(facts.name for facts in section.sets),
                    "set_sha256": ";".join(facts.sha256 for facts in section.sets),
                    "ends": ";".join(row.ends),
                    "files": ";".join(row.files),
                }
            )
    return text.getvalue()


def _plain_values(row: Row) -> dict[str, Any]:
    """Return a row as plain values, without its runs: they are in their files."""
    values: dict[str, Any] = msgspec.to_builtins(replace(row, runs=[]))
    del values["runs"]
    return values


def as_markdown(sections: Sequence[Section]) -> str:
    """Return a Markdown table for each ranking, with its notes above it and its warnings below."""
    parts: list[str] = []
    for section in sections:
        parts.append(f"## {_escaped(section.title)}")
        parts.append("\n".join(f"- {_escaped(note)}" for note in section.notes))
        if section.rows:
            columns = _columns(section)
            ruler = ["---" if name in WORDS else "---:" for name in columns]
            rows = [[_escaped(cell) for cell in _cells(section, row).values()] for row in section.rows]
            lines = [columns, ruler, *rows]
            parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        if section.warnings:
            parts.append("\n".join(f"- **warning:** {_escaped(line)}" for line in section.warnings))
    return "\n\n".join(parts) + "\n"


def as_text(sections: Sequence[Section], terminal: bool) -> str:
    """Return tables for a screen, in colour only where `terminal` is true and NO_COLOR is not set."""
    from rich.text import Text

    parts: list[RenderableType] = []
    left_out: dict[str, None] = {}
    for section in sections:
        names = _fitting(section, width(terminal))
        left_out |= dict.fromkeys(name for name in _columns(section) if name not in names)
        parts += [*([""] if parts else []), *_renderables(section, names)]
    if left_out:
        line = f"no room for {', '.join(left_out)}: a wider terminal, or --format csv, has them"
        parts += ["", Text(line, "dim")]
    return drawn(parts, terminal)


def _fitting(section: Section, room: int) -> list[str]:
    """Return the columns that fit into `room` of them on the screen: the first of `GIVEN_UP` go first."""
    names = _columns(section)
    rows = [_cells(section, row) for row in section.rows]
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) + GAP for name in names} if rows else {}
    for name in GIVEN_UP:
        if sum(widths.values()) - GAP <= room:
            break
        widths.pop(name, None)
    return list(widths)


def _renderables(section: Section, names: Sequence[str]) -> list[RenderableType]:
    from rich.text import Text

    parts: list[RenderableType] = [Text(plain(section.title), "bold")]
    parts += [Text(plain(note), "dim") for note in section.notes]
    if section.rows:
        table = new_table()
        for name in names:
            # Words may be broken into lines where the screen is narrow, numbers never.
            table.add_column(name, justify="left" if name in WORDS else "right", no_wrap=name not in WORDS)
        for row in section.rows:
            cells = _cells(section, row)
            first = row.rank == 1 and section.scope is not Scope.LOGS
            table.add_row(*(Text(plain(cells[name])) for name in names), style="bold" if first else "")
        parts += [Text(""), table]
    if section.warnings:
        parts += [Text(""), *(Text(f"warning: {plain(line)}", "yellow") for line in section.warnings)]
    return parts


def _columns(section: Section) -> list[str]:
    """Return the names of the columns that people see."""
    if section.scope is Scope.LOGS:
        return ["#", "bot", "logged", "time s", "median ms", "slowest s"]
    names = ["#", "bot", "right", "wrong", "other", "time s", "CPU s", "peak MB", "median ms", "slowest s", "end"]
    return [*names, "runs"] if any(row.run_count > 1 for row in section.rows) else names


def _cells(section: Section, row: Row) -> dict[str, str]:
    """Return what stands in the columns."""
    cells = {
        "#": str(row.rank),
        "bot": row.bot,
        "logged": str(row.logged),
        "right": str(row.right),
        "wrong": str(row.verdicts.get(Verdict.WRONG)),
        "other": ", ".join(f"{row.verdicts[one]} {one}" for one in _OTHERS if row.verdicts.get(one)) or NOTHING,
        "time s": in_unit(row.time_seconds, 1, 2),
        "CPU s": in_unit(row.cpu_seconds, 1, 2),
        "peak MB": in_unit(row.peak_memory_bytes, 1e6, 0),
        "median ms": in_unit(row.median_seconds, 1e-3, 2),
        "slowest s": _slowest(section, row),
        "end": _end(row),
        "runs": str(row.run_count),
    }
    return {name: cells[name] for name in _columns(section)}


def _slowest(section: Section, row: Row) -> str:
    if row.slowest_puzzle is None:
        return NOTHING
    where = (
        f"{row.slowest_set} ${row.slowest_puzzle}" if section.scope is Scope.OVERALL else f"${row.slowest_puzzle}"
    )
    return f"{in_unit(row.slowest_seconds, 1, 3)} ({where})"


def _end(row: Row) -> str:
    """Return how it ended: every end that was not the wanted one, or else that."""
    if row.evidence is Evidence.ANSWERS:
        return "answers only"
    odd = dict.fromkeys(end for end in row.ends if end != EndReason.FINISHED)
    return ", ".join(odd) or EndReason.FINISHED.value


def _escaped(text: str) -> str:
    """Return `text` with what Markdown would take for its own marked as plain."""
    return re.sub(r"([\\`*_{}\[\]<>|~$#])", r"\\\1", plain(text))
