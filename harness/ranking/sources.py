"""What the commands are given: files and folders, read into results and logs of bots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nonobot.harness.errors import UnusableError
from nonobot.harness.results.bot_log import BotLog, is_log, parse_log
from nonobot.harness.results.result_files import result_in
from nonobot.harness.results.run_result import RunResult, VerifyResult

__all__ = ["RESULT_ENDINGS", "Source", "files_in", "read_source", "read_sources"]

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
