"""Reads the files and folders that a command names: results of the judge and logs of bots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nonobot.harness.errors import UnusableError
from nonobot.harness.results.bot_log import BotLog, is_log, parse_log
from nonobot.harness.results.result_files import result_in
from nonobot.harness.results.run_result import RunResult, VerifyResult

__all__ = ["RESULT_ENDINGS", "AnyResult", "files_in", "read_any", "read_results"]

RESULT_ENDINGS = (".json", ".log")
"""Endings of the files read from a folder; a file that is named itself may have any."""

AnyResult = RunResult | VerifyResult | BotLog


def files_in(place: Path, endings: Sequence[str] = RESULT_ENDINGS) -> list[Path]:
    """Return `place` if it is a file, else the files in it with one of `endings`; UnusableError without any."""
    if not place.is_dir():
        return [place]
    try:
        paths = [path for path in place.iterdir() if path.suffix in endings and not path.name.startswith(".")]
    except OSError as error:
        raise UnusableError(f"cannot read the folder {place}: {error.strerror}") from None
    if not paths:
        raise UnusableError(f"the folder {place} holds no result: no file that ends in {' or '.join(endings)}")
    return sorted(paths)


def read_any(path: Path) -> AnyResult:
    """Return the result or log in a file; UnusableError if it is neither, or broken."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnusableError(f"cannot read {path}: {error.strerror}") from None
    return parse_log(path, content) if is_log(content) else result_in(content, path)


def read_results(places: Sequence[Path]) -> tuple[dict[Path, AnyResult], list[str]]:
    """Return the results in files and folders, each file once, and a line on each that cannot be read."""
    paths: dict[Path, Path] = {}
    results: dict[Path, AnyResult] = {}
    problems: list[str] = []
    for place in places:
        try:
            for path in files_in(place):
                paths.setdefault(path.resolve(), path)
        except UnusableError as problem:
            problems.append(str(problem))
    for path in paths.values():
        try:
            results[path] = read_any(path)
        except UnusableError as problem:
            problems.append(str(problem))
    return results, problems
