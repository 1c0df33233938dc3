"""Reading a question file and writing answers, as the process does it."""

from __future__ import annotations

import numpy as np

from nonobot.harness.bench.job import Job, clocked, require
from nonobot.harness.bench.jobs.positions import positions
from nonobot.protocol import Record, Solution, TaaiReader, format_answer, format_puzzle

__all__ = ["make"]

COUNT = 200
"""Puzzles of the file, answers of the batch."""


def make(name: str) -> Job:
    """Return the job of reading, or of writing."""
    return _reading() if name == "protocol-reading" else _writing()


def _reading() -> Job:
    puzzles = [positions()[number % len(positions())].puzzle for number in range(COUNT)]
    lines = b"".join(format_puzzle(number, puzzle) for number, puzzle in enumerate(puzzles, 1)).splitlines(True)

    def read() -> list[object]:
        reader = TaaiReader()
        found: list[object] = []
        for line in lines:
            found += reader.feed(line)
        return found + reader.close()

    def work(loops: int) -> None:
        for _ in range(loops):
            read()

    def check() -> None:
        require([one.puzzle for one in read() if isinstance(one, Record)] == puzzles, "not the puzzles written")

    return Job(COUNT, clocked(work), check)


def _writing() -> Job:
    random = np.random.default_rng(1)
    grids = [Solution(random.integers(0, 2, (25, 25), np.uint8)) for _ in range(COUNT)]

    def write() -> bytes:
        return b"".join([format_answer(number, grid) for number, grid in enumerate(grids, 1)])

    def work(loops: int) -> None:
        for _ in range(loops):
            write()

    def check() -> None:
        lines = write().splitlines()
        rows = [[int(cell) for cell in line.split(b"\t")] for line in lines if not line.startswith(b"$")]
        require(bool(np.array_equal(rows, np.concatenate([grid.cells for grid in grids]))), "not the cells given")

    return Job(COUNT, clocked(work), check)
