"""A profile as data: the bot's statements on each puzzle, the judge's times, and the division of the run's time.

The whole run, its parts, the stages of the search and their steps are spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from nonobot.harness.results.conditions import Machine, SetFacts
from nonobot.harness.results.run_result import BotEnd, EndReason, Usage, Verdict
from nonobot.harness.text import percent

__all__ = [
    "IN_PUZZLES",
    "OUTSIDE_STEPS",
    "PROFILE_SCHEMA_VERSION",
    "Profile",
    "PuzzleProfile",
    "Span",
    "depth_first",
    "main_stage",
    "reason",
    "share",
    "span_of",
    "stages_of",
]

PROFILE_SCHEMA_VERSION = 1
"""Raised by a change that old readers cannot take."""

SHOWN_PUZZLES = 10
"""How many puzzles are shown as the slowest."""


class PuzzleProfile(Struct, frozen=True):
    """A bot's statements on one puzzle, and the judge's verdict on its answer.

    `seconds` is the time from the puzzle read to the answer written, `step_seconds` the parts of it that the steps
    of the search took.
    """

    number: int
    verdict: Verdict
    seconds: float
    step_seconds: dict[str, float]
    counts: dict[str, int]


class Profile(Struct, frozen=True, tag_field="kind", tag="profile"):
    """The time of a run, by puzzle: the puzzles with a statement of the bot, in the order in which it solved them.

    Answers are timed from the start of the bot. The command is without the judge's additions.
    """

    command: list[str]
    set: SetFacts
    machine: Machine
    judge_version: str
    started_at: str
    end: BotEnd
    usage: Usage
    first_answer_seconds: float | None
    last_answer_seconds: float | None
    puzzles: list[PuzzleProfile]
    schema_version: int = PROFILE_SCHEMA_VERSION

    @property
    def right(self) -> int:
        """How many puzzles were answered right."""
        return sum(one.verdict is Verdict.RIGHT for one in self.puzzles)

    @property
    def totals(self) -> dict[str, int]:
        """The sum of each count over all puzzles."""
        totals: Counter[str] = Counter()
        for puzzle in self.puzzles:
            totals.update(puzzle.counts)
        return totals

    @property
    def slowest(self) -> list[PuzzleProfile]:
        """The few puzzles to be shown as the slowest, the slowest first."""
        return sorted(self.puzzles, key=lambda puzzle: -puzzle.seconds)[:SHOWN_PUZZLES]


# How its time divides

IN_PUZZLES = "puzzles"
OUTSIDE_STEPS = "outside the search"

UNITS = {
    "descents": "descents",
    "learning": "conflicts",
    "learning_propagation": "conflicts",
    "learning_analysis": "conflicts",
    "learning_decisions": "decisions",
    "learning_upkeep": "restarts",
    "probing": "probes",
    "branching": "nodes",
}
"""Units of work in the steps of this project's bot: the name of the count."""

COUNTS_NAMED = 2
"""Most counts to name as the reason of a puzzle's time."""

TELLING = 10
"""Least value, in some puzzle, of a count that can explain time; that of descents is smaller."""

EXPLAINS = 0.25
"""Least share of a set's count, relative to the share of its time, for a count to explain a puzzle's time."""


class Span(Struct, frozen=True):
    """A part of the run's time, and its own parts, which together take all of it.

    `stage` is the stage of the search that it is or belongs to, `per` the name of the count of its units of work,
    `count` the value of that. The name of a step is without its stage.
    """

    name: str
    seconds: float
    stage: str | None = None
    per: str | None = None
    count: int | None = None
    children: tuple[Span, ...] = ()


def span_of(profile: Profile) -> Span:
    """Return the run's wall time as a tree.

    Steps with the same beginning up to a `_`, such as `learning_start` and `learning_analysis`, form a stage. The
    rest of the puzzles' time (filling arrays, writing answers) is a part of its own. So are the times before the
    first puzzle, between puzzles, and after the last answer.
    """
    whole = profile.usage.wall_seconds
    in_puzzles = sum(puzzle.seconds for puzzle in profile.puzzles)
    start, end = 0.0, 0.0
    if profile.first_answer_seconds is not None and profile.last_answer_seconds is not None and profile.puzzles:
        end = max(0.0, whole - profile.last_answer_seconds)
        # An answer may be read late, on a busy machine, and never early: then the start seems longer than it was.
        start = min(profile.first_answer_seconds - profile.puzzles[0].seconds, whole - in_puzzles - end)
        start = max(0.0, start)
    between = max(0.0, whole - start - in_puzzles - end)
    stages = tuple(_stages(profile))
    outside = max(0.0, in_puzzles - sum(stage.seconds for stage in stages))
    return Span(
        "whole run",
        whole,
        children=(
            Span("before the first puzzle", start),
            Span(IN_PUZZLES, in_puzzles, children=(*stages, Span(OUTSIDE_STEPS, outside))),
            Span("between puzzles", between),
            Span(_after_the_last(profile), end),
        ),
    )


def _after_the_last(profile: Profile) -> str:
    """Return the name of the last part: a bot that was stopped spent it on a puzzle without an answer."""
    if profile.end.reason is EndReason.FINISHED or not profile.puzzles:
        return "after the last answer"
    return f"no answer after ${profile.puzzles[-1].number}"


def _stages(profile: Profile) -> Iterator[Span]:
    seconds: Counter[str] = Counter()
    for puzzle in profile.puzzles:
        seconds.update(puzzle.step_seconds)
    totals = profile.totals
    for stage, steps in _grouped(seconds):
        spans = [Span(step.removeprefix(f"{stage}_"), seconds[step], stage) for step in steps]
        parts = [_counted(*one, totals) for one in zip(spans, steps, strict=True)]
        if len(steps) == 1:
            yield parts[0]
        else:
            whole = Span(stage, sum(one.seconds for one in parts), stage, children=tuple(parts))
            yield _counted(whole, stage, totals)


def _counted(span: Span, step: str, totals: Mapping[str, int]) -> Span:
    """Return the span of a step, or of a stage, with the count of its units of work."""
    per = UNITS.get(step)
    return replace(span, per=per, count=totals[per]) if per and totals.get(per) else span


def _grouped(steps: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield stages with their steps: neighbours with the same beginning up to a `_`, or a single step."""
    for beginning, group in groupby(steps, lambda step: step.partition("_")[0]):
        together = list(group)
        yield (beginning if len(together) > 1 else together[0]), together


def stages_of(puzzle: PuzzleProfile) -> dict[str, float]:
    """Return the seconds of each stage of a puzzle's search, and last those outside of it."""
    stages = {
        stage: sum(puzzle.step_seconds[step] for step in steps) for stage, steps in _grouped(puzzle.step_seconds)
    }
    return stages | {OUTSIDE_STEPS: max(0.0, puzzle.seconds - sum(stages.values()))}


def share(part: float, whole: float) -> float:
    """Return the share that `part` is of `whole`; 0 of nothing."""
    return part / whole if whole else 0.0


def main_stage(puzzle: PuzzleProfile) -> tuple[str, float]:
    """Return the stage that took most of a puzzle's time, and its share."""
    stages = stages_of(puzzle)
    name = max(stages, key=lambda stage: stages[stage])
    return name, share(stages[name], puzzle.seconds)


def reason(puzzle: PuzzleProfile, profile: Profile) -> str:
    """Return the reason of a puzzle's time in words: its main stage, and its largest counts.

    If no count has a share of the set's near that of the time, the search did nothing special: the system was at
    work, or another process.
    """
    stage, of_puzzle = main_stage(puzzle)
    where = f"{stage} {percent(of_puzzle)}"
    steps = next((steps for name, steps in _grouped(puzzle.step_seconds) if name == stage), [])
    if len(steps) > 1:
        step = max(steps, key=lambda one: puzzle.step_seconds[one])
        of_step = share(puzzle.step_seconds[step], puzzle.seconds)
        where += f" ({step.removeprefix(f'{stage}_')} {percent(of_step)})"
    totals = profile.totals
    telling = {name for one in profile.puzzles for name, count in one.counts.items() if count >= TELLING}
    shares = {name: count / totals[name] for name, count in puzzle.counts.items() if name in telling}
    of_time = share(puzzle.seconds, sum(one.seconds for one in profile.puzzles))
    if shares and len(profile.puzzles) > 1 and max(shares.values()) < of_time * EXPLAINS:
        return f"{where}; no count explains it: memory used for the first time, or others on the core"
    standing_out = sorted(shares, key=lambda name: (name != UNITS.get(stage), -shares[name]))
    counts = [
        f"{puzzle.counts[name]:,} {name.replace('_', ' ')} ({percent(shares[name])} of all)"
        for name in standing_out[:COUNTS_NAMED]
        if puzzle.counts[name] > 1
    ]
    return "; ".join([where, *counts])


def depth_first(span: Span, depth: int = 0) -> Iterator[tuple[int, Span]]:
    """Yield a span and all its parts, each with its depth."""
    yield depth, span
    for child in span.children:
        yield from depth_first(child, depth + 1)
