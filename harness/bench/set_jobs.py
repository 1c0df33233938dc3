"""Benchmarks of whole sets within a process: solve them, read a question file, write answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.papers import PapersStrategy
from nonobot.harness.bench.job import Job, clocked, require
from nonobot.harness.bench.positions import positions
from nonobot.protocol import Record, Solution, TaaiReader, format_answer, format_puzzle, mismatches
from nonobot.tournament_data import load_set

COUNT = 200  # puzzles of the question file, and answers written

SETS = {
    "set-20x20": "boardgen:20x20x40:seed=2",
    "set-25x25": "boardgen:25x25x100:seed=2011",
    "set-30x30": "boardgen:30x30x40:seed=2",
    "set-papers": "boardgen:20x20x40:seed=2",
}


def make(name: str) -> Job:
    """Return the job of a benchmark: of a set, of reading, or of writing."""
    if name in SETS:
        return _solving(name)
    return _reading() if name == "protocol-reading" else _writing()


def _repeating(units: int, once: Callable[[], object], check: Callable[[], None]) -> Job:
    def work(loops: int) -> None:
        for _ in range(loops):
            once()

    return Job(units, clocked(work), check)


def _solving(name: str) -> Job:
    puzzles = [numbered.puzzle for numbered in load_set(SETS[name]).puzzles]
    strategy = PapersStrategy("fp2") if name == "set-papers" else ChampionStrategy()
    strategy.prepare()

    def solve() -> list[Sequence[Solution]]:
        return [strategy.solve(puzzle).solutions for puzzle in puzzles]

    def check() -> None:
        for number, (puzzle, solutions) in enumerate(zip(puzzles, solve(), strict=True), 1):
            require(len(solutions) == 1, f"${number} is not solved")
            require(not mismatches(puzzle, solutions[0]), f"${number} is solved wrongly")

    return _repeating(len(puzzles), solve, check)


def _reading() -> Job:
    puzzles = [positions()[number % len(positions())].puzzle for number in range(COUNT)]
    lines = b"".join(format_puzzle(number, puzzle) for number, puzzle in enumerate(puzzles, 1)).splitlines(True)

    def read() -> list[object]:
        reader = TaaiReader()
        records: list[object] = []
        for line in lines:
            records += reader.feed(line)
        return records + reader.close()

    def check() -> None:
        found = [record.puzzle for record in read() if isinstance(record, Record)]
        require(found == puzzles, "not the puzzles written")

    return _repeating(COUNT, read, check)


def _writing() -> Job:
    random = np.random.default_rng(1)
    grids = [Solution(random.integers(0, 2, (25, 25), np.uint8)) for _ in range(COUNT)]

    def write() -> bytes:
        return b"".join([format_answer(number, grid) for number, grid in enumerate(grids, 1)])

    def check() -> None:
        lines = write().splitlines()
        rows = [[int(cell) for cell in line.split(b"\t")] for line in lines if not line.startswith(b"$")]
        require(bool(np.array_equal(rows, np.concatenate([grid.cells for grid in grids]))), "not the cells given")

    return _repeating(COUNT, write, check)
