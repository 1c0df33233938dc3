"""A run in play, without a process: its referee makes events; the journal, the screen and the result get them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from nonobot.harness import UnusableError
from nonobot.harness.play.journal import Journal
from nonobot.harness.play.run_events import AttemptEnded, Event, PuzzleJudged, RunSoFar
from nonobot.harness.process.access import Access
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.results.file_limits import MOST_OTHER_BYTES
from nonobot.harness.results.referee import Referee
from nonobot.harness.results.run_result import (
    FINISHED_UNSEEN,
    Attempt,
    BotEnd,
    EndReason,
    PuzzleResult,
    RunResult,
    Score,
    Verdict,
)
from nonobot.protocol import Answer
from nonobot.tournament_data import PuzzleSet, SetPuzzle

OnVerdict = Callable[[RunSoFar], None]  # called with the run after each verdict


def stderr_path(result_path: Path) -> Path:
    """Return the path of the file with a bot's stderr; `X.json` and `X.txt` have different ones."""
    return result_path.parent / f"{result_path.name.removesuffix('.json')}.stderr.txt"


class RunState(RunSoFar):
    """A run between its beginning and its end: where its events are made, and from where they are passed on."""

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
        super().__init__(beginning)
        self.configuration = beginning.configuration
        self.access = access
        self.interrupts = interrupts
        self.result_path = result_path
        self.journal = journal
        self.referee = Referee(puzzle_set, self.configuration.any_order, self.configuration.puzzle_limit_seconds)
        self.stderr_path = stderr_path(result_path)
        self._puzzles = {puzzle.number: puzzle for puzzle in puzzle_set.puzzles}
        self._on_verdict = on_verdict

    def add(self, event: Event) -> None:
        """Write an event to the journal, and take it."""
        self.journal.add(event)
        self.take(event)

    def take(self, event: Event) -> None:
        """Add an event that is in the journal; UnusableError for a verdict on a puzzle that is not in the set."""
        super().take(event)
        match event:
            case PuzzleJudged(result):
                if result.number not in self._puzzles:
                    raise UnusableError(f"the journal has a verdict on ${result.number}, which is not in the set")
                self.referee.enter(result)
                self._on_verdict(self)
            case AttemptEnded():
                self.referee.restore(event.duplicate_count, event.stray_count, event.notes)

    def replay(self, records: Sequence[Event]) -> None:
        """Take the events of a journal; an attempt without an end is left open."""
        for record in records:
            Interrupts.raise_if_stopped()
            self.take(record)

    @property
    def has_room(self) -> bool:
        """Whether the result can be read with another attempt: indented, attempts are about twice as long."""
        return len(msgspec.json.encode(self.attempts)) < MOST_OTHER_BYTES // 4

    def puzzles_left(self) -> list[SetPuzzle]:
        """Return the puzzles for the next attempt."""
        return [self._puzzles[number] for number in self.referee.left()]

    def judge(self, answer: Answer, run_seconds: float, took_seconds: float | None) -> PuzzleResult | None:
        """Judge an answer; return None unless it is the first to a puzzle of the set."""
        result = self.referee.take(answer, run_seconds, took_seconds)
        if result:
            self.add(PuzzleJudged(result))
        return result

    def miss(self, number: int) -> None:
        """Record that a puzzle was not answered within its own limit."""
        detail = f"no answer within {self.configuration.puzzle_limit_seconds:g} s"
        self.add(PuzzleJudged(PuzzleResult(number, Verdict.LATE, detail)))

    def end_attempt(self, attempt: Attempt, stderr_bytes: int) -> None:
        """Record that the bot's process is gone."""
        count = self.referee
        self.add(AttemptEnded(attempt, stderr_bytes, count.duplicate_count, count.stray_count, count.notes))

    def end_open_attempt(self) -> None:
        """End an attempt that a killed judge left open, at the time of its last event."""
        if self.open_attempt is None:
            return
        usage, stood_still = self.alive.usage, self.alive.stood_still_seconds
        usage = replace(usage, wall_seconds=max(usage.wall_seconds, self.arrived_seconds - self.used.wall_seconds))
        killed = BotEnd(EndReason.INTERRUPTED, detail="the judge was killed; times are those last written down")
        # Without an answer due, the judge would soon have stopped the bot.
        end = killed if self.referee.answers_due else FINISHED_UNSEEN
        written = self.stderr_path.lstat().st_size if self.stderr_path.is_file() else 0
        self.end_attempt(self.open_attempt.ended(end, usage, stood_still_seconds=stood_still), written)

    def result(self) -> RunResult:
        """Return the result of the run so far."""
        return replace(
            self.beginning,
            attempts=self.attempts,
            stderr_bytes=self.stderr_bytes,
            stderr_file=str(self.stderr_path) if self.stderr_bytes else None,
            score=self.referee.score(),
        )


def records_of(result: RunResult) -> list[Event]:
    """Return the journal from which `result` could have come."""
    score = result.score
    judged = [PuzzleJudged(puzzle) for puzzle in score.puzzles if puzzle.verdict is not Verdict.MISSING]
    ends = [
        AttemptEnded(attempt, result.stderr_bytes, score.duplicate_count, score.stray_count, score.notes)
        for attempt in result.attempts
    ]
    beginning = replace(result, attempts=[], stderr_bytes=0, stderr_file=None, score=Score.of([]))
    return [beginning, *judged, *ends]
