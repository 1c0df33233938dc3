"""What the commands are given: files and folders, read into results and logs of bots."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nonobot.harness.errors import UnusableError
from nonobot.harness.results.result_files import result_in
from nonobot.harness.results.run_result import RunResult, VerifyResult

__all__ = ["RESULT_ENDINGS", "BotLog", "Source", "files_in", "is_log", "parse_log", "read_source", "read_sources"]

_START = re.compile(rb"\s*(?:#\s*[0-9]|total time\s*:)", re.IGNORECASE)
_PUZZLE = re.compile(r"#\s*([0-9]{1,18})\s+(\S+)")
_TOTAL = re.compile(r"total time\s*:\s*(\S+?)\s*s?", re.IGNORECASE)


@dataclass(frozen=True)
class BotLog:
    """What a log says.

    Attributes
    ----------
    bot : str
        The file's name without its ending: a log does not name its bot.
    seconds : dict of int to float
        For each puzzle logged, how long it took; the first line of a puzzle counts.
    total_seconds : float or None
        As stated in the last line; None where the log was cut off before it.
    """

    bot: str
    seconds: dict[int, float]
    total_seconds: float | None

    @property
    def time_seconds(self) -> float:
        """The time that the log is ranked by: the stated total, else the sum of what is there."""
        return sum(self.seconds.values()) if self.total_seconds is None else self.total_seconds


def is_log(content: bytes) -> bool:
    """Return whether `content` starts as a log does."""
    return _START.match(content.removeprefix(b"\xef\xbb\xbf")) is not None


def parse_log(path: Path, content: bytes) -> BotLog:
    """Return what the log `content` of the file `path` says.

    Raises
    ------
    UnusableError
        If a line is neither a puzzle's nor the total; file and line are named.
    """
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
    return BotLog(path.stem, seconds, total)


def _time(path: Path, number: int, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise UnusableError(f"{path}: line {number}: {_shown(text)} is not a time in seconds")
    return found


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")


RESULT_ENDINGS = (".json", ".log")
"""What is taken from a folder; a file that is named itself may end as it likes."""


@dataclass(frozen=True)
class Source:
    """A file and what it holds."""

    path: Path
    found: RunResult | VerifyResult | BotLog


def files_in(place: Path, endings: Sequence[str] = RESULT_ENDINGS) -> list[Path]:
    """Return the files that `place` names: itself, or those of a folder with one of `endings`.

    Raises
    ------
    UnusableError
        If a folder holds none or cannot be read.
    """
    if not place.is_dir():
        return [place]
    try:
        found = [path for path in place.iterdir() if path.suffix in endings and not path.name.startswith(".")]
    except OSError as error:
        raise UnusableError(f"cannot read the folder {place}: {error.strerror}") from None
    if not found:
        raise UnusableError(f"the folder {place} holds no result: no file that ends in {' or '.join(endings)}")
    return sorted(found)


def read_source(path: Path) -> Source:
    """Return what the file `path` holds.

    Raises
    ------
    UnusableError
        If that is neither a result nor a log, or a broken one.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnusableError(f"cannot read {path}: {error.strerror}") from None
    return Source(path, parse_log(path, content) if is_log(content) else result_in(content, path))


def read_sources(places: Sequence[Path]) -> tuple[list[Source], list[str]]:
    """Return all that can be read in `places`, each file once, and a line on each file or folder that cannot."""
    paths: dict[Path, Path] = {}
    sources: list[Source] = []
    problems: list[str] = []
    for place in places:
        try:
            for path in files_in(place):
                paths.setdefault(path.resolve(), path)
        except UnusableError as problem:
            problems.append(str(problem))
    for path in paths.values():
        try:
            sources.append(read_source(path))
        except UnusableError as problem:
            problems.append(str(problem))
    return sources, problems
