"""A comparison for a screen: tables of its figures, the puzzles that changed most, warnings and the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nonobot.harness.compare.comparison import Change, Comparison
from nonobot.harness.compare.statistics import OUTCOME_STYLES, RESOLUTION_SECONDS
from nonobot.harness.text import NOTHING, drawn, duration, first_of, new_table, percent, spaced, styled

if TYPE_CHECKING:
    from rich.table import Table

SHOWN_PUZZLES = 10  # most newly solved or lost puzzles that the text names


def as_text(comparison: Comparison, terminal: bool) -> str:
    """Return a comparison for a screen, in colour only if `terminal` is true and NO_COLOR is not set."""
    several = len(comparison.baseline.sets) > 1
    names = ", ".join(comparison.set_names)
    changes, outcome = comparison.most_changed, comparison.outcome
    parts = spaced(
        [styled(names, "bold"), *(styled(note, "dim") for note in comparison.notes)],
        [_versions(comparison)],
        [_measures(comparison)] if comparison.deciding else [],
        [styled(line) for line in _counts(comparison, several)],
        [_most_changed(changes, several)] if changes else [],
        [styled(f"warning: {line}", "yellow") for line in comparison.warnings],
        [styled(outcome, OUTCOME_STYLES[outcome]), *map(styled, comparison.reasons)],
    )
    return drawn(parts, terminal)


def _versions(comparison: Comparison) -> Table:
    table = new_table(("", "bot", "runs", "drift", "right"), left=(0, 1))
    for number, label in enumerate(("before", "after")):
        figures = comparison.figures(number)
        drift = percent(figures["drift"]) if figures["drift"] else NOTHING
        right = f"{figures['right']} of {len(comparison.changes)}"
        table.add_row(label, styled(figures["bot"]), str(figures["run_count"]), drift, right)
    return table


def _measures(comparison: Comparison) -> Table:
    level = percent(comparison.limits.confidence)
    compared = f"{len(comparison.compared)} right in both"
    table = new_table((compared, "before", "after", "ratio", f"{level} interval"))
    for clock, whole in (("CPU", comparison.cpu), ("wall", comparison.wall)):
        if whole:
            ratio = whole.ratio
            interval = f"{ratio.low:.3f} to {ratio.high:.3f}" if ratio.low else NOTHING
            times = (duration(whole.before_seconds), duration(whole.after_seconds))
            table.add_row(f"{clock} time of a run", *times, f"{ratio.estimate:.3f}", interval)
    if of_puzzle := comparison.puzzle_ratio:
        means = map(duration, comparison.mean_seconds)
        table.add_row("time of a puzzle (geometric mean)", *means, f"{of_puzzle.estimate:.3f}", NOTHING)
    return table


def _counts(comparison: Comparison, several: bool) -> list[str]:
    solved = [f"{_place(change, several)} (was {change.before_verdict})" for change in comparison.newly_solved]
    lost = [f"{_place(change, several)} ({change.after_verdict})" for change in comparison.newly_lost]
    lines = [f"newly solved {_named(solved)}", f"newly lost {_named(lost)}"]
    if comparison.is_duel:
        return lines
    faster, slower, alike = comparison.counts
    within = percent(comparison.limits.tolerance)
    line = f"faster {faster}, slower {slower}, within {within} of each other {alike}"
    if comparison.floored_count:
        line += f" ({comparison.floored_count} too short to tell: below {duration(RESOLUTION_SECONDS)})"
    return [line, *lines]


def _named(names: Sequence[str]) -> str:
    return f"{len(names)}: {first_of(names, SHOWN_PUZZLES)}" if names else "none"


def _most_changed(changes: Sequence[Change], several: bool) -> Table:
    table = new_table(("most changed", "before", "after", "difference"))
    for change in changes:
        before, after = change.before_seconds or 0.0, change.after_seconds or 0.0
        difference = f"{'+' if after > before else '-'}{duration(abs(after - before))}"
        table.add_row(styled(_place(change, several)), duration(before), duration(after), difference)
    return table


def _place(change: Change, several: bool) -> str:
    return f"{change.set} ${change.puzzle}" if several else f"${change.puzzle}"
