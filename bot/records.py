"""The program's own record: the log of times and the statistics, a line for each puzzle."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from bot.result import Result

__all__ = ["Records"]


class Records:
    """Writes the log and the statistics, each line at once; either may be missing.

    Parameters
    ----------
    log, stats : Path or None

    Raises
    ------
    OSError
        If a file cannot be opened for writing.
    """

    def __init__(self, log: Path | None, stats: Path | None) -> None:
        with ExitStack() as files:
            self._log = files.enter_context(_open(log)) if log else None
            self._stats = files.enter_context(_open(stats)) if stats else None
            self._files = files.pop_all()

    def add(self, number: int, seconds: float, result: Result | None) -> None:
        """Record a puzzle; `result` is None for one that could not be read."""
        if self._log:
            self._log.write(f"#{number}\t{seconds:.6f}\n")
        if self._stats:
            line: dict[str, object] = {"puzzle": number, "status": result.status if result else "invalid"}
            line["seconds"] = round(seconds, 6)
            if result:
                line |= {"solutions": len(result.solutions), "verdict": result.verdict, **result.counts}
            self._stats.write(json.dumps(line) + "\n")

    def close(self, total_seconds: float) -> None:
        """Write the last line of the log, and close both."""
        if self._log:
            self._log.write(f"total time: {total_seconds:.6f}\n")
        self._files.close()


def _open(path: Path) -> TextIO:
    return path.open("w", encoding="ascii", buffering=1)
