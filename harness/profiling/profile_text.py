"""A profile for a screen: stages with bars, counts, the slowest puzzles; a comparison with an earlier profile."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from statistics import median_high
from typing import TYPE_CHECKING

from msgspec import Struct

from nonobot.harness import UnusableError
from nonobot.harness.compare.statistics import half_count, ratio_in_words
from nonobot.harness.profiling.profile_data import (
    FIRST_BYTE,
    OUTSIDE_PHASES,
    Profile,
    Span,
    depth_first,
    reason,
    share,
    span_of,
)
from nonobot.harness.results.conditions import busy_warning
from nonobot.harness.results.run_result import EndReason
from nonobot.harness.results.run_text import standstill
from nonobot.harness.text import GAP, NOTHING, drawn, duration, new_table, percent, spaced, styled, width
from nonobot.protocol.clues import count
from nonobot.system import printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

BAR_WIDTH, LEAST_BAR = 30, 5
PUZZLES = "whole run/puzzles/"
SHARED_CORE = 0.9  # smallest share of its time that a bot computes if it has a core for itself
LONG_START_SECONDS = 2.0  # least time of a start that may be a compilation
AT_ONCE = 0.01  # largest share of a run's time in which all answers arrive if they arrive at once
STAGE_STYLES = ("green", "yellow", "blue", "magenta", "cyan", "red")  # of the stages in order; others are grey


def as_text(profile: Profile, terminal: bool) -> str:
    """Return a profile for a screen, in colour only where `terminal` is true and NO_COLOR is not set."""
    slowest: list[RenderableType] = []
    if times := [puzzle.seconds for puzzle in profile.puzzles]:
        half = f"half of the time of all puzzles: {half_count(times)} of {count(len(times), 'puzzle')}"
        middle = f"the median puzzle takes {duration(median_high(times))}"
        slowest = [_slowest(profile), styled(f"{half}; {middle}", "dim")]
    parts = spaced(
        [styled(profile.set.name, "bold"), *_run_of(profile)],
        [_stages(profile, width(terminal))],
        [_counts(profile)] if any(profile.totals.values()) else [],
        slowest,
        [styled(f"warning: {line}", "yellow") for line in _warnings(profile)],
    )
    return drawn(parts, terminal)


def _run_of(profile: Profile) -> list[Text]:
    wall, cpu = duration(profile.usage.wall_seconds), duration(profile.usage.cpu_seconds)
    right = f"{profile.right} of {profile.set.puzzle_count} right"
    times = f"{right}, {wall} from start to end, {cpu} of CPU time"
    if profile.runs:
        cpus = [run.cpu_seconds for run in profile.runs]
        spread = f"wall {_from_to(span_of(profile))}, CPU {duration(min(cpus))} to {duration(max(cpus))}"
        times += f"; medians of {len(profile.runs)} runs ({spread})"
    warnings = [styled(f"warning: {line}", "yellow") for line in _failure(profile)]
    return [styled(shlex.join(profile.command), "dim"), styled(times, "dim"), *warnings]


def _failure(profile: Profile) -> Iterator[str]:
    """Yield how the bot ended, if it failed, and its likely mistake."""
    end = profile.end
    if profile.has_failed:
        how = f"it ended as {end.reason} ({end.detail or end.signal or f'status {end.exit_status}'})"
        done = f"{profile.answered_count} of {count(profile.set.puzzle_count, 'puzzle')}"
        why = f"; its last line on stderr: {profile.last_line}" if profile.last_line else ""
        yield f"{how}: this is the profile of {done}{why}"
    if profile.mistake:
        yield profile.mistake


def _from_to(span: Span) -> str:
    return " to ".join(map(duration, span.extremes))


def stage_order(span: Span) -> list[str]:
    """Return the names of the stages in the order of the search."""
    return list(dict.fromkeys(part.stage for _, part in depth_first(span) if part.stage))


def share_in_words(seconds: float, whole: float) -> str:
    """Return a share of the time in percent."""
    return percent(seconds / whole) if whole else NOTHING


def _stages(profile: Profile, room: int) -> Table:
    """Return the table of all parts; its bars take the room that is left."""
    whole = span_of(profile)
    spread = ("least to most",) if profile.runs else ()
    bars = 3 + len(spread)
    heads = ["where the time went", "time", *spread, "share", ""]
    stages = stage_order(whole)
    spans = list(depth_first(whole))
    rows = []
    for depth, span in spans:
        of_run = share_in_words(span.seconds, whole.seconds)
        extremes = [_from_to(span)] if spread else []
        rows.append((f"{'  ' * depth}{printable(span.name)}", duration(span.seconds), *extremes, of_run))
    left = room - GAP - sum(max(map(len, column)) + GAP for column in zip(heads[:-1], *rows, strict=True))
    for_each = max(len(_per(span)) for _, span in spans) + GAP
    has_each = left - for_each >= LEAST_BAR
    bar_width = max(LEAST_BAR, min(BAR_WIDTH, left - for_each if has_each else left))
    table = new_table([*heads, ""] if has_each else heads, left=(0, bars, bars + 1), no_wrap=True)
    for row, (_, span) in zip(rows, spans, strict=True):
        style = STAGE_STYLES[stages.index(span.stage) % len(STAGE_STYLES)] if span.stage else "bright_black"
        table.add_row(
            styled(row[0], "bold" if span is whole else ""),
            *row[1:],
            styled(_bar(share(span.seconds, whole.seconds), bar_width), style),
            *([styled(_per(span), "dim")] if has_each else []),
        )
    return table


def _bar(length: float, most: int) -> str:
    """Return a bar of a length from 0 to 1, in eighths of a character; only that of 0 has none."""
    eighths = round(length * most * 8)
    if not eighths:
        return "\N{LEFT ONE EIGHTH BLOCK}" if length else ""
    full, rest = divmod(eighths, 8)
    return "\N{FULL BLOCK}" * full + (chr(0x2590 - rest) if rest else "")


def _per(span: Span) -> str:
    if not span.per or not span.count:
        return ""
    return f"{duration(span.seconds / span.count)} a {span.per.removesuffix('s')}"


def _counts(profile: Profile) -> Table:
    table = new_table(("counts", "in all", "median puzzle", "most", "in puzzle"), no_wrap=True)
    for name, total in profile.totals.items():
        values = sorted(puzzle.counts.get(name, 0) for puzzle in profile.puzzles)
        most = max(profile.puzzles, key=lambda puzzle: puzzle.counts.get(name, 0))
        figures = (f"{figure:,}" for figure in (total, median_high(values), values[-1]))
        table.add_row(printable(name.replace("_", " ")), *figures, f"${most.number}" if values[-1] else NOTHING)
    return table


def _slowest(profile: Profile) -> Table:
    table = new_table(("slowest", "time", "share"), no_wrap=True)
    table.add_column("why")
    for puzzle in profile.slowest:
        of_run = share_in_words(puzzle.seconds, profile.usage.wall_seconds)
        table.add_row(f"${puzzle.number}", duration(puzzle.seconds), of_run, styled(reason(puzzle, profile)))
    return table


def _warnings(profile: Profile) -> Iterator[str]:
    yield from filter(None, [standstill(profile.stood_still_seconds or 0.0), _long_start(profile)])
    if profile.from_outside:
        start_too = f"the time {FIRST_BYTE} contains the start and the first puzzle (docs/profiling.md)"
        yield f"the bot wrote no statistics, so these are the judge's times: {start_too}"
        if _came_at_once(profile):
            yield "all answers came at once: see with --feed interactive if the bot keeps them back"
    elif profile.puzzles and not any(puzzle.phase_seconds for puzzle in profile.puzzles):
        yield f"the bot states no phase_seconds: all of its time is {OUTSIDE_PHASES} (docs/profiling.md)"
    if len({tuple(run.totals.items()) for run in profile.runs or ()}) > 1:
        yield "the counts differ from run to run: the search is another each time"
    busy = busy_warning(profile.machine) if _computes(profile) else _share_computed(profile)
    yield from filter(None, [busy])


def _long_start(profile: Profile) -> str:
    start = span_of(profile).children[0]
    remedy = "a bot that compiles does so there; --warm-up 'CMD ARGS' compiles before the clock starts"
    is_long = start.seconds > max(LONG_START_SECONDS, profile.usage.wall_seconds / 2)
    return f"{duration(start.seconds)} {start.name}: {remedy}" if is_long else ""


def _came_at_once(profile: Profile) -> bool:
    # A bot that is stopped loses the answers that it kept back.
    has_ended = profile.end.reason in (EndReason.FINISHED, EndReason.CRASHED)
    at_once = sum(puzzle.seconds for puzzle in profile.puzzles) < AT_ONCE * profile.usage.wall_seconds
    return at_once and has_ended and len(profile.puzzles) > 1 and not profile.stood_still_seconds


def _share_computed(profile: Profile) -> str:
    wall, cpu = profile.usage.wall_seconds, profile.usage.cpu_seconds
    return f"the bot computed for {duration(cpu)} of {duration(wall)}: it waited, or others used its core"


def _computes(profile: Profile) -> bool:
    """Return whether the bot computed all the time, on a core for itself."""
    return profile.usage.cpu_seconds >= SHARED_CORE * profile.usage.wall_seconds


# --- comparison with an earlier profile ----------------------------------------------------------------------


class Part(Struct, frozen=True):
    """A part of the time in two profiles; its change `is_clear` if times before and after do not overlap."""

    name: str
    depth: int
    before_seconds: float
    after_seconds: float
    is_leaf: bool
    is_clear: bool

    @property
    def change(self) -> float:
        """Additional seconds of the later profile."""
        return self.after_seconds - self.before_seconds


class ProfileComparison(Struct, frozen=True):
    """Two profiles of a set: parts depth first, each count in both, puzzles whose counts differ, and those right.

    `cpu_seconds` are those of the runs, if the bot computed all the time: others on its core do not change them.
    The whole change `is_clear` if the times of the runs before and after do not overlap.
    """

    parts: list[Part]
    totals: dict[str, tuple[int, int]]
    recounted: list[int]
    right: tuple[frozenset[int], frozenset[int]]
    is_clear: bool
    cpu_seconds: tuple[float, float] | None = None

    def change(self, in_puzzles: bool) -> tuple[float, Part | None]:
        """Return the change of the puzzles, or of all else, and the part with most of it whose change is clear."""
        leaves = [
            part for part in self.parts if part.is_leaf and f"{part.name}/".startswith(PUZZLES) == in_puzzles
        ]
        change = sum(part.change for part in leaves)
        clear = [part for part in leaves if part.is_clear and part.change * change > 0]
        return change, max(clear, key=lambda part: abs(part.change), default=None)


def compare(before: Profile, after: Profile) -> ProfileComparison:
    """Return the differences between two profiles; UnusableError if their sets or kinds differ."""
    if before.set.sha256 != after.set.sha256:
        sets = f"the profile before is of {before.set.name}, this one of {after.set.name}"
        raise UnusableError(f"{sets}: only profiles of the same puzzles compare")
    if before.from_outside is not after.from_outside:
        raise UnusableError("only one of the two profiles has a bot's statistics: make both with --no-stats")
    counts_before = {puzzle.number: puzzle.counts for puzzle in before.puzzles}
    names = dict.fromkeys([*before.totals, *after.totals])
    on_cpu = _computes(before) and _computes(after)
    times = [_times_of_runs(profile, on_cpu) for profile in (before, after)]
    return ProfileComparison(
        list(_parts(span_of(before), span_of(after))),
        {name: (before.totals.get(name, 0), after.totals.get(name, 0)) for name in names},
        [puzzle.number for puzzle in after.puzzles if counts_before.get(puzzle.number) != puzzle.counts],
        (before.solved, after.solved),
        max(map(min, times)) > min(map(max, times)),
        (before.usage.cpu_seconds, after.usage.cpu_seconds) if on_cpu else None,
    )


def _times_of_runs(profile: Profile, on_cpu: bool) -> Sequence[float]:
    if not on_cpu:
        return span_of(profile).extremes
    return [run.cpu_seconds for run in profile.runs or ()] or [profile.usage.cpu_seconds]


def _parts(before: Span, after: Span, inside: str = "", depth: int = 0) -> Iterator[Part]:
    """Yield the parts of two spans with the same name, depth first; `inside` is the path of their parent."""
    name = f"{inside}{after.name}"
    old, new = ({child.name: child for child in span.children} for span in (before, after))
    least, most = zip(before.extremes, after.extremes, strict=True)
    yield Part(name, depth, before.seconds, after.seconds, not old and not new, is_clear=max(least) > min(most))
    for child in dict.fromkeys([*new, *old]):
        nothing = Span(child, 0.0)
        yield from _parts(old.get(child, nothing), new.get(child, nothing), f"{name}/", depth + 1)


def conclusion(comparison: ProfileComparison) -> list[str]:
    """Return a few sentences on the change in time, and on whether the search is the same."""
    whole = comparison.parts[0]
    if whole.before_seconds <= 0:
        return []
    before_right, after_right = comparison.right
    if before_right != after_right or not after_right:
        solved = f"{len(before_right)} before, {len(after_right)} after"
        return [f"the runs solved different puzzles, or none ({solved}): their times do not compare"]
    return [_change_of_whole(comparison, whole), *_changes_of_parts(comparison), _change_of_counts(comparison)]


def _change_of_whole(comparison: ProfileComparison, whole: Part) -> str:
    before, after = comparison.cpu_seconds or (whole.before_seconds, whole.after_seconds)
    ratio, times = ratio_in_words(after / before), f"{duration(before)} before, {duration(after)} after"
    if ratio == ratio_in_words(1.0):
        return "as fast as before"
    line = f"{ratio} ({times})"
    if comparison.cpu_seconds:
        wall = f"wall time {duration(whole.before_seconds)} before, {duration(whole.after_seconds)} after"
        line = f"{ratio} in CPU time ({times}; {wall})"
    return line if comparison.is_clear else f"no clear difference, as the runs overlap: {line}"


def _changes_of_parts(comparison: ProfileComparison) -> Iterator[str]:
    for name, in_puzzles in (("the puzzles", True), ("start, end and the rest", False)):
        change, part = comparison.change(in_puzzles)
        if part:
            of = part.name.removeprefix("whole run/").removeprefix("puzzles/").replace("/", ", ")
            from_to = f"{duration(part.before_seconds)} before, {duration(part.after_seconds)} after"
            yield f"{name}: {_signed(change)}, most of all in {of}: {from_to}"
        elif change:
            yield f"{name}: {_signed(change)}, and no part by more than runs differ"


def _change_of_counts(comparison: ProfileComparison) -> str:
    if not any(map(any, comparison.totals.values())):
        return "the bot states no counts: whether it searches in the same way cannot be told"
    if not comparison.recounted:
        return "every count of every puzzle is the same: the search is the same, the rest is speed or noise"
    differ = count(len(comparison.recounted), "puzzle")
    return f"the counts of {differ} differ, first ${comparison.recounted[0]}: the search is another"


def _signed(change: float) -> str:
    return f"{'+' if change > 0 else '-'}{duration(abs(change))}" if change else "none"


def comparison_as_text(before: Profile, after: Profile, terminal: bool) -> str:
    """Return a comparison for a screen, in colour only where `terminal` is true and NO_COLOR is not set."""
    comparison = compare(before, after)
    first, *others = conclusion(comparison) or [""]
    notes = (styled(note, "dim") for note in _notes(before, after, comparison))
    parts = spaced(
        [styled("before", "bold"), *_run_of(before), styled("after", "bold"), *_run_of(after)],
        [_part_table(comparison)],
        [_count_table(comparison)] if comparison.recounted else [],
        [styled(first, "bold"), *notes, *map(styled, others)],
    )
    return drawn(parts, terminal)


def _notes(before: Profile, after: Profile, comparison: ProfileComparison) -> Iterator[str]:
    if before.machine.cpu != after.machine.cpu:
        yield f"another machine: {before.machine.cpu} before, {after.machine.cpu} after"
    old, new = before.usage.cpu_seconds, after.usage.cpu_seconds
    if comparison.cpu_seconds is None and before.solved == after.solved != frozenset() and old > 0:
        # Wall time alone would mislead.
        yield f"in CPU time {ratio_in_words(new / old)} ({duration(old)} before, {duration(new)} after)"
    for label, profile in (("before", before), ("after", after)):
        if not _computes(profile):
            yield f"{label}: {_share_computed(profile)}"
        if stood_still := standstill(profile.stood_still_seconds or 0.0):
            yield f"{label}: {stood_still}"
    runs = "a few runs" if before.runs and after.runs else "a single run: --repeat 5 for medians (of both)"
    yield f"{runs}; `nonojudge duel` and `nonojudge bench` tell a change of speed from noise"


def _part_table(comparison: ProfileComparison) -> Table:
    table = new_table(("where the time went", "before", "after", "ratio", "difference"), no_wrap=True)
    most = [comparison.change(in_puzzles)[1] for in_puzzles in (True, False)]
    for part in comparison.parts:
        before, after = part.before_seconds, part.after_seconds
        style = ("bold red" if part.change > 0 else "bold green") if part in most else ""
        table.add_row(
            styled(f"{'  ' * part.depth}{part.name.rpartition('/')[2]}", "" if part.depth else "bold"),
            duration(before),
            duration(after),
            f"{after / before:.2f}" if before > 0 else NOTHING,
            _signed(part.change),
            style=style,
        )
    return table


def _count_table(comparison: ProfileComparison) -> Table:
    table = new_table(("counts", "before", "after", "ratio"), no_wrap=True)
    for name, (before, after) in comparison.totals.items():
        ratio = f"{after / before:.3f}" if before else NOTHING
        table.add_row(printable(name.replace("_", " ")), f"{before:,}", f"{after:,}", ratio)
    return table
