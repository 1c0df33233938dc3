"""Profiles: a bot's statistics, or what the judge sees, as JSON, and the run's time divided into spans."""

from __future__ import annotations

import json
import math
import operator
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from nonobot.harness import UnusableError
from nonobot.harness.play.match import Bot, play
from nonobot.harness.play.run_state import OnVerdict
from nonobot.harness.process.bot_files import UnreadableError, opened_below, scratch_folder
from nonobot.harness.results.conditions import Configuration, Figure, Machine, Revision, SetFacts, Whole
from nonobot.harness.results.result_files import content_of, decoded, from_json, storable
from nonobot.harness.results.run_result import BotEnd, EndReason, PuzzleResult, RunResult, Usage, Verdict
from nonobot.harness.results.run_text import last_words, likely_mistake
from nonobot.harness.text import percent
from nonobot.system import content_in
from nonobot.tournament_data import PuzzleSet

PROFILE_SCHEMA_VERSION = 2
MOST_COUNT = 2**63 - 1  # largest count that is kept; shares of larger ones overflow
SHOWN_PUZZLES = 10  # number of slowest puzzles shown


class PuzzleProfile(Struct, frozen=True):
    """A bot's statements on one puzzle, from its reading to the answer, and the judge's verdict on its answer.

    Without statistics, `seconds` is the judge's time, for the first answer from the first byte.
    """

    number: Whole
    verdict: Verdict
    seconds: Figure
    phase_seconds: dict[str, Figure]
    counts: dict[str, Annotated[int, msgspec.Meta(ge=-MOST_COUNT, le=MOST_COUNT)]]


class RepeatedRun(Struct, frozen=True):
    """One of several runs: CPU time, the parts of its wall time, and the sum of each count."""

    cpu_seconds: Figure
    span: Span
    totals: dict[str, int]


class Profile(Struct, frozen=True, tag_field="kind", tag="profile"):
    """The time of a run, from the bot's start, and of its puzzles; of several runs medians, and all figures.

    `from_outside`: the bot wrote no statistics, so these are the judge's times.
    """

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
    revision: Revision | UnsetType = UNSET
    from_outside: bool | UnsetType = UNSET
    first_output_seconds: Figure | UnsetType = UNSET
    last_line: str | UnsetType = UNSET  # that the bot wrote to stderr
    mistake: str | UnsetType = UNSET  # a sentence on the bot's likely mistake
    runs: list[RepeatedRun] | UnsetType = UNSET
    stood_still_seconds: Figure | UnsetType = UNSET  # of the judge, in all runs: in no other time

    @property
    def solved(self) -> frozenset[int]:
        """Numbers of the puzzles answered right."""
        return frozenset(puzzle.number for puzzle in self.puzzles if puzzle.verdict is Verdict.RIGHT)

    @property
    def right(self) -> int:
        """How many puzzles were answered right."""
        return len(self.solved)

    @property
    def answered_count(self) -> int:
        """Number of puzzles answered, right or wrong."""
        return sum(puzzle.verdict is not Verdict.MISSING for puzzle in self.puzzles)

    @property
    def has_failed(self) -> bool:
        """Whether the bot was stopped, ended with a status other than 0, or left out a puzzle."""
        is_short = self.answered_count < self.set.puzzle_count
        return self.end.reason is not EndReason.FINISHED or bool(self.end.exit_status) or is_short

    @property
    def totals(self) -> dict[str, int]:
        """The sum of each count over all puzzles."""
        totals: Counter[str] = Counter()
        for puzzle in self.puzzles:
            totals.update(puzzle.counts)
        return totals

    @property
    def rest(self) -> str:
        """The name of the time of puzzles outside the phases of the search."""
        return "between answers" if self.from_outside else OUTSIDE_PHASES

    @property
    def slowest(self) -> list[PuzzleProfile]:
        """The few puzzles to be shown as the slowest, the slowest first."""
        return sorted(self.puzzles, key=lambda puzzle: -puzzle.seconds)[:SHOWN_PUZZLES]


# --- made and kept --------------------------------------------------------------------------------------------

MOST_STATISTICS_BYTES = 1 << 28  # largest file of statistics: nonobot writes about 400 bytes for a puzzle
NO_COUNTS = ("puzzle", "solutions")  # whole numbers in a line of statistics that do not count work of the search


class _StatsLine(msgspec.Struct):
    """Required keys of a line of statistics; all other whole numbers in it are counts."""

    puzzle: Whole
    seconds: Figure
    phase_seconds: dict[str, Figure] = {}


def profile_of(
    puzzle_set: PuzzleSet,
    command: Sequence[str],
    configuration: Configuration,
    on_verdict: OnVerdict,
    show: Sequence[Path] = (),
    asks_stats: bool = True,
) -> Profile:
    """Run a bot on a set, with `--stats FILE` if it `asks_stats`; UnusableError if it cannot be run.

    A bot without that option solves nothing and is run again without it. `configuration` must not limit the time
    of a puzzle, because a restarted bot would overwrite its statistics.
    """
    with scratch_folder() as folder:
        (bots_own := folder / "bot").mkdir()
        stats = bots_own / "stats.jsonl"
        asked = ["--stats", str(stats)] if asks_stats else []
        bot = Bot(Path(command[0]).name, [*command, *asked], show=show, writable=[bots_own])
        result = play(puzzle_set, bot, configuration, folder / "result.json", on_verdict)
        if result.end.reason is EndReason.NOT_STARTED:
            raise UnusableError(result.end.detail or "the bot's command cannot be run")
        lines = _statistics(stats)
        last_line = last_words(result)
    refuses = lines is None and not result.score.right
    if asks_stats and refuses and result.end.reason is not EndReason.INTERRUPTED:
        return profile_of(puzzle_set, command, configuration, on_verdict, show, asks_stats=False)
    profile = _seen(result, command, last_line)
    if not lines:
        return profile
    puzzles = list(_puzzles(lines, result.score.by_number))
    return replace(profile, puzzles=puzzles, from_outside=UNSET, first_output_seconds=UNSET)


def _seen(result: RunResult, command: Sequence[str], last_line: str) -> Profile:
    """Return the profile of a run as the judge sees it: the puzzles in the order of their answers."""
    arrivals = sorted(result.score.arrivals, key=operator.itemgetter(0))
    puzzles = [
        PuzzleProfile(puzzle.number, puzzle.verdict, puzzle.took_seconds or 0.0, {}, {}) for _, puzzle in arrivals
    ]
    first_output = result.attempts[0].first_output_seconds
    if arrivals:
        puzzles[0] = replace(puzzles[0], seconds=max(0.0, arrivals[0][0] - (first_output or 0.0)))
    return Profile(
        command=list(command),
        set=result.set,
        machine=result.machine,
        judge_version=result.judge_version,
        started_at=result.started_at,
        end=result.end,
        usage=result.usage,
        first_answer_seconds=arrivals[0][0] if arrivals else None,
        last_answer_seconds=arrivals[-1][0] if arrivals else None,
        puzzles=puzzles,
        revision=result.revision,
        from_outside=True,
        first_output_seconds=first_output,
        last_line=last_line or UNSET,
        stood_still_seconds=result.stood_still_seconds or UNSET,
        mistake=likely_mistake(result) or UNSET,
    )


def _puzzles(lines: Sequence[bytes], results: dict[int, PuzzleResult]) -> Iterator[PuzzleProfile]:
    for number, text in enumerate(lines, 1):
        if not text.endswith(b"\n"):
            return  # the bot was stopped while it wrote this line
        try:
            line: _StatsLine = from_json(text, _StatsLine)
            values: dict[str, Any] = from_json(text, dict[str, Any])
        except ValueError as error:
            problem = f"line {number} of the bot's statistics: {error}"
            raise UnusableError(f"{problem}; see docs/profiling.md, or --no-stats to do without") from None
        if line.puzzle in results:
            counts = {name: value for name, value in values.items() if _is_count(name, value)}
            verdict = results[line.puzzle].verdict
            yield PuzzleProfile(line.puzzle, verdict, line.seconds, line.phase_seconds, counts)


def _is_count(name: str, value: object) -> bool:
    return type(value) is int and name not in NO_COUNTS and abs(value) <= MOST_COUNT


def median_of(profiles: Sequence[Profile]) -> Profile:
    """Return one profile of several runs of a bot on a set: each figure is the median over the runs."""
    first, *others = profiles
    if not others:
        return first
    failed = next((profile for profile in profiles if profile.has_failed), first)
    return replace(
        first,
        end=failed.end,
        last_line=failed.last_line,
        mistake=next(filter(None, (profile.mistake for profile in profiles)), UNSET),
        usage=_median_usage([profile.usage for profile in profiles]),
        puzzles=_median_puzzles(profiles),
        runs=[RepeatedRun(profile.usage.cpu_seconds, span_of(profile), profile.totals) for profile in profiles],
        stood_still_seconds=sum(profile.stood_still_seconds or 0.0 for profile in profiles) or UNSET,
    )


def _median_usage(usages: Sequence[Usage]) -> Usage:
    wall, cpu = median(usage.wall_seconds for usage in usages), median(usage.cpu_seconds for usage in usages)
    return Usage(wall, cpu, max(usage.peak_memory_bytes for usage in usages))


def _median_puzzles(profiles: Sequence[Profile]) -> list[PuzzleProfile]:
    together: dict[int, list[PuzzleProfile]] = {}
    for puzzle in (puzzle for profile in profiles for puzzle in profile.puzzles):
        together.setdefault(puzzle.number, []).append(puzzle)
    return list(map(_median_puzzle, together.values()))


def _median_puzzle(same: Sequence[PuzzleProfile]) -> PuzzleProfile:
    phases = dict.fromkeys(phase for puzzle in same for phase in puzzle.phase_seconds)
    return replace(
        next((puzzle for puzzle in same if puzzle.verdict is not Verdict.RIGHT), same[0]),
        seconds=median(puzzle.seconds for puzzle in same),
        phase_seconds={phase: median(puzzle.phase_seconds.get(phase, 0.0) for puzzle in same) for phase in phases},
    )


def _statistics(path: Path) -> list[bytes] | None:
    """Return the lines of a bot's statistics; None if it wrote none."""
    if not os.path.lexists(path):
        return None
    try:
        with opened_below(path.parent, path.name) as file:
            return content_in(file, MOST_STATISTICS_BYTES).splitlines(keepends=True)
    except UnreadableError as problem:
        raise UnusableError(f"the bot's statistics: {problem}") from None


def to_json(profile: Profile) -> str:
    """Return a profile as JSON text: a line for each puzzle, and `span`, how its time divides."""
    values = storable(profile)
    puzzles = ",\n".join(f"  {json.dumps(puzzle)}" for puzzle in values.pop("puzzles"))
    values["span"] = msgspec.to_builtins(span_of(profile))
    head = json.dumps(values, indent=1)
    return f'{head[:-2]},\n "puzzles": [\n{puzzles}\n ]\n}}\n'


def read_profile(path: Path) -> Profile:
    """Return the profile in a file of :func:`to_json`; UnusableError if it is unreadable or of another version."""
    description = "what `nonojudge profile --json` writes"
    content = content_of(path, "the profile ")
    profile: Profile = decoded(content, path, Profile, PROFILE_SCHEMA_VERSION, description, ("profile",))
    return profile


# --- how its time divides --------------------------------------------------------------------------------------

OUTSIDE_PHASES = "outside the search"
FIRST_BYTE = "until its first byte"

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
"""Units of work in the phases of nonobot: the name of the count."""

COUNTS_NAMED = 2  # most counts to name as the reason of a puzzle's time
TELLING = 10  # least value, in some puzzle, of a count that can explain time; that of descents is smaller
EXPLAINS = 0.25  # least ratio of a puzzle's shares of a count and of the time for the count to explain it


class Span(Struct, frozen=True):
    """A part of the run's time and its sub-parts; of several runs the median, with least and most as `range`.

    `stage` is the stage of the search that it belongs to, `per` the name of the count of its work.
    """

    name: str
    seconds: float
    stage: str | None = None
    per: str | None = None
    count: int | None = None
    children: tuple[Span, ...] = ()
    range: tuple[float, float] | UnsetType = UNSET

    @property
    def extremes(self) -> tuple[float, float]:
        """The least and the most time of all runs."""
        return self.range or (self.seconds, self.seconds)


def span_of(profile: Profile) -> Span:
    """Return the run's wall time as a tree; of several runs, each part has the median of its own times."""
    if profile.runs:
        return _median_span([run.span for run in profile.runs])
    whole = profile.usage.wall_seconds
    start, in_puzzles, end = _parts_seen(profile) if profile.from_outside else _parts_stated(profile)
    between = max(0.0, whole - start - in_puzzles - end)
    last = "after the last answer" if profile.puzzles else "no answer"
    if profile.end.reason is not EndReason.FINISHED and profile.puzzles:
        last = f"no answer after ${profile.puzzles[-1].number}"  # a bot that was stopped spent the time on it
    stages = tuple(_stages(profile))
    outside = max(0.0, in_puzzles - _total(stage.seconds for stage in stages))
    phases = () if profile.from_outside else (*stages, Span(OUTSIDE_PHASES, outside))
    first = Span(FIRST_BYTE if profile.from_outside else "before the first puzzle", start)
    puzzles = Span("puzzles", in_puzzles, children=phases)
    parts = (first, puzzles, Span("between puzzles", between), Span(last, end))
    return Span("whole run", whole, children=parts)


def _parts_stated(profile: Profile) -> tuple[float, float, float]:
    """Return the seconds before, in and after the puzzles, as the bot states them."""
    whole, first, last = profile.usage.wall_seconds, profile.first_answer_seconds, profile.last_answer_seconds
    in_puzzles = _total(puzzle.seconds for puzzle in profile.puzzles)
    if first is None or last is None or not profile.puzzles:
        return 0.0, in_puzzles, 0.0
    end = max(0.0, whole - last)
    # A busy machine may read an answer late, never early: then the start seems longer than it was.
    start = min(first - profile.puzzles[0].seconds, whole - in_puzzles - end)
    return max(0.0, start), in_puzzles, end


def _parts_seen(profile: Profile) -> tuple[float, float, float]:
    """Return the same as the judge sees it, up to the first byte."""
    whole, first = profile.usage.wall_seconds, profile.first_output_seconds
    start = whole if first is UNSET else min(whole, first)
    # The judge may read the last answers after it has seen the exit, with which the run ends.
    end = max(0.0, whole - (profile.last_answer_seconds or start))
    return start, min(_total(puzzle.seconds for puzzle in profile.puzzles), whole - start - end), end


def _total(seconds: Iterable[float]) -> float:
    """Return the same sum in all versions of Python: since 3.12, `sum` rounds differently."""
    return reduce(operator.add, seconds, 0.0)


def _median_span(spans: Sequence[Span]) -> Span:
    """Return a part that each run has, or that took no time in it, with the medians of all runs."""
    times = [span.seconds for span in spans]
    children = [{child.name: child for child in span.children} for span in spans]
    names = dict.fromkeys(name for of_run in children for name in of_run)
    parts = (_median_span([of_run.get(name, Span(name, 0.0)) for of_run in children]) for name in names)
    kind = max(spans, key=lambda span: span.seconds)  # a part without time has neither stage nor units
    return replace(kind, seconds=median(times), children=tuple(parts), range=(min(times), max(times)))


def _stages(profile: Profile) -> Iterator[Span]:
    seconds: Counter[str] = Counter()
    for puzzle in profile.puzzles:
        seconds.update(puzzle.phase_seconds)
    totals = profile.totals
    none: tuple[str | None, int | None] = (None, None)
    counts = {phase: (per, totals[per]) for phase, per in UNITS.items() if totals.get(per)}
    for stage, phases in _grouped(seconds):
        names = {phase: phase.removeprefix(f"{stage}_") for phase in phases}
        parts = [Span(name, seconds[phase], stage, *counts.get(phase, none)) for phase, name in names.items()]
        whole = Span(stage, _total(part.seconds for part in parts), stage, *counts.get(stage, none), tuple(parts))
        yield whole if len(parts) > 1 else parts[0]


def _grouped(phases: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield stages with their phases: neighbours with the same beginning up to a `_`, or a single phase."""
    for beginning, group in groupby(phases, lambda phase: phase.partition("_")[0]):
        together = list(group)
        yield (beginning if len(together) > 1 else together[0]), together


def stages_of(puzzle: PuzzleProfile, rest: str = OUTSIDE_PHASES) -> dict[str, float]:
    """Return the seconds of each stage of a puzzle's search, and last, as `rest`, those outside of it."""
    seconds = puzzle.phase_seconds
    stages = {stage: sum(seconds[phase] for phase in phases) for stage, phases in _grouped(seconds)}
    return stages | {rest: max(0.0, puzzle.seconds - sum(stages.values()))}


def share(part: float, whole: float) -> float:
    """Return the share that `part` is of `whole`; 0 of nothing."""
    return part / whole if whole else 0.0


def reason(puzzle: PuzzleProfile, profile: Profile) -> str:
    """Return the reason of a puzzle's time in words: its main stage, and its largest counts if they explain it."""
    if profile.from_outside:
        return _reason_seen(puzzle, profile)
    stage, where = _main_stage(puzzle)
    totals = profile.totals
    telling = {name for other in profile.puzzles for name, count in other.counts.items() if count >= TELLING}
    shares = {name: count / totals[name] for name, count in puzzle.counts.items() if name in telling}
    of_time = share(puzzle.seconds, sum(other.seconds for other in profile.puzzles))
    if profile.puzzles[1:] and max(shares.values(), default=math.inf) < of_time * EXPLAINS:
        return f"{where}; no count explains it: memory used for the first time, or others on the core"
    standing_out = sorted(shares, key=lambda name: (name != UNITS.get(stage), -shares[name]))[:COUNTS_NAMED]
    counts = {name: puzzle.counts[name] for name in standing_out if puzzle.counts[name] > 1}
    named = [f"{n:,} {name.replace('_', ' ')} ({percent(shares[name])} of all)" for name, n in counts.items()]
    return "; ".join([where, *named])


def _reason_seen(puzzle: PuzzleProfile, profile: Profile) -> str:
    middle = median(other.seconds for other in profile.puzzles)
    times = f"{puzzle.seconds / middle:,.1f} times the median" if middle else ""
    return "; ".join(filter(None, (times, "" if puzzle.verdict is Verdict.RIGHT else str(puzzle.verdict))))


def _main_stage(puzzle: PuzzleProfile) -> tuple[str, str]:
    """Return the stage that took most of a puzzle's time, and its share in words, with that of its main phase."""
    stage, seconds = max(stages_of(puzzle).items(), key=operator.itemgetter(1))
    where = f"{stage} {percent(share(seconds, puzzle.seconds))}"
    phases = dict(_grouped(puzzle.phase_seconds)).get(stage, [])
    if len(phases) < 2:
        return stage, where
    phase = max(phases, key=puzzle.phase_seconds.__getitem__)
    of_phase = share(puzzle.phase_seconds[phase], puzzle.seconds)
    return stage, f"{where} ({phase.removeprefix(f'{stage}_')} {percent(of_phase)})"


def depth_first(span: Span, depth: int = 0) -> Iterator[tuple[int, Span]]:
    """Yield a span and all its parts, each with its depth."""
    yield depth, span
    for child in span.children:
        yield from depth_first(child, depth + 1)
