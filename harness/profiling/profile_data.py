"""A profile as data: what a bot stated about each puzzle, what the judge's clock says, and how the time divides.

The whole, its parts, the stages of the search and their steps are spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

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
    "slowest",
    "span_of",
    "stages_of",
]

PROFILE_SCHEMA_VERSION = 1
"""Raised by a change that old readers cannot take."""


class PuzzleProfile(Struct, frozen=True):
    """What a bot stated about one puzzle, and the judge's verdict on its answer.

    Attributes
    ----------
    number : int
    verdict : Verdict
    seconds : float
        From the puzzle read to the answer written.
    step_seconds : dict of str to float
        Those of `seconds` that the steps of the search explain.
    counts : dict of str to int
    """

    number: int
    verdict: Verdict
    seconds: float
    step_seconds: dict[str, float]
    counts: dict[str, int]


class Profile(Struct, frozen=True, tag_field="kind", tag="profile"):
    """Where the time of a run went.

    Attributes
    ----------
    command : list of str
        The bot's, without what the judge added.
    set : SetFacts
    machine : Machine
    judge_version : str
    started_at : str
        UTC, ISO 8601.
    end : BotEnd
    usage : Usage
    first_answer_seconds, last_answer_seconds : float or None
        When answers arrived, from the start of the bot; None without any.
    puzzles : list of PuzzleProfile
        In the order in which they were solved; those that the bot stated something about.
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
        totals: dict[str, int] = {}
        for puzzle in self.puzzles:
            for name, count in puzzle.counts.items():
                totals[name] = totals.get(name, 0) + count
        return totals


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
"""For the steps of this project's bot, the count that their time goes with; those of other bots have none."""

COUNTS_NAMED = 2
"""Counts that are named as the reason of a puzzle's time."""

TELLING = 10
"""A count that reaches this in no puzzle, such as that of the descents, explains no time."""

EXPLAINS = 0.25
"""A count explains a puzzle's time if its share of the set's count is at least so much of that of the time."""


class Span(Struct, frozen=True):
    """A part of the run's time.

    Attributes
    ----------
    name : str
        For people; that of a step without its stage.
    seconds : float
    stage : str or None
        The stage of the search that it is, or is a part of.
    per : str or None
        The count that its time goes with.
    count : int or None
        That count.
    children : tuple of Span
        Its parts; together they take all of its time.
    """

    name: str
    seconds: float
    stage: str | None = None
    per: str | None = None
    count: int | None = None
    children: tuple[Span, ...] = ()


def span_of(profile: Profile) -> Span:
    """Return the run's wall time as a tree.

    Steps whose names begin alike up to a `_`, such as `learning_start` and `learning_analysis`, are parts of one
    stage. What the steps of a puzzle do not explain (its arrays filled, its answer written) is a part of its own,
    and so is what lies outside of the puzzles: before the first one, between them, after the last answer.
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
    """Return what the last part is: a bot that was stopped spent it on a puzzle that it did not answer."""
    if profile.end.reason is EndReason.FINISHED or not profile.puzzles:
        return "after the last answer"
    return f"no answer after ${profile.puzzles[-1].number}"


def _stages(profile: Profile) -> Iterator[Span]:
    seconds: Counter[str] = Counter()
    for puzzle in profile.puzzles:
        seconds.update(puzzle.step_seconds)
    totals = profile.totals
    for stage, steps in _grouped(seconds):
        parts = [_counted(step.removeprefix(f"{stage}_"), step, seconds[step], stage, totals) for step in steps]
        if len(steps) == 1:
            yield parts[0]
        else:
            yield _counted(stage, stage, sum(one.seconds for one in parts), stage, totals, tuple(parts))


def _counted(
    name: str,
    step: str,
    seconds: float,
    stage: str,
    totals: Mapping[str, int],
    children: tuple[Span, ...] = (),
) -> Span:
    per = UNITS.get(step)
    if not per or not totals.get(per):
        return Span(name, seconds, stage, children=children)
    return Span(name, seconds, stage, per, totals[per], children)


def _grouped(steps: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield stages with their steps: neighbours that begin alike up to a `_`, or a step alone."""
    for beginning, group in groupby(steps, lambda step: step.partition("_")[0]):
        together = list(group)
        yield (beginning if len(together) > 1 else together[0]), together


def stages_of(puzzle: PuzzleProfile) -> dict[str, float]:
    """Return the seconds of each stage of a puzzle's search, and last what lies outside of it."""
    stages = {
        stage: sum(puzzle.step_seconds[step] for step in steps) for stage, steps in _grouped(puzzle.step_seconds)
    }
    return stages | {OUTSIDE_STEPS: max(0.0, puzzle.seconds - sum(stages.values()))}


def main_stage(puzzle: PuzzleProfile) -> tuple[str, float]:
    """Return the stage that took most of a puzzle's time, and its share."""
    stages = stages_of(puzzle)
    name = max(stages, key=lambda stage: stages[stage])
    return name, stages[name] / puzzle.seconds if puzzle.seconds else 0.0


def reason(puzzle: PuzzleProfile, profile: Profile) -> str:
    """Return in words why a puzzle took its time: its main stage, and the counts that stand out.

    Where no count's share of the set comes near that of the time, the search did nothing special: the system was
    at work, or another process.
    """
    stage, share = main_stage(puzzle)
    words = [f"{stage} {percent(share)}"]
    steps = next((steps for name, steps in _grouped(puzzle.step_seconds) if name == stage), [])
    if len(steps) > 1:
        step = max(steps, key=lambda one: puzzle.step_seconds[one])
        part = puzzle.step_seconds[step] / puzzle.seconds if puzzle.seconds else 0.0
        words = [f"{words[0]} ({step.removeprefix(f'{stage}_')} {percent(part)})"]
    totals = profile.totals
    telling = {name for one in profile.puzzles for name, count in one.counts.items() if count >= TELLING}
    shares = {name: count / totals[name] for name, count in puzzle.counts.items() if name in telling}
    of_time = puzzle.seconds / sum(one.seconds for one in profile.puzzles) if puzzle.seconds else 0.0
    if shares and len(profile.puzzles) > 1 and max(shares.values()) < of_time * EXPLAINS:
        return f"{words[0]}; no count explains it: memory used for the first time, or others on the core"
    standing_out = sorted(shares, key=lambda name: (name != UNITS.get(stage), -shares[name]))
    return "; ".join(
        [
            *words,
            *(
                f"{puzzle.counts[name]:,} {name.replace('_', ' ')} ({percent(shares[name])} of all)"
                for name in standing_out[:COUNTS_NAMED]
                if puzzle.counts[name] > 1
            ),
        ]
    )


def depth_first(span: Span, depth: int = 0) -> Iterator[tuple[int, Span]]:
    """Yield a span and all its parts, each with its depth."""
    yield depth, span
    for child in span.children:
        yield from depth_first(child, depth + 1)


def slowest(puzzles: Sequence[PuzzleProfile], most: int) -> list[PuzzleProfile]:
    """Return the slowest puzzles, the slowest first."""
    return sorted(puzzles, key=lambda puzzle: -puzzle.seconds)[:most]
