"""What is shown of a run while it goes on: how far it is, and what has come of it so far."""

from __future__ import annotations

from collections import Counter
from types import TracebackType

from nonobot.harness.progress import Progress, progress_for
from nonobot.harness.results.run_result import PuzzleResult, Verdict
from nonobot.harness.text import duration

__all__ = ["Screen", "screen_for"]

NOT_RIGHT = [verdict for verdict in Verdict if verdict is not Verdict.RIGHT]


def screen_for(puzzle_count: int, quiet: bool) -> Screen:
    """Return a screen that fits the place where stderr goes; one that shows nothing if `quiet`."""
    # At once: the first answer may be long in coming.
    return Screen(puzzle_count, Progress() if quiet else progress_for(puzzle_count, seconds_before_bar=0.0))


class Screen:
    """Shows a run, within a `with` block.

    Parameters
    ----------
    puzzle_count : int
    progress : Progress
    """

    def __init__(self, puzzle_count: int, progress: Progress) -> None:
        self._standing = Standing(puzzle_count)
        self._progress = progress

    def __enter__(self) -> Screen:
        self._progress.__enter__()
        self._progress.show(0, self._standing.line)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.__exit__(kind, error, trace)

    def show(self, ruling: PuzzleResult, seconds: float, took_seconds: float | None) -> None:
        """Take a ruling whose answer arrived `seconds` after the start and took `took_seconds`."""
        self._standing.take(ruling, seconds, took_seconds)
        self._progress.show(self._standing.answered, self._standing.line, seconds)


class Standing:
    """What has come of a run so far, in words.

    Parameters
    ----------
    puzzle_count : int
    """

    def __init__(self, puzzle_count: int) -> None:
        self._total = puzzle_count
        self._found: Counter[Verdict] = Counter()
        self._slowest: tuple[float, int] | None = None
        self._last: int | None = None
        self._seconds = 0.0

    def take(self, ruling: PuzzleResult, seconds: float, took_seconds: float | None) -> None:
        """Take a ruling."""
        self._found[ruling.verdict] += 1
        self._last = ruling.number
        self._seconds = seconds
        if took_seconds is not None and (self._slowest is None or took_seconds > self._slowest[0]):
            self._slowest = took_seconds, ruling.number

    @property
    def answered(self) -> int:
        """How many puzzles have a ruling."""
        return self._found.total()

    @property
    def line(self) -> str:
        """All of it in one line: what matters most first, for terminals are narrow."""
        said = [
            "" if self._last is None else f"${self._last}",
            f"{self.answered}/{self._total}",
            self._tally(),
            f"{self.answered / self._seconds:.1f}/s" if self._seconds > 0 else "",
            f"slowest ${self._slowest[1]} {duration(self._slowest[0])}" if self._slowest else "",
        ]
        return ", ".join(filter(None, said))

    def _tally(self) -> str:
        """Return how many are right, and how many are not where there are any."""
        found = self._found
        others = [f"{found[verdict]} {verdict}" for verdict in NOT_RIGHT if found[verdict]]
        return ", ".join([f"{found[Verdict.RIGHT]} right", *others])
