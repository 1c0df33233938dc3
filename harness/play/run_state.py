"""The state of a run, without a process: verdicts and attempts so far, in the journal or replayed from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from nonobot.harness import UnusableError
from nonobot.harness.play.journal import Alive, AttemptEnded, AttemptStarted, Journal, PuzzleJudged, Record
from nonobot.harness.process.access import Access
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.results.limits import MOST_OTHER_BYTES
from nonobot.harness.results.referee import Referee
from nonobot.harness.results.run_result import (
    FINISHED_UNSEEN,
    Attempt,
    BotEnd,
    EndReason,
    PuzzleResult,
    RunResult,
    Score,
    Usage,
    Verdict,
)
from nonobot.protocol import Answer
from nonobot.tournament_data import PuzzleSet, SetPuzzle

OnVerdict = Callable[[PuzzleResult, float], None]  # called with each verdict and its run time
NO_USAGE = Usage(0.0, 0.0, 0)


def stderr_path(result_path: Path) -> Path:
    """Return the path of the file with a bot's stderr; `X.json` and `X.txt` have different ones."""
    return result_path.parent / f"{result_path.name.removesuffix('.json')}.stderr.txt"


class RunState:
    """A run between its beginning and its end; it adds each event to its journal."""

    def __init__(
        self,
        beginning: RunResult,
        puzzle_set: PuzzleSet,
        result_path: Path,
        journal: Journal,
        interrupts: Interrupts,
        on_verdict: OnVerdict,
        access: Access,
    ) -> None:
        self.beginning = beginning  # a result without attempts and verdicts
        self.configuration = beginning.configuration
        self.access = access
        self.interrupts = interrupts
        self.result_path = result_path
        self.journal = journal
        self.referee = Referee(puzzle_set, self.configuration.any_order, self.configuration.puzzle_limit_seconds)
        self.attempts: list[Attempt] = []
        self.stderr_path = stderr_path(result_path)
        self.stderr_bytes = 0  # of the attempts that have ended
        self.open_attempt: AttemptStarted | None = None  # left without an end by a killed judge
        self._puzzles = {puzzle.number: puzzle for puzzle in puzzle_set.puzzles}
        self._on_verdict = on_verdict
        self._alive = Alive(NO_USAGE)  # the last sign of the open attempt
        self._seconds = 0.0  # run time of the last verdict
        self._attempts_bytes = 0  # in the journal

    @property
    def used(self) -> Usage:
        """Usage of the attempts that have ended."""
        return Usage.of_all([attempt.usage for attempt in self.attempts])

    @property
    def has_room(self) -> bool:
        """Whether the result can be read with another attempt: indented, attempts are about twice as long."""
        return self._attempts_bytes < MOST_OTHER_BYTES // 4

    def puzzles_left(self) -> list[SetPuzzle]:
        """Return the puzzles for the next attempt."""
        return [self._puzzles[number] for number in self.referee.left()]

    def take(self, answer: Answer, run_seconds: float, took_seconds: float | None) -> PuzzleResult | None:
        """Judge an answer; return None unless it is the first to a puzzle of the set."""
        result = self.referee.take(answer, run_seconds, took_seconds)
        if result:
            self._enter(result, run_seconds)
        return result

    def miss(self, number: int, run_seconds: float) -> None:
        """Record that a puzzle was not answered within its own limit."""
        detail = f"no answer within {self.configuration.puzzle_limit_seconds:g} s"
        self._enter(self.referee.enter(PuzzleResult(number, Verdict.LATE, detail)), run_seconds)

    def end_attempt(self, attempt: Attempt, stderr_bytes: int) -> None:
        """Record that the bot's process is gone."""
        self._keep(attempt, stderr_bytes)
        count = self.referee
        ended = AttemptEnded(attempt, stderr_bytes, count.duplicate_count, count.stray_count, count.notes)
        self.journal.add(ended)

    def result(self) -> RunResult:
        """Return the result of the run so far."""
        return replace(
            self.beginning,
            attempts=self.attempts,
            stderr_bytes=self.stderr_bytes,
            stderr_file=str(self.stderr_path) if self.stderr_bytes else None,
            score=self.referee.score(),
        )

    def replay(self, records: Sequence[Record]) -> None:
        """Restore earlier attempts from the records of a journal; one without an end is left open."""
        for record in records:
            Interrupts.raise_if_stopped()
            match record:
                case AttemptStarted():
                    self.open_attempt, self._alive = record, Alive(NO_USAGE)
                case PuzzleJudged(result):
                    if result.number not in self._puzzles:
                        raise UnusableError(
                            f"the journal has a verdict on ${result.number}, which is not in the set"
                        )
                    self._tell(self.referee.enter(result), result.arrived_seconds)
                case Alive():
                    self._alive = record
                case AttemptEnded(attempt):
                    self.open_attempt = None
                    self._keep(attempt, record.stderr_bytes)
                    self.referee.restore(record.duplicate_count, record.stray_count, record.notes)

    def end_open_attempt(self) -> None:
        """End an attempt that a killed judge left open, at the time of its last record."""
        if self.open_attempt is None:
            return
        wall = max(self._alive.usage.wall_seconds, self._seconds - self.used.wall_seconds)
        usage = replace(self._alive.usage, wall_seconds=wall)
        killed = BotEnd(EndReason.INTERRUPTED, detail="the judge was killed; times are those last written down")
        # Without an answer due, the judge would soon have stopped the bot.
        end = killed if self.referee.answers_due else FINISHED_UNSEEN
        written = self.stderr_path.lstat().st_size if self.stderr_path.is_file() else 0
        began = self.open_attempt
        attempt = Attempt(
            *(began.started_at, began.first_puzzle, end, usage),
            sandboxed=began.sandboxed,
            cgroup_measures=began.cgroup_measures,
            filtered=began.filtered,
            stood_still_seconds=self._alive.stood_still_seconds,
        )
        self.end_attempt(attempt, written)

    def _keep(self, attempt: Attempt, stderr_bytes: int) -> None:
        self.attempts.append(attempt)
        self.stderr_bytes = stderr_bytes
        self._attempts_bytes += len(msgspec.json.encode(attempt))

    def _enter(self, result: PuzzleResult, run_seconds: float) -> None:
        self.journal.add(PuzzleJudged(result))
        self._tell(result, run_seconds)

    def _tell(self, result: PuzzleResult, run_seconds: float | None) -> None:
        self._seconds = self._seconds if run_seconds is None else run_seconds
        self._on_verdict(result, self._seconds)


def records_of(result: RunResult) -> list[Record]:
    """Return the journal from which `result` could have come."""
    score = result.score
    judged = [PuzzleJudged(puzzle) for puzzle in score.puzzles if puzzle.verdict is not Verdict.MISSING]
    ends = [
        AttemptEnded(attempt, result.stderr_bytes, score.duplicate_count, score.stray_count, score.notes)
        for attempt in result.attempts
    ]
    beginning = replace(result, attempts=[], stderr_bytes=0, stderr_file=None, score=Score.of([]))
    return [beginning, *judged, *ends]
