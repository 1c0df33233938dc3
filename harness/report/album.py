"""Pictures of answers, with the lines at fault marked wherever the puzzle is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from nonobot.harness.pictures import INHERIT, Picture, scene_of, svg_of
from nonobot.harness.report.contents import Run
from nonobot.harness.results.run_result import PuzzleResult, Verdict
from nonobot.harness.results.terms import SetFacts
from nonobot.protocol import Puzzle, Solution
from nonobot.tournament_data import Recipe, SetError, load_set
from nonobot.tournament_data.recipe import PREFIX

__all__ = ["Album", "cells_of"]

CELL = 8
"""Side of a cell, in units of the drawing; the page scales it."""


PAGE = replace(INHERIT, colours=INHERIT.colours | {"heavy": "var(--axis)", "wrong": "var(--bad)"})
"""The colours of pictures: those of the page around them."""


class Album:
    """The pictures of one set's answers.

    Parameters
    ----------
    facts : SetFacts
    runs : sequence of Run
        Their right answers tell the clues of a puzzle; where there is none, the set itself if it is at hand.
    """

    def __init__(self, facts: SetFacts, runs: Sequence[Run]) -> None:
        self._facts = facts
        self._runs = runs

    def picture(self, ruling: PuzzleResult) -> str | None:
        """Return the picture of an answer as SVG; None without a grid."""
        solution = cells_of(ruling, self._facts)
        if solution is None:
            return None
        puzzle = self._puzzle(ruling.number) or Puzzle.from_grid(solution.cells)
        name = f"the answer to puzzle {ruling.number}"
        return svg_of(scene_of(Picture.of_answer(puzzle, solution, name), CELL, clues=False), PAGE)

    def solved(self, number: int) -> str | None:
        """Return the picture of the first right answer to a puzzle; None without one."""
        answers = (run.by_number.get(number) for run in self._runs)
        pictures = (self.picture(one) for one in answers if one and one.verdict is Verdict.RIGHT)
        return next(filter(None, pictures), None)

    def _puzzle(self, number: int) -> Puzzle | None:
        for run in self._runs:
            ruling = run.by_number.get(number)
            if ruling and ruling.verdict is Verdict.RIGHT and (solution := cells_of(ruling, self._facts)):
                return Puzzle.from_grid(solution.cells)
        return self._set.get(number)

    @cached_property
    def _set(self) -> dict[int, Puzzle]:
        """The puzzles of the set by number; empty if it is not at hand or has changed."""
        facts = self._facts
        try:
            if not self._is_harmless(facts.name):
                return {}
            found = load_set(facts.name, (facts.width, facts.height))
        except (SetError, ValueError, OSError):
            return {}
        return {one.number: one.puzzle for one in found.puzzles} if found.sha256 == facts.sha256 else {}

    def _is_harmless(self, name: str) -> bool:
        """Return whether a set can be loaded: a stranger's result may name a pipe or a billion boards."""
        if name.startswith(PREFIX):
            recipe = Recipe.parse(name)
            boards = (self._facts.width, self._facts.height, len(self._runs[0].result.score.puzzles))
            return (recipe.width, recipe.height, recipe.count) == boards
        return Path(name).is_file() or not Path(name).exists()


def cells_of(ruling: PuzzleResult, facts: SetFacts) -> Solution | None:
    """Return the grid of an answer; None without one, or where it does not fit the set's boards."""
    cell_count = facts.width * facts.height
    try:
        content = bytes.fromhex(ruling.cells_hex or "")
    except ValueError:
        return None
    if min(facts.width, facts.height) < 1 or len(content) != (cell_count + 7) // 8:
        return None
    cells = np.unpackbits(np.frombuffer(content, dtype=np.uint8), count=cell_count)
    return Solution(cells.reshape(facts.height, facts.width))
