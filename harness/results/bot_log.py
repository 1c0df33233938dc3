"""A bot's own log of its times: `#k<TAB>seconds` for each puzzle, `total time: seconds` last."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from nonobot.harness.errors import UnusableError

__all__ = ["BotLog", "is_log", "parse_log"]

_START = re.compile(rb"\s*(?:#\s*[0-9]|total time\s*:)", re.IGNORECASE)
_PUZZLE = re.compile(r"#\s*([0-9]{1,18})\s+(\S+)")
_TOTAL = re.compile(r"total time\s*:\s*(\S+?)\s*s?", re.IGNORECASE)


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


def is_log(content: bytes) -> bool:
    """Return whether `content` starts as a log does."""
    return _START.match(content.removeprefix(b"\xef\xbb\xbf")) is not None


def parse_log(path: Path, content: bytes) -> BotLog:
    """Return the times in a log; UnusableError, with the path and the number of the line, if a line is not one."""
    seconds: dict[int, float] = {}
    total: float | None = None
    for number, line in enumerate(content.decode("utf-8-sig", errors="replace").splitlines(), start=1):
        text = line.strip()
        if not text:
            continue
        if total is not None:
            raise UnusableError(f"{path}: line {number}: {_shown(text)} comes after the total time")
        if puzzle := _PUZZLE.fullmatch(text):
            seconds.setdefault(int(puzzle[1]), _time(path, number, puzzle[2]))
        elif stated := _TOTAL.fullmatch(text):
            total = _time(path, number, stated[1])
        else:
            raise UnusableError(
                f"{path}: line {number}: {_shown(text)} is neither '#k<TAB>seconds' nor 'total time: seconds'"
            )
    return BotLog(seconds, total)


def _time(path: Path, number: int, text: str) -> float:
    try:
        time = float(text)
    except ValueError:
        time = -1.0
    if not 0 <= time < float("inf"):
        raise UnusableError(f"{path}: line {number}: {_shown(text)} is not a time in seconds")
    return time


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
