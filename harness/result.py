"""What a judge found, as data and as one JSON file.

Every file states `schema_version`; a change that old readers cannot take raises it. Every time carries its unit in
its name.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

from harness.process import Usage
from harness.referee import Referee, Ruling, Verdict
from tournament_data import PuzzleSet

__all__ = [
    "SCHEMA_VERSION",
    "BotEnd",
    "EndReason",
    "PuzzleResult",
    "RunResult",
    "Score",
    "SetFacts",
    "VerifyResult",
    "check_writable",
    "to_json",
    "write_json",
]

SCHEMA_VERSION = 1


class EndReason(StrEnum):
    """How a run ended.

    EXITED, SIGNALLED: the bot ended by itself, with a status or of a signal. TIME_LIMIT: its time was over.
    LINGERED: it had answered everything, or closed its stdout, and did not end. INTERRUPTED: the judge was
    told to stop.
    """

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIME_LIMIT = "time-limit"
    LINGERED = "lingered"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class SetFacts:
    """Which set was used; two results compare only where `sha256` is the same."""

    name: str
    sha256: str
    width: int
    height: int
    puzzle_count: int

    @classmethod
    def of(cls, puzzle_set: PuzzleSet) -> SetFacts:
        """Return the facts of `puzzle_set`."""
        return cls(
            puzzle_set.name,
            puzzle_set.sha256,
            puzzle_set.width,
            puzzle_set.height,
            len(puzzle_set.puzzles),
        )


@dataclass(frozen=True, slots=True)
class PuzzleResult:
    """The ruling on a puzzle and its times.

    Attributes
    ----------
    number : int
    verdict : Verdict
    detail : str or None
    arrived_seconds : float or None
        From the start of the bot to the last line of the answer; None without an answer, or without a clock.
    took_seconds : float or None
        Fed in a batch: since the answer that came before. Fed interactively: since the puzzle was sent.
    """

    number: int
    verdict: Verdict
    detail: str | None
    arrived_seconds: float | None = None
    took_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """The rulings on a set.

    Attributes
    ----------
    verdicts : dict of str to int
        How often each verdict was given.
    remarks : list of str
        What was written beside first answers to puzzles of the set; the first few.
    remark_count : int
    puzzles : list of PuzzleResult
        In the order of the set.
    """

    verdicts: dict[str, int]
    remarks: list[str]
    remark_count: int
    puzzles: list[PuzzleResult]

    @classmethod
    def of(cls, referee: Referee, times: dict[int, tuple[float, float | None]] | None = None) -> Score:
        """Return the score that `referee` gives; `times` has arrived and took seconds by number."""
        puzzles = [_puzzle_result(ruling, times or {}) for ruling in referee.final()]
        verdicts = {verdict.value: sum(one.verdict is verdict for one in puzzles) for verdict in Verdict}
        return cls(verdicts, referee.remarks, referee.remark_count, puzzles)

    @property
    def all_right(self) -> bool:
        """Whether every puzzle was answered right."""
        return self.verdicts[Verdict.RIGHT] == len(self.puzzles)


def _puzzle_result(ruling: Ruling, times: dict[int, tuple[float, float | None]]) -> PuzzleResult:
    return PuzzleResult(ruling.number, ruling.verdict, ruling.detail, *times.get(ruling.number, (None, None)))


@dataclass(frozen=True, slots=True)
class BotEnd:
    """How the bot ended: the reason, and the status or the signal of its process."""

    reason: EndReason
    exit_status: int | None
    signal: str | None


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run of a bot on a set.

    Attributes
    ----------
    set : SetFacts
    command : list of str
    feed : str
        `batch` or `interactive`.
    wall_limit_seconds : float
        For the whole set.
    started_at : str
        UTC, ISO 8601.
    judge_version : str
    end : BotEnd
    usage : Usage
    stderr_bytes : int
        How much the bot wrote to stderr.
    stderr_file : str or None
        Where it is.
    score : Score
    """

    set: SetFacts
    command: list[str]
    feed: str
    wall_limit_seconds: float
    started_at: str
    judge_version: str
    end: BotEnd
    usage: Usage
    stderr_bytes: int
    stderr_file: str | None
    score: Score
    kind: str = field(default="run", init=False)


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """A check of an answer file against its question file."""

    set: SetFacts
    answers_file: str
    score: Score
    kind: str = field(default="verify", init=False)


def to_json(result: RunResult | VerifyResult) -> str:
    """Return `result` as JSON text, the kind and the schema version first."""
    content = asdict(result)
    head = {"kind": content.pop("kind"), "schema_version": SCHEMA_VERSION}
    return json.dumps(head | content, indent=1) + "\n"


def check_writable(path: Path) -> None:
    """Make the folder of `path` and see that a file can be written there: before a run, not after it.

    Raises
    ------
    OSError
        If not.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(path))
    with tempfile.TemporaryFile(dir=path.parent):
        pass


def write_json(path: Path, result: RunResult | VerifyResult) -> None:
    """Write `result` to `path`: the file is there in full or not at all.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            file.write(to_json(result))
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
