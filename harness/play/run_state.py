"""How far a run has come: its rulings, its legs, and the time and memory they took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.containment import Walls
from nonobot.harness.play.journal import Alive, Journal, LegEnded, LegStarted, Record, Ruled
from nonobot.harness.referee import Referee
from nonobot.harness.results.run_result import (
    BotEnd,
    EndReason,
    FileNames,
    Leg,
    PuzzleResult,
    RunResult,
    Score,
    Usage,
    Verdict,
)
from nonobot.harness.results.terms import Terms
from nonobot.protocol import Answer
from nonobot.tournament_data import PuzzleSet, SetPuzzle

__all__ = ["NO_USAGE", "OnRuling", "RunState", "records_of", "stderr_path"]

OnRuling = Callable[[PuzzleResult, float], None]
"""Told of each ruling, and of the run time in seconds at which it was made."""

NO_USAGE = Usage(0.0, 0.0, 0)


def stderr_path(result_path: Path) -> Path:
    """Return where the stderr of a bot is kept."""
    return result_path.with_suffix(".stderr.txt")


class RunState:
    """A run between its beginning and its end; whatever happens to it goes into the journal as well.

    Parameters
    ----------
    beginning : RunResult
        What is known at the start: everything but legs and rulings.
    puzzle_set : PuzzleSet
    result_path : Path
    journal : Journal
    on_ruling : callable
    walls : Walls, optional
        What stands around the bot.

    Attributes
    ----------
    referee : Referee
    legs : list of Leg
    stderr_path : Path
    stderr_bytes : int
        How much the bot wrote to stderr in the legs that have ended.
    open_leg : LegStarted or None
        The leg that goes on, or that a killed judge left without an end.
    """

    def __init__(
        self,
        beginning: RunResult,
        puzzle_set: PuzzleSet,
        result_path: Path,
        journal: Journal,
        on_ruling: OnRuling,
        walls: Walls | None = None,
    ) -> None:
        self.walls = walls
        terms = beginning.terms
        self._beginning = beginning
        self._puzzles = {one.number: one for one in puzzle_set.puzzles}
        self._journal = journal
        self._on_ruling = on_ruling
        self.referee = Referee(puzzle_set, terms.any_order, terms.puzzle_limit_seconds)
        self.legs: list[Leg] = []
        self.stderr_path = stderr_path(result_path)
        self.stderr_bytes = 0
        self.open_leg: LegStarted | None = None
        self._alive = NO_USAGE
        self._seconds = 0.0  # run time of the last ruling

    @property
    def command(self) -> list[str]:
        """The bot's command."""
        return self._beginning.command

    @property
    def files(self) -> FileNames | None:
        """The bot's files, if it works on files."""
        return self._beginning.files or None

    @property
    def terms(self) -> Terms:
        """What holds for the run."""
        return self._beginning.terms

    @property
    def used(self) -> Usage:
        """What the legs that have ended took."""
        return Usage.of_all(leg.usage for leg in self.legs)

    def puzzles_left(self) -> list[SetPuzzle]:
        """Return the puzzles that a further leg is sent."""
        return [self._puzzles[number] for number in self.referee.left()]

    def start_leg(self, leg: LegStarted) -> None:
        """Enter that the bot was started."""
        self.open_leg = leg
        self._journal.add(leg)

    def take(self, answer: Answer, run_seconds: float, took_seconds: float | None) -> PuzzleResult | None:
        """Rule on an answer; None for what is no first answer to a puzzle of the set."""
        ruling = self.referee.take(answer, run_seconds, took_seconds)
        if ruling:
            self._enter(ruling, run_seconds)
        return ruling

    def miss(self, number: int, run_seconds: float) -> None:
        """Enter that a puzzle was not answered within its own limit."""
        detail = f"no answer within {self.terms.puzzle_limit_seconds:g} s"
        self._enter(self.referee.note(PuzzleResult(number, Verdict.LATE, detail)), run_seconds)

    def note_usage(self, usage: Usage) -> None:
        """Enter what the leg that goes on has taken so far."""
        self._journal.add(Alive(usage))

    def end_leg(self, leg: Leg, stderr_bytes: int) -> None:
        """Enter that the bot's process is gone."""
        self.open_leg = None
        self.legs.append(leg)
        self.stderr_bytes = stderr_bytes
        referee = self.referee
        self._journal.add(
            LegEnded(leg, stderr_bytes, referee.duplicate_count, referee.stray_count, referee.remarks)
        )

    def result(self) -> RunResult:
        """Return what has come of the run."""
        return replace(
            self._beginning,
            legs=self.legs,
            stderr_bytes=self.stderr_bytes,
            stderr_file=str(self.stderr_path) if self.stderr_bytes else None,
            score=self.referee.score(),
        )

    def replay(self, records: Sequence[Record]) -> None:
        """Take over what a journal says of earlier legs; a leg without an end is left open."""
        for record in records:
            match record:
                case LegStarted():
                    self.open_leg, self._alive = record, NO_USAGE
                case Ruled(ruling):
                    if ruling.number not in self._puzzles:
                        raise UnusableError(
                            f"the journal has a ruling on ${ruling.number}, which is not in the set"
                        )
                    self._tell(self.referee.note(ruling), ruling.arrived_seconds)
                case Alive(usage):
                    self._alive = usage
                case LegEnded(leg):
                    self.open_leg = None
                    self.legs.append(leg)
                    self.stderr_bytes = record.stderr_bytes
                    self.referee.restore(record.duplicate_count, record.stray_count, record.remarks)

    def end_open_leg(self) -> None:
        """Give a leg that a killed judge left open an end, and the time until it was last heard of."""
        if self.open_leg is None:
            return
        wall = max(self._alive.wall_seconds, self._seconds - self.used.wall_seconds)
        usage = Usage(wall, self._alive.cpu_seconds, self._alive.peak_memory_bytes)
        end = BotEnd(EndReason.INTERRUPTED, detail="the judge was killed; times are those last written down")
        written = self.stderr_path.stat().st_size if self.stderr_path.exists() else 0
        self.end_leg(Leg(self.open_leg.started_at, self.open_leg.first_puzzle, end, usage), written)

    def _enter(self, ruling: PuzzleResult, run_seconds: float) -> None:
        self._journal.add(Ruled(ruling))
        self._tell(ruling, run_seconds)

    def _tell(self, ruling: PuzzleResult, run_seconds: float | None) -> None:
        self._seconds = self._seconds if run_seconds is None else run_seconds
        self._on_ruling(ruling, self._seconds)


def records_of(result: RunResult) -> list[Record]:
    """Return the journal that `result` would have come from."""
    score = result.score
    rulings = [Ruled(one) for one in score.puzzles if one.verdict is not Verdict.MISSING]
    ends = [
        LegEnded(leg, result.stderr_bytes, score.duplicate_count, score.stray_count, score.remarks)
        for leg in result.legs
    ]
    beginning = replace(result, legs=[], stderr_bytes=0, stderr_file=None, score=Score.of([]))
    return [beginning, *rulings, *ends]
