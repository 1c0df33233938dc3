"""Whole generated sets, from the puzzle to its solution, without the process around it."""

from __future__ import annotations

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.papers import PapersStrategy
from nonobot.harness.bench.job import Job, clocked, require
from nonobot.protocol import mismatches
from nonobot.tournament_data import load_set

__all__ = ["make"]

_SETS = {
    "set-20x20": "boardgen:20x20x40:seed=2",
    "set-25x25": "boardgen:25x25x100:seed=2011",
    "set-30x30": "boardgen:30x30x40:seed=2",
    "set-papers": "boardgen:20x20x40:seed=2",
}


def make(name: str) -> Job:
    """Return the job of a set."""
    puzzles = [one.puzzle for one in load_set(_SETS[name]).puzzles]
    strategy = PapersStrategy("fp2") if name == "set-papers" else ChampionStrategy()
    strategy.prepare(lambda *_: None)

    def work(loops: int) -> None:
        for _ in range(loops):
            for puzzle in puzzles:
                strategy.solve(puzzle)

    def check() -> None:
        for number, puzzle in enumerate(puzzles, 1):
            solutions = strategy.solve(puzzle).solutions
            require(len(solutions) == 1, f"${number} is not solved")
            require(not mismatches(puzzle, solutions[0]), f"${number} is solved wrongly")

    return Job(len(puzzles), clocked(work), check)
