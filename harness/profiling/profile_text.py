"""A profile for a screen: a table of the stages with bars, the counts, the slowest puzzles with the reason."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nonobot.harness.play.machine import busy_warning
from nonobot.harness.profiling.profile_data import (
    OUTSIDE_STEPS,
    Profile,
    Span,
    depth_first,
    reason,
    slowest,
    span_of,
)
from nonobot.harness.results.run_result import EndReason
from nonobot.harness.text import GAP, NOTHING, count, drawn, duration, new_table, percent, plain, width

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

__all__ = ["SHOWN_PUZZLES", "STAGE_STYLES", "as_text", "heading", "share_in_words", "stage_order"]

SHOWN_PUZZLES = 10

BAR_WIDTH, LEAST_BAR = 30, 5

SHARED_CORE = 0.9
"""A bot that has computed for less of its time did not have a core for itself."""

STAGE_STYLES = ("green", "yellow", "blue", "magenta", "cyan", "red")
"""Of the stages of a search in their order; what is no search is grey."""


def as_text(profile: Profile, terminal: bool) -> str:
    """Return a profile for a screen, in colour only where `terminal` is true and NO_COLOR is not set."""
    from rich.text import Text

    parts: list[RenderableType] = [*heading(profile), "", _stages(span_of(profile), width(terminal))]
    if any(profile.totals.values()):
        parts += ["", _counts(profile)]
    if profile.puzzles:
        parts += ["", _slowest(profile), Text(_of_the_slowest(profile), "dim")]
    warnings = list(_warnings(profile))
    if warnings:
        parts += ["", *(Text(f"warning: {plain(line)}", "yellow") for line in warnings)]
    return drawn(parts, terminal)


def heading(profile: Profile) -> Iterator[Text]:
    """Yield what was run, and how it went."""
    from rich.text import Text

    yield Text(plain(profile.set.name), "bold")
    yield Text(plain(shlex.join(profile.command)), "dim")
    wall, cpu = duration(profile.usage.wall_seconds), duration(profile.usage.cpu_seconds)
    right = f"{profile.right} of {profile.set.puzzle_count} right"
    yield Text(f"{right}, {wall} from start to end, {cpu} of CPU time", "dim")


def stage_order(span: Span) -> list[str]:
    """Return the names of the stages in the order of the search."""
    return list(dict.fromkeys(one.stage for _, one in depth_first(span) if one.stage))


def share_in_words(seconds: float, whole: float) -> str:
    """Return a share of the time in percent."""
    return percent(seconds / whole) if whole else NOTHING


def _stages(whole: Span, room: int) -> Table:
    """Return the table of all parts; its bars take the room that is left."""
    from rich.text import Text

    table = new_table()
    for at, name in enumerate(("where the time went", "time", "share", "", "")):
        table.add_column(name, justify="right" if 0 < at < 3 else "left", no_wrap=True)
    stages = stage_order(whole)
    rows = [
        (f"{'  ' * depth}{plain(span.name)}", duration(span.seconds), share_in_words(span.seconds, whole.seconds))
        for depth, span in depth_first(whole)
    ]
    spans = [span for _, span in depth_first(whole)]
    left = room - GAP - sum(max(map(len, column)) + GAP for column in zip(*rows, strict=True))
    for_each = max(len(_per(span)) for span in spans) + GAP
    has_each = left - for_each >= LEAST_BAR
    bar_width = max(LEAST_BAR, min(BAR_WIDTH, left - for_each if has_each else left))
    for row, span in zip(rows, spans, strict=True):
        style = STAGE_STYLES[stages.index(span.stage) % len(STAGE_STYLES)] if span.stage else "bright_black"
        table.add_row(
            Text(row[0], "bold" if span is whole else ""),
            *row[1:],
            Text(_bar(span.seconds / whole.seconds if whole.seconds else 0.0, bar_width), style),
            Text(_per(span) if has_each else "", "dim"),
        )
    return table


def _bar(share: float, most: int) -> str:
    """Return a bar in eighths of a character; the least share that is not nothing is seen."""
    eighths = round(share * most * 8)
    if not eighths:
        return "\N{LEFT ONE EIGHTH BLOCK}" if share else ""
    full, rest = divmod(eighths, 8)
    return "\N{FULL BLOCK}" * full + (chr(0x2590 - rest) if rest else "")


def _per(span: Span) -> str:
    """Return what one of the count takes that a span's time goes with."""
    if not span.per or not span.count:
        return ""
    return f"{duration(span.seconds / span.count)} a {span.per.removesuffix('s')}"


def _counts(profile: Profile) -> Table:
    table = new_table()
    for at, name in enumerate(("counts", "in all", "median puzzle", "most", "in puzzle")):
        table.add_column(name, justify="right" if at else "left", no_wrap=True)
    for name, total in profile.totals.items():
        values = sorted(puzzle.counts.get(name, 0) for puzzle in profile.puzzles)
        most = max(profile.puzzles, key=lambda puzzle: puzzle.counts.get(name, 0))
        table.add_row(
            plain(name.replace("_", " ")),
            f"{total:,}",
            f"{values[len(values) // 2]:,}",
            f"{values[-1]:,}",
            f"${most.number}" if values[-1] else NOTHING,
        )
    return table


def _slowest(profile: Profile) -> Table:
    from rich.text import Text

    table = new_table()
    for name in ("slowest", "time", "share"):
        table.add_column(name, justify="left" if name == "slowest" else "right", no_wrap=True)
    table.add_column("why")
    for puzzle in slowest(profile.puzzles, SHOWN_PUZZLES):
        table.add_row(
            f"${puzzle.number}",
            duration(puzzle.seconds),
            share_in_words(puzzle.seconds, profile.usage.wall_seconds),
            Text(plain(reason(puzzle, profile))),
        )
    return table


def _of_the_slowest(profile: Profile) -> str:
    """Return how the time is spread over the puzzles."""
    times = sorted((puzzle.seconds for puzzle in profile.puzzles), reverse=True)
    half, together = 0, 0.0
    while half < len(times) and together < sum(times) / 2:
        together += times[half]
        half += 1
    return (
        f"half of the time of all puzzles lies in {half} of {len(times)}; the median puzzle takes "
        f"{duration(times[len(times) // 2])}"
    )


def _warnings(profile: Profile) -> Iterator[str]:
    if profile.end.reason is not EndReason.FINISHED:
        detail = f" ({profile.end.detail})" if profile.end.detail else ""
        done = count(len(profile.puzzles), "puzzle")
        yield f"it ended as {profile.end.reason}{detail}: this is the profile of {done}"
    if profile.puzzles and not any(puzzle.step_seconds for puzzle in profile.puzzles):
        yield f"the bot states no step_seconds: all of its time is {OUTSIDE_STEPS} (docs/profiling.md)"
    wall, cpu = profile.usage.wall_seconds, profile.usage.cpu_seconds
    if cpu < SHARED_CORE * wall:
        yield f"the bot computed for {duration(cpu)} of {duration(wall)}: it waited, or others used its core"
    elif busy := busy_warning(profile.machine):
        yield busy
