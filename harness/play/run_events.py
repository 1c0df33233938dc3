"""The events of a run, as its journal has them, and the state that they add up to, played, resumed or watched."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from nonobot.harness.results.conditions import CgroupMeasures, Figure, Whole
from nonobot.harness.results.run_result import Attempt, BotEnd, PuzzleResult, RunResult, Usage, Verdict

NO_USAGE = Usage(0.0, 0.0, 0)


class AttemptStarted(Struct, frozen=True, tag_field="kind", tag="attempt-started"):
    """A bot was started."""

    started_at: str
    first_puzzle: Whole
    pid: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    process_created: Figure  # with `pid`, identifies the process for the live view
    sandboxed: bool  # as in `Attempt`, whose record is lost if the judge is killed
    cgroup_measures: CgroupMeasures
    filtered: bool | UnsetType = UNSET
    mark: str = ""  # of the process, by which a later judge knows it

    def ended(self, end: BotEnd, usage: Usage, **more: Any) -> Attempt:
        """Return the whole attempt."""
        conditions = {"cgroup_measures": self.cgroup_measures, "filtered": self.filtered, **more}
        return Attempt(self.started_at, self.first_puzzle, end, usage, sandboxed=self.sandboxed, **conditions)


class PuzzleJudged(Struct, frozen=True, tag_field="kind", tag="judged"):
    """A puzzle got its verdict."""

    result: PuzzleResult


class Alive(Struct, frozen=True, tag_field="kind", tag="alive"):
    """The usage so far of the current attempt: the only record of it if the judge is killed."""

    usage: Usage
    stood_still_seconds: Figure | UnsetType = UNSET  # as in `Attempt`


class AttemptEnded(Struct, frozen=True, tag_field="kind", tag="attempt-ended"):
    """An attempt ended; the counts of duplicates and strays are those of the whole run."""

    attempt: Attempt
    stderr_bytes: Whole
    duplicate_count: Whole
    stray_count: Whole
    notes: list[str]


Event = RunResult | AttemptStarted | PuzzleJudged | Alive | AttemptEnded
"""The first event of a run is its result without attempts and verdicts."""


class RunSoFar:
    """A run as its events show it, from its `beginning` to the last event that it got by :meth:`take`."""

    def __init__(self, beginning: RunResult) -> None:
        self.beginning = beginning
        self.puzzles: list[PuzzleResult] = []  # in the order of the verdicts
        self.verdicts = dict.fromkeys(Verdict, 0)
        self.attempts: list[Attempt] = []  # that have ended
        self.used = NO_USAGE  # by them
        self.stderr_bytes = 0  # of them
        self.open_attempt: AttemptStarted | None = None  # in progress, or left without an end by a killed judge
        self.alive = Alive(NO_USAGE)  # its last sign
        self.arrived_seconds = 0.0  # run time at the last answer

    def take(self, event: Event) -> None:
        """Add an event that follows the beginning."""
        match event:
            case AttemptStarted():
                self.open_attempt, self.alive = event, Alive(NO_USAGE)
            case PuzzleJudged(result):
                self.puzzles.append(result)
                self.verdicts[result.verdict] += 1
                self.arrived_seconds = max(self.arrived_seconds, result.arrived_seconds or 0.0)
            case Alive():
                self.alive = event
            case AttemptEnded(attempt):
                self.open_attempt, self.alive = None, Alive(NO_USAGE)
                self.attempts.append(attempt)
                self.used = Usage.of_all([self.used, attempt.usage])
                self.stderr_bytes = event.stderr_bytes

    @property
    def wall_seconds(self) -> float:
        """Run time at the last event."""
        return max(self.arrived_seconds, self.used.wall_seconds + self.alive.usage.wall_seconds)
