"""The hard boards that the benchmarks work on, with line states sampled from searches of them.

`positions.json` was written by `nonobot.harness.bench.jobs.sample`; nothing else than this reads it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nonobot.protocol import Puzzle

__all__ = ["FILE", "Position", "positions"]

FILE = Path(__file__).with_name("positions.json")


@dataclass(frozen=True)
class Position:
    """A puzzle and states of its lines.

    Attributes
    ----------
    origin : str
        Generated set, and the puzzle's number in it.
    lines, black, white : uint64 arrays, shape (states,)
        Number of the line, rows first, and masks of the cells known when a search painted it.
    painted : int
        Sum of the known cells over all states once each is painted; lines in conflict count none.
    """

    origin: str
    puzzle: Puzzle
    lines: npt.NDArray[np.uint64]
    black: npt.NDArray[np.uint64]
    white: npt.NDArray[np.uint64]
    painted: int

    @property
    def states(self) -> tuple[npt.NDArray[np.int64], ...]:
        """`lines`, `black` and `white` as the kernels take them."""
        return tuple(each.astype(np.int64) for each in (self.lines, self.black, self.white))


@cache
def positions() -> tuple[Position, ...]:
    """Return all positions."""
    return tuple(_position(entry) for entry in json.loads(FILE.read_text(encoding="ascii")))


def _position(entry: dict[str, Any]) -> Position:
    lines, black, white = np.array(entry["states"], np.uint64).T.copy()
    puzzle = Puzzle(columns=tuple(map(tuple, entry["columns"])), rows=tuple(map(tuple, entry["rows"])))
    return Position(entry["origin"], puzzle, lines, black, white, entry["painted"])
