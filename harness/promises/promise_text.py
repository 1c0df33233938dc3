"""What became of promises, as people and machines read it."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from nonobot.harness.promises.promise import Comparison, Outcome, Promise, Shown
from nonobot.harness.text import drawn, new_table, plain

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["as_json", "as_text", "listing", "promised"]

PROMISES_SCHEMA_VERSION = 1
"""Of the JSON form; raised by a change that old readers cannot take."""

_COMPARISONS = {
    Comparison.EXACTLY: "exactly",
    Comparison.AT_MOST: "at most",
    Comparison.AT_LEAST: "at least",
}

_STYLES = {Outcome.HOLDS: "green", Outcome.BROKEN: "bold red", Outcome.FAILED: "bold red", Outcome.SKIPPED: "dim"}


def promised(promise: Promise) -> str:
    """Return the bound of a promise in words."""
    return f"{_COMPARISONS[promise.is_]} {_amount(promise.bound, promise.unit)}"


def _amount(figure: float, unit: str) -> str:
    number = f"{figure:,.0f}" if figure == int(figure) or figure >= 100 else f"{figure:.3g}"
    return f"{number} {unit}".strip()


def listing(promises: Sequence[Promise]) -> str:
    """Return all promises with their commands."""
    lines = []
    for promise in promises:
        needs = f"; needs {', '.join(promise.sets)}" if promise.sets else ""
        lines += [
            promise.id,
            *textwrap.wrap(promise.sentence, 100, initial_indent="  ", subsequent_indent="  "),
            f"  $ {promise.command}",
            f"  {promised(promise)}; about {promise.seconds:.0f} s{needs}",
            "",
        ]
    return "\n".join(lines)


def as_text(shown: Sequence[Shown], terminal: bool) -> str:
    """Return what became of promises, for a screen."""
    from rich.text import Text

    table = new_table()
    for at, header in enumerate(("promise", "promised", "measured", "")):
        table.add_column(header, justify="right" if at == 2 else "left")
    for one in shown:
        measured = "" if one.measured is None else _amount(one.measured, one.promise.unit)
        table.add_row(
            plain(one.promise.id), promised(one.promise), measured, Text(one.outcome.value, _STYLES[one.outcome])
        )
    parts: list[RenderableType] = [table]
    reasons = [one for one in shown if one.reason]
    if reasons:
        parts.append("")
    for one in reasons:
        parts.append(Text(plain(f"{one.promise.id}: {one.reason}"), _STYLES[one.outcome]))
    for one in shown:
        if one.outcome is Outcome.BROKEN:
            parts += ["", Text(plain(f"{one.promise.id}: {one.promise.sentence}")), f"  $ {one.promise.command}"]
    counts = Counter(one.outcome for one in shown)
    summary = ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome if counts[outcome])
    return drawn([*parts, "", Text(f"{len(shown)} promises: {summary}", "bold")], terminal)


def as_json(shown: Sequence[Shown]) -> str:
    """Return what became of promises as JSON text."""
    found = {
        "kind": "promises",
        "schema_version": PROMISES_SCHEMA_VERSION,
        "promises": [
            {
                **msgspec.to_builtins(one.promise),
                "outcome": one.outcome.value,
                "measured": one.measured,
                "reason": one.reason,
            }
            for one in shown
        ],
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"
