"""A comparison in words: for a screen, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from nonobot.harness.ranking.comparison import COMPARISON_SCHEMA_VERSION, Change, Comparison, Outcome
from nonobot.harness.ranking.whole_runs import Whole
from nonobot.harness.statistics import RESOLUTION_SECONDS
from nonobot.harness.text import (
    NOTHING,
    count,
    drawn,
    duration,
    interval_in_words,
    new_table,
    percent,
    plain,
    ratio_in_words,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

__all__ = ["as_json", "as_text", "judgement"]

SHOWN_PUZZLES = 10
"""How many puzzles newly solved or lost are named."""

OUTCOME_STYLES = {
    Outcome.WORSE: "bold red",
    Outcome.CANNOT_TELL: "bold yellow",
    Outcome.NOT_WORSE: "bold green",
    Outcome.FASTER: "bold green",
}


def as_json(comparison: Comparison) -> str:
    """Return all of it as JSON text."""
    found = {
        "kind": "comparison",
        "schema_version": COMPARISON_SCHEMA_VERSION,
        "worse": comparison.worse,
        "outcome": comparison.outcome,
        "judgement": judgement(comparison),
        "resolution_seconds": RESOLUTION_SECONDS,
        **msgspec.to_builtins(comparison),
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def judgement(comparison: Comparison) -> list[str]:
    """Return in a few sentences what came of it, and why."""
    lines = []
    solved, lost = len(comparison.newly_solved), len(comparison.newly_lost)
    if comparison.lost_more_than_solved:
        lines.append(f"after newly lost {count(lost, 'puzzle')} and newly solved {solved}: more lost than solved")
    elif solved > lost:
        lines.append(f"after newly solved {count(solved, 'puzzle')} and newly lost {lost}")
    if comparison.ratios:
        if comparison.cpu:
            lines.append(
                f"in CPU time {_said(comparison.cpu, comparison)}: {_meaning(comparison.cpu, comparison)}"
            )
        if comparison.wall:
            wall = f"in wall time, which tournaments rank by, {_said(comparison.wall, comparison)}"
            if not comparison.cpu:
                wall += f": {_meaning(comparison.wall, comparison)}"
            elif comparison.waits and not comparison.worse:
                wall += ": it waits, or others had the core"
            lines.append(wall)
        each, puzzles = comparison.ratios.each, count(comparison.compared_count, "puzzle")
        lines.append(
            f"puzzle by puzzle it is {ratio_in_words(each.estimate)}, {interval_in_words(each)} of puzzles alone; "
            f"half of the wall time lies in {comparison.half_of_total_count} of {puzzles}"
        )
    return lines


def _said(whole: Whole, comparison: Comparison) -> str:
    level = percent(comparison.limits.confidence)
    ratio = whole.ratio
    return f"after is {ratio_in_words(ratio.estimate)}, {level} interval {interval_in_words(ratio)}"


def _meaning(whole: Whole, comparison: Comparison) -> str:
    """Return what the interval says about the tolerance, and what would make it say more."""
    tolerance = f"the tolerance of {percent(comparison.limits.tolerance)}"
    limit = 1 + comparison.limits.tolerance
    if whole.ratio.low > limit:
        believed = comparison.slower_beyond_tolerance
        return f"beyond {tolerance}" if believed else f"beyond {tolerance}, but of too few puzzles to count"
    if whole.ratio.high < 1 / limit:
        return f"faster beyond {tolerance}"
    if whole.ratio.high <= limit:
        return f"within {tolerance}" if whole.ratio.low >= 1 / limit else f"not slower beyond {tolerance}"
    more = (
        f"runs of the same code may differ by {percent(whole.runs_margin)}: run both sides more often, by turns"
        if whole.runs_margin >= whole.puzzles_margin
        else f"other puzzles may change it by {percent(whole.puzzles_margin)}: take a larger set"
    )
    return f"not surely within {tolerance}, nor beyond it; {more}"


def as_text(comparison: Comparison, terminal: bool) -> str:
    """Return it for a screen, in colour only where `terminal` is true and NO_COLOR is not set."""
    from rich.text import Text

    several = len(comparison.sets) > 1
    names = ", ".join(plain(facts.name) for facts in comparison.sets)
    parts: list[RenderableType] = [Text(names, "bold")]
    parts += [Text(plain(note), "dim") for note in comparison.notes]
    parts += ["", _sides(comparison)]
    if comparison.ratios:
        parts += ["", _measures(comparison)]
    parts += ["", *(Text(plain(line)) for line in _counts(comparison, several))]
    if comparison.most_changed:
        parts += ["", _most_changed(comparison.most_changed, several)]
    if comparison.warnings:
        parts += ["", *(Text(f"warning: {plain(line)}", "yellow") for line in comparison.warnings)]
    outcome = Text(comparison.outcome.value, OUTCOME_STYLES[comparison.outcome])
    parts += ["", outcome, *map(Text, judgement(comparison))]
    return drawn(parts, terminal)


def _table(*headers: str) -> Table:
    table = new_table()
    for at, header in enumerate(headers):
        table.add_column(header, justify="right" if at else "left")
    return table


def _sides(comparison: Comparison) -> Table:
    from rich.text import Text

    table = _table("", "bot", "runs", "drift", "right")
    table.columns[1].justify = "left"
    for label, side in (("before", comparison.before), ("after", comparison.after)):
        right = f"{side.right} of {comparison.puzzle_count}"
        drift = percent(side.drift) if side.drift else NOTHING
        table.add_row(label, Text(plain(side.bot)), str(side.run_count), drift, right)
    return table


def _measures(comparison: Comparison) -> Table:
    assert comparison.ratios
    before, after = comparison.before, comparison.after
    level = percent(comparison.limits.confidence)
    table = _table(
        f"{comparison.compared_count} right on both sides", "before", "after", "ratio", f"{level} interval"
    )
    rows = [
        (f"{clock} time of a run", whole.before_seconds, whole.after_seconds, whole.ratio)
        for clock, whole in (("CPU", comparison.cpu), ("wall", comparison.wall))
        if whole
    ]
    each = ("time of a puzzle (geometric mean)", before.geometric_mean_seconds, after.geometric_mean_seconds)
    for name, first, second, ratio in [*rows, (*each, comparison.ratios.each)]:
        interval = f"{ratio.low:.3f} to {ratio.high:.3f}"
        table.add_row(name, _time(first), _time(second), f"{ratio.estimate:.3f}", interval)
    return table


def _counts(comparison: Comparison, several: bool) -> list[str]:
    within = percent(comparison.limits.tolerance)
    line = (
        f"faster {comparison.faster_count}, slower {comparison.slower_count}, "
        f"within {within} of each other {comparison.alike_count}"
    )
    if comparison.floored_count:
        line += f" ({comparison.floored_count} too short to tell: below {duration(RESOLUTION_SECONDS)})"
    return [
        line,
        f"newly solved {_named(comparison.newly_solved, several, lost=False)}",
        f"newly lost {_named(comparison.newly_lost, several, lost=True)}",
    ]


def _named(changes: Sequence[Change], several: bool, lost: bool) -> str:
    if not changes:
        return "none"
    names = [
        f"{_place(one, several)} ({one.after_verdict if lost else 'was ' + one.before_verdict})"
        for one in changes[:SHOWN_PUZZLES]
    ]
    more = len(changes) - len(names)
    return f"{len(changes)}: {', '.join(names)}" + (f" and {more} more" if more else "")


def _most_changed(changes: Sequence[Change], several: bool) -> Table:
    from rich.text import Text

    table = _table("most changed", "before", "after", "difference")
    for one in changes:
        assert one.before_seconds is not None
        assert one.after_seconds is not None
        more = one.after_seconds - one.before_seconds
        difference = f"{'+' if more > 0 else '-'}{duration(abs(more))}"
        table.add_row(
            Text(plain(_place(one, several))), _time(one.before_seconds), _time(one.after_seconds), difference
        )
    return table


def _place(change: Change, several: bool) -> str:
    return f"{change.set} ${change.puzzle}" if several else f"${change.puzzle}"


def _time(seconds: float | None) -> str:
    return NOTHING if seconds is None else duration(seconds)
