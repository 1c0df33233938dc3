"""The program's own record: the log of times and the statistics, a line for each puzzle."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from nonobot.bot.result import Result

__all__ = ["RunLog"]


class _LineFile:
    """One file, a line at a time; a failure is said once, and costs no answer."""

    def __init__(self, path: Path, on_failure: Callable[[str], None]) -> None:
        self._path = path
        self._on_failure = on_failure
        self._file: TextIO | None = path.open("w", encoding="ascii", buffering=1)

    def write(self, line: str) -> None:
        if self._file is None:
            return
        try:
            self._file.write(line + "\n")
        except OSError as error:
            self._on_failure(f"cannot write {self._path}: {error.strerror}; no further records go there")
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def close(self) -> None:
        if self._file:
            self._file.close()


class RunLog:
    """Writes the log and the statistics, each line at once; either may be missing.

    Parameters
    ----------
    log, stats : Path or None
    on_failure : callable
        Called with a line for people when a file cannot be written any more.

    Raises
    ------
    OSError
        If a file cannot be opened for writing.
    """

    def __init__(self, log: Path | None, stats: Path | None, on_failure: Callable[[str], None]) -> None:
        self._log = _LineFile(log, on_failure) if log else None
        self._stats = _LineFile(stats, on_failure) if stats else None

    def add(self, number: int, result: Result | None) -> None:
        """Record a puzzle; `result` is None for one that could not be read."""
        seconds = result.seconds if result else 0.0
        if self._log:
            self._log.write(f"#{number}\t{seconds:.6f}")
        if self._stats:
            import json  # which a tournament's process does without

            line: dict[str, object] = {"puzzle": number, "status": result.status if result else "invalid"}
            line["seconds"] = round(seconds, 6)
            if result:
                line |= {"solutions": len(result.solutions), "verdict": result.verdict, **result.counts}
                line["step_seconds"] = {step: round(spent, 9) for step, spent in result.step_seconds.items()}
            self._stats.write(json.dumps(line))

    def close(self, total_seconds: float) -> None:
        """Write the last line of the log, and close both."""
        if self._log:
            self._log.write(f"total time: {total_seconds:.6f}")
            self._log.close()
        if self._stats:
            self._stats.close()
