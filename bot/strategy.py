"""The strategies by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from nonobot.bot.cli import Options
from nonobot.bot.result import MOST_TRACE_EVENTS, Result, TraceEvent
from nonobot.protocol import DEFAULT_SIZE, PartialGrid, Puzzle

__all__ = ["Strategy", "make_strategy"]


class Strategy(Protocol):
    """A way to solve puzzles; it keeps its memory from puzzle to puzzle."""

    name: str

    def prepare(
        self,
        on_compile: Callable[[str], None],
        size: tuple[int, int] | None = DEFAULT_SIZE,
        everything: bool = False,
    ) -> None:
        """Load the kernels for boards of a size, and have it told from now on what has to be compiled.

        `on_compile` is told before it is. `size` None: nothing is loaded before the first board; `everything`:
        those too that only some boards need. ValueError: the strategy takes no boards of this size.
        """

    def solve(
        self,
        puzzle: Puzzle,
        *,
        start: PartialGrid | None = None,
        solutions: int = 1,
        seconds: float | None = None,
        line_limit: int | None = None,
    ) -> Result:
        """Look for up to `solutions` solutions that have the cells of `start`, for at most `seconds`.

        After `line_limit` painted lines the search is given up too, on every machine at the same place.
        """

    def stop(self) -> None:
        """Let the search that another thread is in return soon, with what it has, and every one after it."""

    def watch(self, most: int = MOST_TRACE_EVENTS) -> None:
        """Record the trace events of every search from now on, the first ones, up to `most` of each."""

    def trace_events(self) -> Iterator[tuple[TraceEvent, PartialGrid]]:
        """Yield the trace events of the last search; the first ones, if there are many."""


def make_strategy(options: Options) -> Strategy:
    """Return the strategy that the options ask for; the kernels of no other are loaded."""
    if options.strategy == "papers":
        from nonobot.bot.papers import PapersStrategy

        return PapersStrategy(options.probing, options.line_solver)
    from nonobot.bot.champion import ChampionStrategy

    return ChampionStrategy(options.seed, options.without)
