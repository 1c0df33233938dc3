"""Pictures of answers, with the lines at fault marked wherever the puzzle is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from nonobot.harness.report.contents import Run
from nonobot.harness.results.conditions import SetFacts
from nonobot.harness.results.run_result import PuzzleResult, Verdict
from nonobot.protocol import Puzzle, Solution
from nonobot.protocol.scene import Picture, scene_of
from nonobot.protocol.svg import INHERIT, svg_of
from nonobot.tournament_data import Recipe, SetError, load_set
from nonobot.tournament_data.generate import PREFIX

CELL = 8
"""Side of a cell, in units of the drawing; the page scales it."""


PAGE = replace(INHERIT, colours=INHERIT.colours | {"heavy": "var(--axis)", "wrong": "var(--bad)"})
"""The colours of pictures: those of the page around them."""


class Gallery:
    """The pictures of one set's answers.

    A right answer of one of `runs` gives the clues of its puzzle; otherwise the set itself does, if it is at hand.
    """

    def __init__(self, facts: SetFacts, runs: Sequence[Run]) -> None:
        self._facts = facts
        self._runs = runs

    def picture(self, result: PuzzleResult) -> str | None:
        """Return the picture of an answer as SVG; None without a grid."""
        solution = cells_of(result, self._facts)
        if solution is None:
            return None
        puzzle = self._puzzle(result.number) or Puzzle.from_grid(solution.cells)
        name = f"the answer to puzzle {result.number}"
        return svg_of(scene_of(Picture.of_answer(puzzle, solution, name), CELL, clues=False), PAGE)

    def solved(self, number: int) -> str | None:
        """Return the picture of the first right answer to a puzzle; None without one."""
        return next(filter(None, map(self.picture, self._right(number))), None)

    def _right(self, number: int) -> list[PuzzleResult]:
        results = (run.by_number.get(number) for run in self._runs)
        return [one for one in results if one and one.verdict is Verdict.RIGHT]

    def _puzzle(self, number: int) -> Puzzle | None:
        solutions = (cells_of(one, self._facts) for one in self._right(number))
        solution = next(filter(None, solutions), None)
        return Puzzle.from_grid(solution.cells) if solution else self._set.get(number)

    @cached_property
    def _set(self) -> dict[int, Puzzle]:
        """The puzzles of the set by number; empty if it is not at hand or has changed."""
        facts = self._facts
        try:
            if not self._is_harmless(facts.name):
                return {}
            puzzle_set = load_set(facts.name, (facts.width, facts.height))
        except (SetError, ValueError, OSError):
            return {}
        same = puzzle_set.sha256 == facts.sha256
        return {one.number: one.puzzle for one in puzzle_set.puzzles} if same else {}

    def _is_harmless(self, name: str) -> bool:
        """Return whether a set can be loaded: an untrusted result may name a pipe or a billion boards."""
        if name.startswith(PREFIX):
            recipe = Recipe.parse(name)
            boards = (self._facts.width, self._facts.height, len(self._runs[0].result.score.puzzles))
            return (recipe.width, recipe.height, recipe.count) == boards
        return Path(name).is_file() or not Path(name).exists()


def cells_of(result: PuzzleResult, facts: SetFacts) -> Solution | None:
    """Return the grid of an answer; None without one, or where it does not fit the set's boards."""
    cell_count = facts.width * facts.height
    try:
        content = bytes.fromhex(result.cells_hex or "")
    except ValueError:
        return None
    if min(facts.width, facts.height) < 1 or len(content) != (cell_count + 7) // 8:
        return None
    cells = np.unpackbits(np.frombuffer(content, dtype=np.uint8), count=cell_count)
    return Solution(cells.reshape(facts.height, facts.width))
