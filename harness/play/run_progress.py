"""Progress of a run on the screen, with its verdicts so far."""

from __future__ import annotations

from typing import Self

from nonobot.harness.play.run_events import RunSoFar
from nonobot.harness.progress import Progress
from nonobot.harness.results.run_result import Verdict
from nonobot.harness.text import duration


class RunProgress(Progress):
    """Progress of a run on a set, with the number of puzzles right so far; until one is judged, with a `note`."""

    def __init__(self, puzzle_count: int, quiet: bool, note: str = "") -> None:
        super().__init__(None if quiet else puzzle_count, 0.0)  # at once, because the first answer may take long
        self._note = note
        self._slowest = ""
        self._slowest_seconds = -1.0

    def __enter__(self) -> Self:
        self.show(0, ", ".join(filter(None, (self._note, f"0/{self._total}", "0 right"))))
        return self

    def take(self, run: RunSoFar) -> None:
        """Show a run after a verdict: the most important figures first, because terminals are narrow."""
        answered, seconds, last = len(run.puzzles), run.wall_seconds, run.puzzles[-1]
        if last.took_seconds is not None and last.took_seconds > self._slowest_seconds:
            self._slowest_seconds = last.took_seconds
            self._slowest = f"slowest ${last.number} {duration(last.took_seconds)}"
        parts = [
            f"${last.number}, {answered}/{self._total}",
            *(
                f"{number} {verdict}"
                for verdict, number in run.verdicts.items()
                if number or verdict is Verdict.RIGHT
            ),
            f"{answered / seconds:.1f}/s" if seconds > 0 else "",
            self._slowest,
        ]
        self.show(answered, ", ".join(filter(None, parts)), seconds)
