"""Profiles: made by running a bot that writes statistics, as JSON, and the run's time divided into spans."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.match import Bot, play
from nonobot.harness.play.run_state import OnVerdict
from nonobot.harness.results.conditions import Configuration, Figure, Machine, SetFacts, Whole
from nonobot.harness.results.result_files import UNDECODABLE, content_of, decoded, storable
from nonobot.harness.results.run_result import BotEnd, EndReason, PuzzleResult, Usage, Verdict
from nonobot.harness.text import percent
from nonobot.tournament_data import PuzzleSet

PROFILE_SCHEMA_VERSION = 1

MOST_COUNT = 2**63 - 1
"""Largest count that is kept; shares of larger ones overflow."""

SHOWN_PUZZLES = 10
"""How many puzzles are shown as the slowest."""


class PuzzleProfile(Struct, frozen=True):
    """A bot's statements on one puzzle, from its reading to the answer, and the judge's verdict on its answer."""

    number: Whole
    verdict: Verdict
    seconds: Figure
    step_seconds: dict[str, Figure]
    counts: dict[str, Annotated[int, msgspec.Meta(ge=-MOST_COUNT, le=MOST_COUNT)]]


class Profile(Struct, frozen=True, tag_field="kind", tag="profile"):
    """The time of a run, from the bot's start on, and of the puzzles that the bot stated, in its order."""

    command: list[str]
    set: SetFacts
    machine: Machine
    judge_version: str
    started_at: str
    end: BotEnd
    usage: Usage
    first_answer_seconds: Figure | None
    last_answer_seconds: Figure | None
    puzzles: list[PuzzleProfile]
    schema_version: int = PROFILE_SCHEMA_VERSION
    revision: str | msgspec.UnsetType = msgspec.UNSET

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


# --- made and kept --------------------------------------------------------------------------------------------

NO_COUNTS = ("puzzle", "solutions")
"""Whole numbers in a line of statistics that are no counts of the search."""


class _StatsLine(msgspec.Struct):
    """Required keys of a line of statistics; all other whole numbers in it are counts."""

    puzzle: Whole
    seconds: Figure
    step_seconds: dict[str, Figure] = {}


def profile_of(
    puzzle_set: PuzzleSet,
    command: Sequence[str],
    terms: Configuration,
    on_verdict: OnVerdict,
    show: Sequence[Path] = (),
) -> Profile:
    """Run a bot with `--stats FILE` on a set; UnusableError if it cannot be run, or writes no statistics.

    `terms` must not limit the time of a puzzle: the bot would be started again, and overwrite its statistics.
    """
    with tempfile.TemporaryDirectory(prefix="nonojudge-") as folder:
        (bots_own := Path(folder).resolve() / "bot").mkdir()
        stats = bots_own / "stats.jsonl"
        name = Path(command[0]).name
        bot = Bot(name, [*command, "--stats", str(stats)], show=show, writable=[bots_own])
        result = play(puzzle_set, bot, terms, Path(folder) / "result.json", on_verdict)
        if result.end.reason is EndReason.NOT_STARTED:
            raise UnusableError(result.end.detail or "the bot's command cannot be run")
        if not stats.exists() or not stats.stat().st_size:
            words = result.last_words()  # a bot that takes no `--stats` says so on stderr
            raise UnusableError(
                f"{shlex.join(command)} wrote no statistics: a bot that can be profiled takes --stats FILE "
                f"(docs/profiling.md){f'; it said: {words}' if words else ''}"
            )
        lines = stats.read_bytes().splitlines(keepends=True)
    results = {one.number: one for one in result.score.puzzles}
    arrivals = [one.arrived_seconds for one in result.score.puzzles if one.arrived_seconds is not None]
    return Profile(
        command=list(command),
        set=result.set,
        machine=result.machine,
        judge_version=result.judge_version,
        started_at=result.started_at,
        end=result.end,
        usage=result.usage,
        first_answer_seconds=min(arrivals, default=None),
        last_answer_seconds=max(arrivals, default=None),
        puzzles=list(_puzzles(lines, results)),
        revision=result.revision,
    )


def _puzzles(lines: Sequence[bytes], results: dict[int, PuzzleResult]) -> Iterator[PuzzleProfile]:
    for at, text in enumerate(lines, 1):
        if not text.endswith(b"\n"):
            return  # the bot was stopped while it wrote this line
        try:
            line = msgspec.json.decode(text, type=_StatsLine)
            values: dict[str, Any] = msgspec.json.decode(text)
        except UNDECODABLE as error:
            what = f"line {at} of the bot's statistics: {error}"
            raise UnusableError(f"{what}; see docs/profiling.md for what it should hold") from None
        if line.puzzle in results:
            whole = {name: v for name, v in values.items() if type(v) is int and name not in NO_COUNTS}
            counts = {name: v for name, v in whole.items() if abs(v) <= MOST_COUNT}
            yield PuzzleProfile(line.puzzle, results[line.puzzle].verdict, line.seconds, line.step_seconds, counts)


def to_json(profile: Profile) -> str:
    """Return a profile as JSON text: a line for each puzzle, and `span`, how its time divides."""
    values = storable(profile)
    puzzles = ",\n".join(f"  {json.dumps(one)}" for one in values.pop("puzzles"))
    values["span"] = msgspec.to_builtins(span_of(profile))
    head = json.dumps(values, indent=1)
    return f'{head[:-2]},\n "puzzles": [\n{puzzles}\n ]\n}}\n'


def read_profile(path: Path) -> Profile:
    """Return the profile in a file of :func:`to_json`; UnusableError if it is unreadable or of another version."""
    content = content_of(path, "the profile ")
    what = "what `nonojudge profile --json` writes"
    profile: Profile = decoded(content, path, Profile, PROFILE_SCHEMA_VERSION, what)
    return profile


# --- how its time divides --------------------------------------------------------------------------------------

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

    `stage` is the stage of the search that it is or belongs to, `per` the name of the count of its units of work.
    """

    name: str
    seconds: float
    stage: str | None = None
    per: str | None = None
    count: int | None = None
    children: tuple[Span, ...] = ()


def span_of(profile: Profile) -> Span:
    """Return the run's wall time as a tree; what no step of the search explains has parts of its own."""
    whole = profile.usage.wall_seconds
    in_puzzles = sum(puzzle.seconds for puzzle in profile.puzzles)
    start, end = 0.0, 0.0
    if profile.first_answer_seconds is not None and profile.last_answer_seconds is not None and profile.puzzles:
        end = max(0.0, whole - profile.last_answer_seconds)
        # An answer may be read late, on a busy machine, and never early: then the start seems longer than it was.
        start = min(profile.first_answer_seconds - profile.puzzles[0].seconds, whole - in_puzzles - end)
        start = max(0.0, start)
    between = max(0.0, whole - start - in_puzzles - end)
    last = "after the last answer"
    if profile.end.reason is not EndReason.FINISHED and profile.puzzles:
        last = f"no answer after ${profile.puzzles[-1].number}"  # a bot that was stopped spent the time on it
    stages = tuple(_stages(profile))
    outside = max(0.0, in_puzzles - sum(stage.seconds for stage in stages))
    return Span(
        "whole run",
        whole,
        children=(
            Span("before the first puzzle", start),
            Span("puzzles", in_puzzles, children=(*stages, Span(OUTSIDE_STEPS, outside))),
            Span("between puzzles", between),
            Span(last, end),
        ),
    )


def _stages(profile: Profile) -> Iterator[Span]:
    seconds: Counter[str] = Counter()
    for puzzle in profile.puzzles:
        seconds.update(puzzle.step_seconds)
    totals = profile.totals
    counts: dict[str, tuple[str | None, int | None]] = {
        step: (per, totals[per]) for step, per in UNITS.items() if totals.get(per)
    }
    none = (None, None)
    for stage, steps in _grouped(seconds):
        parts = tuple(
            Span(step.removeprefix(f"{stage}_"), seconds[step], stage, *counts.get(step, none)) for step in steps
        )
        if len(parts) == 1:
            yield parts[0]
        else:
            whole = sum(one.seconds for one in parts)
            yield Span(stage, whole, stage, *counts.get(stage, none), parts)


def _grouped(steps: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield stages with their steps: neighbours with the same beginning up to a `_`, or a single step."""
    for beginning, group in groupby(steps, lambda step: step.partition("_")[0]):
        together = list(group)
        yield (beginning if len(together) > 1 else together[0]), together


def stages_of(puzzle: PuzzleProfile) -> dict[str, float]:
    """Return the seconds of each stage of a puzzle's search, and last those outside of it."""
    seconds = puzzle.step_seconds
    stages = {stage: sum(seconds[step] for step in steps) for stage, steps in _grouped(seconds)}
    return stages | {OUTSIDE_STEPS: max(0.0, puzzle.seconds - sum(stages.values()))}


def share(part: float, whole: float) -> float:
    """Return the share that `part` is of `whole`; 0 of nothing."""
    return part / whole if whole else 0.0


def reason(puzzle: PuzzleProfile, profile: Profile) -> str:
    """Return the reason of a puzzle's time in words: its main stage, and its largest counts if they explain it."""
    stage, seconds = max(stages_of(puzzle).items(), key=itemgetter(1))
    where = f"{stage} {percent(share(seconds, puzzle.seconds))}"
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
