"""The result of a run: verdicts, times and the end of the bot, as the schema of every result file and in words.

A file states its `kind` and its `schema_version`; a change that old readers cannot take raises the version. Every
time carries its unit in its name.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from msgspec import UNSET, Struct, UnsetType, field

from nonobot.harness.results.conditions import Configuration, Counted, FileNames, Machine, SetFacts
from nonobot.harness.text import duration, last_line, megabytes

SCHEMA_VERSION = 2

SHOWN_PUZZLES = 5
"""Number of puzzles of a kind that a summary names one by one."""


class Verdict(StrEnum):
    """The worth of the answer to a puzzle; only RIGHT counts.

    RIGHT: a solution, any of them. WRONG: a full grid that breaks a clue. MALFORMED: no full grid. GIVEN_UP:
    zeros, a word, or nothing under its `$k`. OUT_OF_ORDER: a solution that came after the answer to a later
    puzzle; the tournaments have the puzzles solved in order. LATE: a solution that took longer than a puzzle may,
    or none within that time. MISSING: no answer.
    """

    RIGHT = "right"
    WRONG = "wrong"
    MALFORMED = "malformed"
    GIVEN_UP = "given-up"
    OUT_OF_ORDER = "out-of-order"
    LATE = "late"
    MISSING = "missing"


EXPLAINED = (Verdict.WRONG, Verdict.MALFORMED, Verdict.OUT_OF_ORDER, Verdict.LATE)
"""Verdicts whose details help the author of a bot."""


class EndReason(StrEnum):
    """How a run or an attempt ended; :data:`END_MEANING` explains each."""

    FINISHED = "finished"
    TIME_LIMIT = "time-limit"
    CPU_LIMIT = "cpu-limit"
    MEMORY_LIMIT = "memory-limit"
    PROCESS_LIMIT = "process-limit"
    PUZZLE_LIMIT = "puzzle-limit"
    CRASHED = "crashed"
    STALLED = "stalled"
    CLOSED_STDOUT = "closed-stdout"
    PROTOCOL_ERROR = "protocol-error"
    NOT_STARTED = "not-started"
    INTERRUPTED = "interrupted"


END_MEANING = {
    EndReason.FINISHED: "the bot ended with status 0, or no answer was due any more",
    EndReason.TIME_LIMIT: "stopped at the wall limit for the set",
    EndReason.CPU_LIMIT: "stopped at the limit on CPU time",
    EndReason.MEMORY_LIMIT: "stopped at the limit on memory",
    EndReason.PROCESS_LIMIT: "stopped at the limit on processes and threads",
    EndReason.PUZZLE_LIMIT: "a puzzle took too long: stopped, and started again with the puzzle after it",
    EndReason.CRASHED: "ended by a signal, or with a status other than 0, while answers were due",
    EndReason.STALLED: "stopped: answers were due, and for a while it neither computed nor wrote anything",
    EndReason.CLOSED_STDOUT: "stopped: it closed its stdout while answers were due",
    EndReason.PROTOCOL_ERROR: "stopped: too much output that belongs to no answer",
    EndReason.NOT_STARTED: "the command cannot be run",
    EndReason.INTERRUPTED: "the judge was told to stop, or was killed",
}
"""Meaning of each end. In the order of the tournaments no answer is due after that to the last puzzle."""


class Usage(Struct, frozen=True):
    """Time and memory that a bot took from its start to its end.

    Attributes
    ----------
    cpu_seconds : float
        User and system time of the process and its descendants.
    peak_memory_bytes : int
        0 where the process was gone before the judge looked at it.
        Measured by the cgroup (see `Counted`): the peak of all processes together, shared pages once, including
        the files that they read from disk or keep in scratch.
        Otherwise resident memory: the peak of all that was seen together (pages shared by two count twice), or the
        peak of the largest process, whichever is more.
    """

    wall_seconds: float
    cpu_seconds: float
    peak_memory_bytes: int

    def __str__(self) -> str:
        peak = megabytes(self.peak_memory_bytes) if self.peak_memory_bytes else "not known"
        return f"wall {duration(self.wall_seconds)}, CPU {duration(self.cpu_seconds)}, peak memory {peak}"

    @classmethod
    def of_all(cls, usages: Iterable[Usage]) -> Usage:
        """Return the usage of processes that ran one after another."""
        usages = list(usages)
        return cls(
            sum(one.wall_seconds for one in usages),
            sum(one.cpu_seconds for one in usages),
            max((one.peak_memory_bytes for one in usages), default=0),
        )


class BotEnd(Struct, frozen=True):
    """How a bot ended: the reason, the status or the signal of its process, and a detail where there is one."""

    reason: EndReason
    exit_status: int | None = None
    signal: str | None = None
    detail: str | None = None

    def in_words(self, limits: Configuration) -> str:
        """Return the reason and its meaning, with the limit that was reached, in one line."""
        status = f"died of {self.signal}" if self.signal else f"ended with status {self.exit_status}"
        figures = {
            EndReason.TIME_LIMIT: f"{limits.wall_limit_seconds:g} s",
            EndReason.CPU_LIMIT: f"{limits.cpu_limit_seconds or 0:g} s",
            EndReason.MEMORY_LIMIT: megabytes(limits.memory_limit_bytes or 0),
            EndReason.PROCESS_LIMIT: str(limits.most_processes or 0),
            EndReason.PUZZLE_LIMIT: f"{limits.puzzle_limit_seconds or 0:g} s",
            EndReason.STALLED: f"{limits.stall_limit_seconds or 0:g} s",
            EndReason.CRASHED: status,
        }
        means = status if self.reason is EndReason.FINISHED else END_MEANING[self.reason]
        more = [figures.get(self.reason), self.detail]
        return f"{self.reason}: {means}" + "".join(f" ({one})" for one in more if one)


class BotLog(Struct, frozen=True):
    """The times in a bot's own log: for each puzzle (its first line counts), and the stated total.

    The total is None where the log was cut off before it; `problem` says why the log could not be read.
    """

    seconds: dict[int, float]
    total_seconds: float | None = None
    problem: str | None = None

    @property
    def time_seconds(self) -> float:
        """The time that the log is ranked by: the stated total, else the sum of what is there."""
        return sum(self.seconds.values()) if self.total_seconds is None else self.total_seconds


class Attempt(Struct, frozen=True):
    """One bot process of a run, from start to exit: a run has several if it was resumed or a puzzle took too long.

    `started_at` is UTC, ISO 8601. It did not run in a sandbox if `contained` is absent, and no figure was measured
    by a cgroup if `counted` is.
    """

    started_at: str
    first_puzzle: int
    end: BotEnd
    usage: Usage
    own_log: BotLog | UnsetType = UNSET
    contained: bool | UnsetType = UNSET
    counted: Counted | UnsetType = UNSET


class PuzzleResult(Struct, frozen=True):
    """The verdict on a puzzle, with a detail if it is not right, and its times.

    Attributes
    ----------
    arrived_seconds : float or None
        Run time when the last line of the answer arrived: from the start of the bot, all attempts added up; None
        without an answer, or without a clock.
    took_seconds : float or None
        Fed in a batch: since the answer that came before. Fed interactively: since the puzzle was sent.
    cells_hex : str or None
        The answer's grid, where it was a full one: rows one after another, a bit a cell, 1 for black, the first
        cell in the highest bit of the first byte (`numpy.packbits`), in hexadecimal.
    """

    number: int
    verdict: Verdict
    detail: str | None = None
    arrived_seconds: float | None = None
    took_seconds: float | None = None
    cells_hex: str | None = None


class Score(Struct, frozen=True):
    """The verdicts on a set: the number of each, all listed, and the puzzles in the order of the set.

    Duplicates are answers to puzzles that had one before; strays are answers to puzzles that are not in the set,
    and stretches of text that belong to no answer. `remarks` are the first few of both, in words.
    """

    verdicts: dict[Verdict, int]
    puzzles: list[PuzzleResult]
    duplicate_count: int = 0
    stray_count: int = 0
    remarks: list[str] = []

    @classmethod
    def of(
        cls,
        puzzles: Iterable[PuzzleResult],
        duplicate_count: int = 0,
        stray_count: int = 0,
        remarks: Iterable[str] = (),
    ) -> Score:
        """Return the score of `puzzles`, its verdicts counted."""
        puzzles = list(puzzles)
        verdicts = {verdict: sum(one.verdict is verdict for one in puzzles) for verdict in Verdict}
        return cls(verdicts, puzzles, duplicate_count, stray_count, list(remarks))

    @property
    def right(self) -> int:
        """The number of puzzles that were answered right."""
        return self.verdicts[Verdict.RIGHT]

    @property
    def all_right(self) -> bool:
        """Whether every puzzle was answered right."""
        return self.right == len(self.puzzles)

    def lines(self) -> list[str]:
        """Return what was right and what was not, a few of these by name."""
        others = [f"{count} {one}" for one, count in self.verdicts.items() if one is not Verdict.RIGHT and count]
        lines = [f"{self.right} of {len(self.puzzles)} right" + (f"; {', '.join(others)}" if others else "")]
        for verdict in EXPLAINED:
            of_kind = [one for one in self.puzzles if one.verdict is verdict]
            lines += [f"  ${one.number} {verdict}: {one.detail}" for one in of_kind[:SHOWN_PUZZLES]]
            lines += _and_more(len(of_kind), verdict)
        lines += [f"  {remark}" for remark in self.remarks[:SHOWN_PUZZLES]]
        return lines + _and_more(self.duplicate_count + self.stray_count, "remarks")


class RunResult(Struct, frozen=True, tag_field="kind", tag="run"):
    """A run of a bot on a set; `bot` is its name in tables, `started_at` UTC, ISO 8601.

    Attributes
    ----------
    warm_up_seconds : float or None
        Duration of the warm-up before the clock started; None without one, when kernels may have been cold.
    stderr_bytes : int
        How much the bot wrote to stderr; if it works on files, to stdout as well.
    show : list of str, optional
        Files that the bot saw in its sandbox in addition to those that its command names.
    hide : list of str, optional
        Files hidden from it in folders that it sees; of a tournament's run.
    """

    bot: str
    command: list[str]
    set: SetFacts
    configuration: Configuration = field(name="terms")
    machine: Machine
    judge_version: str
    started_at: str
    warm_up_seconds: float | None
    attempts: list[Attempt] = field(name="legs")
    stderr_bytes: int
    stderr_file: str | None
    score: Score
    schema_version: int = SCHEMA_VERSION
    files: FileNames | UnsetType = UNSET
    show: list[str] | UnsetType = UNSET
    hide: list[str] | UnsetType = UNSET

    @property
    def end(self) -> BotEnd:
        """How the run ended: the end of its last attempt."""
        return self.attempts[-1].end

    @property
    def started(self) -> bool:
        """Whether the bot could be started at all."""
        return any(one.end.reason is not EndReason.NOT_STARTED for one in self.attempts)

    @property
    def usage(self) -> Usage:
        """The usage of all attempts together."""
        return Usage.of_all(one.usage for one in self.attempts)

    @property
    def contained(self) -> str:
        """Whether the bot ran in a sandbox: yes, no, or in some attempts (legs)."""
        of_each = {one.contained is True for one in self.attempts if one.end.reason is not EndReason.NOT_STARTED}
        return "in some legs" if len(of_each) > 1 else "yes" if True in of_each else "no"

    @property
    def counted(self) -> Counted:
        """Which figures the cgroup measured in every attempt."""
        each = [one.counted or Counted() for one in self.attempts]
        return Counted(
            all(one.cpu for one in each), all(one.memory for one in each), all(one.processes for one in each)
        )

    @property
    def time_seconds(self) -> float:
        """The time that the run is ranked by.

        If every puzzle was answered, the arrival of the last answer: what the process did after it does not count.
        Otherwise the run's wall time: until its end an answer might have come. For a bot that could not be started
        the whole limit: it ranks behind those that tried.
        """
        if not self.started:
            return self.configuration.wall_limit_seconds
        arrivals = [one.arrived_seconds for one in self.score.puzzles if one.arrived_seconds is not None]
        if len(arrivals) == len(self.score.puzzles):
            return max(arrivals)
        return self.usage.wall_seconds

    @property
    def outcome(self) -> str:
        """The outcome in a few words."""
        right = f"{self.score.right} of {len(self.score.puzzles)} right"
        return f"{right}, {duration(self.time_seconds)}, {self.end.reason}"

    def last_words(self) -> str:
        """Return the last line that the bot wrote to stderr; empty if there is none or its file is gone."""
        with contextlib.suppress(OSError):
            if self.stderr_file:
                return last_line(Path(self.stderr_file).read_bytes())
        return ""

    def lines(self) -> list[str]:
        """Return the whole summary."""
        lines = [*self.score.lines(), str(self.usage), self.end.in_words(self.configuration)]
        if any(one.contained is not UNSET for one in self.attempts):
            lines.append(f"contained: {self.contained}; counted by the kernel: {self.counted}")
        if (self.end.reason is EndReason.CRASHED or self.end.exit_status) and (said := self.last_words()):
            lines.append(f"its last line on stderr: {said}")
        if self.attempts[1:]:
            lines.append(f"the bot was started {len(self.attempts)} times")
        timed = [(one.took_seconds, one.number) for one in self.score.puzzles if one.took_seconds is not None]
        slowest = sorted(timed, key=lambda one: -one[0])[:SHOWN_PUZZLES]
        if slowest:
            lines.append("slowest: " + ", ".join(f"${number} {duration(took)}" for took, number in slowest))
        if self.files:
            lines.append(
                f"the bot worked on files: questions in {self.files.reads}, answers in {self.files.writes}"
            )
            lines += self._log_lines()
        if self.stderr_file:
            lines.append(f"stderr of the bot ({self.stderr_bytes:,} bytes): {self.stderr_file}")
        return lines

    def _log_lines(self) -> list[str]:
        """Return the bot's own times next to the judge's."""
        logs = [one.own_log for one in self.attempts if one.own_log]
        lines = [f"its own log: {log.problem}" for log in logs if log.problem]
        if read := [log for log in logs if not log.problem]:
            count, own = sum(len(log.seconds) for log in read), sum(log.time_seconds for log in read)
            times = f"{duration(own)}; the judge's clock: {duration(self.time_seconds)}"
            lines.append(f"its own log: {count} puzzles in {times}")
        return lines


class VerifyResult(Struct, frozen=True, tag_field="kind", tag="verify"):
    """A check of an answer file against its question file."""

    set: SetFacts
    answers_file: str
    score: Score
    schema_version: int = SCHEMA_VERSION


def _and_more(count: int, what: str) -> list[str]:
    return [f"  and {count - SHOWN_PUZZLES} more {what}"] if count > SHOWN_PUZZLES else []
