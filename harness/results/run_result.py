"""What a judge found, as data: the schema of every result file.

A file states its `kind` and its `schema_version`; a change that old readers cannot take raises the version. Every
time carries its unit in its name.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType

from nonobot.harness.results.terms import SetFacts, Terms

__all__ = [
    "SCHEMA_VERSION",
    "BotEnd",
    "Counted",
    "EndReason",
    "FileNames",
    "Leg",
    "Machine",
    "OwnLog",
    "PuzzleResult",
    "RunResult",
    "Score",
    "Usage",
    "Verdict",
    "VerifyResult",
]

SCHEMA_VERSION = 2


class Verdict(StrEnum):
    """What the answer to a puzzle is worth; only RIGHT counts.

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


class EndReason(StrEnum):
    """How a run, or a leg of it, ended.

    FINISHED: the bot ended with status 0, or no answer was due any more (in the order of the tournaments: the last
    puzzle was answered). TIME_LIMIT, CPU_LIMIT, MEMORY_LIMIT, PROCESS_LIMIT: it was stopped there. PUZZLE_LIMIT:
    one puzzle took too long; the bot was stopped, and the next leg goes on with the puzzle after it. CRASHED: it
    ended by a signal or with another status while answers were due. STALLED: answers were due and it neither
    computed nor wrote anything for a while. CLOSED_STDOUT: answers were due and it could not write them any more.
    PROTOCOL_ERROR: it wrote more that belongs to no answer than can be borne. NOT_STARTED: its command cannot be
    run. INTERRUPTED: the judge was told to stop, or was killed.
    """

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


class Usage(Struct, frozen=True):
    """What a bot took from its start to its end.

    Attributes
    ----------
    wall_seconds : float
    cpu_seconds : float
        User and system time of the process and its descendants.
    peak_memory_bytes : int
        0 where the process was gone before it was looked at.
        Counted by the kernel (see `Counted`): the most that they held together, what they share once, and with it
        the files that they read from disk or keep in scratch.
        Else resident memory: the most that was seen of all of them together (what two of them share counts twice),
        or the peak of the largest, whichever is more.
    """

    wall_seconds: float
    cpu_seconds: float
    peak_memory_bytes: int

    @classmethod
    def of_all(cls, usages: Iterable[Usage]) -> Usage:
        """Return what processes took that ran one after another."""
        usages = list(usages)
        return cls(
            sum(one.wall_seconds for one in usages),
            sum(one.cpu_seconds for one in usages),
            max((one.peak_memory_bytes for one in usages), default=0),
        )


class Counted(Struct, frozen=True):
    """Which figures of a leg the kernel counted, in a cgroup; the others were read now and then."""

    cpu: bool = False
    memory: bool = False
    processes: bool = False


class BotEnd(Struct, frozen=True):
    """How a bot ended: why, the status or the signal of its process, and a word more where there is one."""

    reason: EndReason
    exit_status: int | None = None
    signal: str | None = None
    detail: str | None = None


class FileNames(Struct, frozen=True):
    """The files of a bot that works on files, as paths in the folder that it runs in.

    Attributes
    ----------
    reads : str
        Where it finds its questions.
    writes : str
        Where it writes its answers.
    logs : str or None
        Where it keeps its own log of the time that it took; None if it keeps none.
    """

    reads: str
    writes: str
    logs: str | None = None


class OwnLog(Struct, frozen=True):
    """What the own log of a bot that works on files says, in its words: `#k<TAB>seconds`, `total time: seconds`.

    Attributes
    ----------
    seconds : dict of int to float
        How long it took for each puzzle.
    total_seconds : float or None
        As stated; None where it is not.
    problem : str or None
        Why the log could not be read.
    """

    seconds: dict[int, float]
    total_seconds: float | None = None
    problem: str | None = None

    @property
    def time_seconds(self) -> float:
        """The stated total, else the sum of what is there."""
        return sum(self.seconds.values()) if self.total_seconds is None else self.total_seconds


class Leg(Struct, frozen=True):
    """One life of the bot's process: a run has several when it was resumed, or when a puzzle took too long.

    Attributes
    ----------
    started_at : str
        UTC, ISO 8601.
    first_puzzle : int
        Number of the first puzzle that it was sent.
    end : BotEnd
    usage : Usage
    own_log : OwnLog, optional
        The log of a bot that keeps one.
    contained : bool, optional
        Whether it ran within walls. Absent: it did not.
    counted : Counted, optional
        Absent: nothing was counted by the kernel.
    """

    started_at: str
    first_puzzle: int
    end: BotEnd
    usage: Usage
    own_log: OwnLog | UnsetType = UNSET
    contained: bool | UnsetType = UNSET
    counted: Counted | UnsetType = UNSET


class Machine(Struct, frozen=True):
    """Where a run took place; None where the system does not tell.

    Attributes
    ----------
    system, cpu, python, numpy, numba : str
        Kernel and its release; model of the CPU; versions of Python and of the libraries beside the judge.
    logical_cores, usable_cores : int
        Of the machine; those that the judge may use.
    memory_bytes : int
    governor : str or None
        Frequency governor of the core used.
    load_average : float or None
        Over one minute, at the start.
    busy_share : float or None
        Share of the machine's usable CPU time that others used just before the start, 0 to 1.
    """

    system: str
    cpu: str
    python: str
    numpy: str | None
    numba: str | None
    logical_cores: int
    usable_cores: int
    memory_bytes: int
    governor: str | None
    load_average: float | None
    busy_share: float | None


class PuzzleResult(Struct, frozen=True):
    """The ruling on a puzzle and its times.

    Attributes
    ----------
    number : int
    verdict : Verdict
    detail : str or None
        Why, where it is not right.
    arrived_seconds : float or None
        Run time when the last line of the answer arrived: from the start of the bot, all legs added up; None
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
    """The rulings on a set.

    Attributes
    ----------
    verdicts : dict of Verdict to int
        How often each verdict was given; every verdict is there.
    puzzles : list of PuzzleResult
        In the order of the set.
    duplicate_count : int
        Answers to puzzles that had one before; the first counts.
    stray_count : int
        Answers to puzzles that are not in the set, and stretches of text that belong to no answer.
    remarks : list of str
        Duplicate answers and stray text in words; the first few.
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
        """How many puzzles were answered right."""
        return self.verdicts[Verdict.RIGHT]

    @property
    def all_right(self) -> bool:
        """Whether every puzzle was answered right."""
        return self.right == len(self.puzzles)


class RunResult(Struct, frozen=True, tag_field="kind", tag="run"):
    """A run of a bot on a set.

    Attributes
    ----------
    bot : str
        Its name in tables.
    command : list of str
    set : SetFacts
    terms : Terms
    machine : Machine
    judge_version : str
    started_at : str
        UTC, ISO 8601.
    warm_up_seconds : float or None
        How long the bot was warmed up before the clock started; None: it was not, kernels may have been cold.
    legs : list of Leg
    stderr_bytes : int
        How much the bot wrote to stderr; if it works on files, to stdout as well.
    stderr_file : str or None
        Where it is.
    score : Score
    files : FileNames, optional
        Those of a bot that works on files, instead of pipes.
    show : list of str, optional
        What a contained bot was shown beside what its command names.
    hide : list of str, optional
        What was hidden from it though it lies in a folder that it sees; of a tournament's run.
    """

    bot: str
    command: list[str]
    set: SetFacts
    terms: Terms
    machine: Machine
    judge_version: str
    started_at: str
    warm_up_seconds: float | None
    legs: list[Leg]
    stderr_bytes: int
    stderr_file: str | None
    score: Score
    schema_version: int = SCHEMA_VERSION
    files: FileNames | UnsetType = UNSET
    show: list[str] | UnsetType = UNSET
    hide: list[str] | UnsetType = UNSET

    @property
    def end(self) -> BotEnd:
        """How the run ended: the end of its last leg."""
        return self.legs[-1].end

    @property
    def started(self) -> bool:
        """Whether the bot could be started at all."""
        return any(leg.end.reason is not EndReason.NOT_STARTED for leg in self.legs)

    @property
    def usage(self) -> Usage:
        """What all legs took together."""
        return Usage.of_all(leg.usage for leg in self.legs)

    @property
    def contained(self) -> bool | None:
        """Whether the bot ran within walls; None if one leg did and another did not."""
        found = {leg.contained is True for leg in self.legs if leg.end.reason is not EndReason.NOT_STARTED}
        return None if len(found) > 1 else True in found

    @property
    def counted(self) -> Counted:
        """Which figures the kernel counted in every leg."""
        found = [Counted() if leg.counted is UNSET else leg.counted for leg in self.legs]
        return Counted(
            all(one.cpu for one in found), all(one.memory for one in found), all(one.processes for one in found)
        )

    @property
    def time_seconds(self) -> float:
        """The time that the run is ranked by.

        Where every puzzle was answered, that of the last answer's arrival: what the process did after it does not
        count. Else the run's wall time: until its end an answer might have come. A bot that could not be started
        has let all of its time pass: it stands behind those that tried.
        """
        if not self.started:
            return self.terms.wall_limit_seconds
        arrivals = [one.arrived_seconds for one in self.score.puzzles if one.arrived_seconds is not None]
        if len(arrivals) == len(self.score.puzzles):
            return max(arrivals)
        return self.usage.wall_seconds


class VerifyResult(Struct, frozen=True, tag_field="kind", tag="verify"):
    """A check of an answer file against its question file."""

    set: SetFacts
    answers_file: str
    score: Score
    schema_version: int = SCHEMA_VERSION
