"""The result of a run, the schema of result files: verdicts, ends, usage, and the time that ranks the run.

A file states its `kind` and its `schema_version`. A change that old readers cannot read raises the version. The
name of each time contains its unit. Of the values of `--env`, a file has only digests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import astuple, replace

from nonobot.harness.results.conditions import (
    CgroupMeasures,
    Configuration,
    Figure,
    FileNames,
    Machine,
    ProgramFile,
    Revision,
    SetFacts,
    Whole,
)

SCHEMA_VERSION = 3
UNKNOWN = "unknown"  # a condition that was not recorded; it does not differ from any other
OFF_BY_ONE = "the answers are off by one"


class Verdict(StrEnum):
    """The judge's result for an answer, explained in docs/judge.md; only RIGHT counts."""

    RIGHT = "right"
    WRONG = "wrong"
    MALFORMED = "malformed"
    GIVEN_UP = "given-up"
    OUT_OF_ORDER = "out-of-order"
    LATE = "late"
    MISSING = "missing"


class EndReason(StrEnum):
    """How a run or an attempt ended, with its `meaning` in words."""

    meaning: str

    FINISHED = "finished", "the bot exited with status 0, or no answer was due any more"
    TIME_LIMIT = "time-limit", "stopped at the wall limit for the set"
    CPU_LIMIT = "cpu-limit", "stopped at the limit on CPU time"
    MEMORY_LIMIT = "memory-limit", "stopped at the limit on memory"
    PROCESS_LIMIT = "process-limit", "stopped at the limit on processes and threads"
    PUZZLE_LIMIT = "puzzle-limit", "stopped: a puzzle took too long; the next puzzle starts the bot again"
    CRASHED = "crashed", "ended by a signal, or with a status other than 0, while answers were due"
    STALLED = "stalled", "stopped: answers were due, and for a while it neither computed nor wrote anything"
    CLOSED_STDOUT = "closed-stdout", "stopped: it closed its stdout while answers were due"
    PROTOCOL_ERROR = "protocol-error", "stopped: too much output that belongs to no answer"
    NOT_STARTED = "not-started", "the command cannot be run"
    INTERRUPTED = "interrupted", "the judge was told to stop, or was killed"

    def __new__(cls, value: str, meaning: str) -> EndReason:
        """Return the reason with this value, its name in result files."""
        reason = str.__new__(cls, value)
        reason._value_, reason.meaning = value, meaning
        return reason


class Usage(Struct, frozen=True):
    """Time and memory that a bot and its descendants used, from its start to its end.

    The peak is that of all processes together, with files in memory and in scratch, but without pages of other
    files, which the system can drop. The cgroup measures it with shared pages once. Otherwise it is the largest
    sample, in which pages shared by two count twice; of a bot that ended before the first sample, it is that of
    the largest process, with its pages of files.
    """

    wall_seconds: Figure
    cpu_seconds: Figure  # user and system time
    peak_memory_bytes: Whole  # 0 if the process was gone before the judge looked at it

    @classmethod
    def of_all(cls, usages: Sequence[Usage]) -> Usage:
        """Return the usage of processes that ran one after another."""
        return cls(
            sum(usage.wall_seconds for usage in usages),
            sum(usage.cpu_seconds for usage in usages),
            max((usage.peak_memory_bytes for usage in usages), default=0),
        )


class BotEnd(Struct, frozen=True):
    """How a bot ended."""

    reason: EndReason
    exit_status: int | None = None  # None if a signal ended it
    signal: str | None = None
    detail: str | None = None


FINISHED_UNSEEN = BotEnd(EndReason.FINISHED, detail="the judge was killed after the last answer")
"""The end of a bot whose judge was killed when no answer was due any more."""


class BotLog(Struct, frozen=True):
    """The times in a bot's own log."""

    seconds: dict[Whole, Figure]  # by puzzle; its first line counts
    total_seconds: Figure | None = None  # as stated; None if the log was cut off before it
    error: str | None = None  # why the log could not be read

    @property
    def time_seconds(self) -> float:
        """The time that the log is ranked by: the stated total, otherwise the sum of its times."""
        return sum(self.seconds.values()) if self.total_seconds is None else self.total_seconds


class Attempt(Struct, frozen=True):
    """One bot process of a run, from start to exit: a run has several if it was resumed or a puzzle took too long.

    `sandboxed` and `cgroup_measures` are absent if the bot did not start.
    """

    started_at: str  # UTC, ISO 8601
    first_puzzle: Whole
    end: BotEnd
    usage: Usage
    own_log: BotLog | UnsetType = UNSET
    sandboxed: bool | UnsetType = UNSET
    cgroup_measures: CgroupMeasures | UnsetType = UNSET
    filtered: bool | UnsetType = UNSET  # whether Linux refused system calls in the sandbox
    unmeasured: list[str] | UnsetType = UNSET  # memory that nobody measured, in words
    cores_taken: list[Whole] | UnsetType = UNSET  # other cores, from which the judge removed the bot
    first_output_seconds: Figure | UnsetType = UNSET  # until the first byte of output
    stood_still_seconds: Figure | UnsetType = UNSET  # of the judge: in no other time, of the run or of an answer


class PuzzleResult(Struct, frozen=True):
    """The verdict on a puzzle; times are None without an answer or a clock."""

    number: Whole
    verdict: Verdict
    detail: str | None = None  # why it is not right
    arrived_seconds: Figure | None = None  # run time, over all attempts, at the answer's last line
    took_seconds: Figure | None = None  # since the previous answer (batch feed) or the sending (interactive)
    cells_hex: str | None = None  # a complete grid: `numpy.packbits` of all rows, 1 for black, in hexadecimal


class Score(Struct, frozen=True):
    """The verdicts on a set: the number of each, and the results in the order of the set."""

    verdicts: dict[Verdict, Whole]
    puzzles: list[PuzzleResult]
    duplicate_count: Whole = 0  # further answers to an answered puzzle
    stray_count: Whole = 0  # answers to puzzles not in the set, and text that belongs to no answer
    notes: list[str] = []  # the first few duplicates and strays, in words
    mistake: str | UnsetType = UNSET  # a sentence on the mistake that most faulty answers share

    @classmethod
    def of(
        cls, puzzles: Iterable[PuzzleResult], duplicates: int = 0, strays: int = 0, notes: Sequence[str] = ()
    ) -> Score:
        """Return the score of `puzzles`, its verdicts counted."""
        puzzles = list(puzzles)
        verdicts = {verdict: sum(puzzle.verdict is verdict for puzzle in puzzles) for verdict in Verdict}
        return cls(verdicts, puzzles, duplicates, strays, list(notes))

    @property
    def right(self) -> int:
        """Number of puzzles answered right."""
        return self.verdicts[Verdict.RIGHT]

    @property
    def all_right(self) -> bool:
        """Whether every puzzle was answered right."""
        return self.right == len(self.puzzles)

    @property
    def unanswered(self) -> bool:
        """Whether no puzzle was answered."""
        return self.verdicts[Verdict.MISSING] == len(self.puzzles)

    @property
    def missing(self) -> list[int]:
        """Numbers of the puzzles without an answer; empty if that is all of them."""
        return [] if self.unanswered else [puzzle.number for puzzle in self.having(Verdict.MISSING)]

    def having(self, *verdicts: Verdict) -> list[PuzzleResult]:
        """Return the puzzles that have one of `verdicts`."""
        return [puzzle for puzzle in self.puzzles if puzzle.verdict in verdicts]

    @property
    def others(self) -> dict[Verdict, int]:
        """The number of each other verdict than RIGHT that occurs."""
        return {verdict: self.verdicts[verdict] for verdict in [*Verdict][1:] if self.verdicts[verdict]}

    @property
    def by_number(self) -> dict[int, PuzzleResult]:
        """The puzzles by their numbers."""
        return {puzzle.number: puzzle for puzzle in self.puzzles}

    @property
    def timed(self) -> list[tuple[float, PuzzleResult]]:
        """The puzzles with a time from the previous answer or the sending, and these seconds."""
        return [(puzzle.took_seconds, puzzle) for puzzle in self.puzzles if puzzle.took_seconds is not None]

    @property
    def arrivals(self) -> list[tuple[float, PuzzleResult]]:
        """The answered puzzles, and the run time at the last line of each answer."""
        return [(puzzle.arrived_seconds, puzzle) for puzzle in self.puzzles if puzzle.arrived_seconds is not None]


class RunResult(Struct, frozen=True, tag_field="kind", tag="run"):
    """A run of a bot on a set."""

    bot: str  # its name in tables
    command: Annotated[list[str], Meta(min_length=1)]
    set: SetFacts
    configuration: Configuration
    machine: Machine
    judge_version: str
    started_at: str  # UTC, ISO 8601
    warm_up_seconds: Figure | None  # None without one before the clock started: kernels may have been cold
    attempts: list[Attempt]
    stderr_bytes: Whole  # with the stdout of a bot that works on files
    stderr_file: str | None
    score: Score
    schema_version: int = SCHEMA_VERSION
    files: FileNames | UnsetType = UNSET
    show: list[str] | UnsetType = UNSET  # seen in the sandbox in addition to what the command names
    hide: list[Annotated[str, Meta(pattern=r"^[^\0]*\Z")]] | UnsetType = UNSET  # in folders that it saw
    revision: Revision | UnsetType = UNSET
    environment: dict[str, str] = {}  # the judge's variables
    program_files: list[ProgramFile] | UnsetType = UNSET  # named by the command and the warm-up

    def term(self, name: str) -> Any:
        """Return the value of a term (see `TERMS`); UNSET if the result does not state it."""
        holders = (self.configuration, self.files, self)
        return next((getattr(holder, name) for holder in holders if hasattr(holder, name)), UNSET)

    @property
    def without_values(self) -> RunResult:
        """The result as files keep it: with digests in place of the variables that the user gave to the bot."""
        run, given = self.configuration, self.configuration.environment or {}
        made = {name: value for name, value in self.environment.items() if name not in given}
        sealed = replace(run, environment=UNSET, environment_digests=run.digests or UNSET)
        return replace(self, configuration=sealed, environment=made)

    @property
    def right(self) -> int:
        """Number of puzzles answered right."""
        return self.score.right

    @property
    def end(self) -> BotEnd:
        """How the run ended: the end of its last attempt; a run without answers due cannot be interrupted."""
        end = self.attempts[-1].end
        return end if end.reason is not EndReason.INTERRUPTED or self.answers_due else FINISHED_UNSEEN

    @property
    def answers_due(self) -> bool:
        """Whether a further answer could count: one to the last puzzle or, with `any_order`, to any."""
        any_order, puzzles = self.configuration.any_order, self.score.puzzles
        return Verdict.MISSING in {puzzle.verdict for puzzle in (puzzles if any_order else puzzles[-1:])}

    @property
    def stood_still_seconds(self) -> float:
        """For how long the judge stood still, in all attempts."""
        return sum(attempt.stood_still_seconds or 0.0 for attempt in self.attempts)

    @property
    def started(self) -> bool:
        """Whether the bot could be started at all."""
        return bool(self.started_attempts)

    @property
    def usage(self) -> Usage:
        """Usage of all attempts together."""
        return Usage.of_all([attempt.usage for attempt in self.attempts])

    @property
    def core_count(self) -> int:
        """Number of cores that the bot could use, selected or not."""
        return len(self.configuration.cores) or self.machine.usable_cores

    @property
    def sandboxed(self) -> str:
        """Whether the bot ran in a sandbox: yes, no, in some attempts, or unknown."""
        return _in_attempts({attempt.sandboxed is True for attempt in self.started_attempts})

    @property
    def filtered(self) -> str:
        """Whether Linux refused system calls to the bot: yes, no, in some attempts, or unknown."""
        return _in_attempts(
            {attempt.filtered for attempt in self.started_attempts if attempt.filtered is not UNSET}
        )

    @property
    def cgroup_measures(self) -> str:
        """Figures that the cgroup measured in every attempt, in words."""
        measured = [astuple(attempt.cgroup_measures or CgroupMeasures()) for attempt in self.started_attempts]
        return str(CgroupMeasures(*map(all, zip(*measured, strict=True)))) if measured else UNKNOWN

    @property
    def started_attempts(self) -> list[Attempt]:
        """Attempts in which the bot started."""
        return [attempt for attempt in self.attempts if attempt.end.reason is not EndReason.NOT_STARTED]

    @property
    def time_seconds(self) -> float:
        """The time that the run is ranked by.

        - If every puzzle was answered: the arrival of the last answer. What the process did afterwards does not
          count.
        - Otherwise: the run's wall time, because an answer could have arrived until its end.
        - If the bot could not be started: the whole limit, so that it ranks behind those that tried.
        """
        if not self.started:
            return self.configuration.wall_limit_seconds
        arrivals = [seconds for seconds, _ in self.score.arrivals]
        return max(arrivals) if len(arrivals) == len(self.score.puzzles) else self.usage.wall_seconds

    @property
    def own_seconds(self) -> float | None:
        """The time in the bot's own logs; None if it keeps none, or one is unreadable."""
        logs = self.own_logs
        return sum(log.time_seconds for log in logs) if logs and not any(log.error for log in logs) else None

    @property
    def own_logs(self) -> list[BotLog]:
        """The bot's own log of each attempt; unread if the judge was killed."""
        if not self.files or not self.files.logs:
            return []
        unread = BotLog({}, error="not read: the judge was killed")
        return [attempt.own_log or unread for attempt in self.started_attempts]


class VerifyResult(Struct, frozen=True, tag_field="kind", tag="verify"):
    """A check of an answer file against its question file."""

    set: SetFacts
    answers_file: str
    score: Score
    schema_version: int = SCHEMA_VERSION


def _in_attempts(values: set[bool]) -> str:
    if len(values) > 1:
        return "in some attempts"
    return UNKNOWN if not values else "yes" if True in values else "no"
