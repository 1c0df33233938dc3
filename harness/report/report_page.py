"""The page: a report, its plots and the pictures of its answers in one HTML file."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nonobot.harness.compare.statistics import RESOLUTION_SECONDS
from nonobot.harness.report import plots
from nonobot.harness.report.contents import Report, Run, SetPart
from nonobot.harness.report.plot_frame import DARK_COLOURS, LIGHT_COLOURS, drawing
from nonobot.harness.results.conditions import BUSY_SHARE, SetFacts
from nonobot.harness.results.referee import cells_of
from nonobot.harness.results.run_result import PuzzleResult, Verdict
from nonobot.harness.text import duration, in_unit, megabytes, percent, ranges
from nonobot.protocol import Puzzle
from nonobot.protocol.clues import count
from nonobot.protocol.scene import Picture, scene_of
from nonobot.protocol.svg import INHERIT, svg_of
from nonobot.system import printable
from nonobot.tournament_data import Recipe, SetError, load_set
from nonobot.tournament_data.generate import PREFIX
from nonobot.tournament_data.sets import PART

if TYPE_CHECKING:
    from jinja2 import Environment

STEPS = 4  # steps of drawing a set, for the progress shown
CELL = 8  # side of a cell, in units of the drawing; the page scales it
MOST_CELLS = 250_000  # of a board with a picture: a stranger's result of a larger one would take gigabytes
THEME = replace(INHERIT, colours=INHERIT.colours | {"heavy": "var(--axis)", "wrong": "var(--bad)"})
"""The colours of pictures: those of the page around them."""


def page_of(report: Report, title: str, judge_version: str, progress: Callable[[float, str], None]) -> str:
    """Return the page as HTML, always the same bytes; `progress` gets the number of completed steps and a note."""
    steps = itertools.count()
    chapters = []
    place = "drawing"

    def tell(note: str) -> None:
        progress(next(steps), f"{place}: {note}")

    with drawing():
        swatches = [plots.swatch(number, f"s{number}") for number in range(len(report.bots))]
        for number, part in enumerate(report.sets, start=1):
            if len(report.sets) > 1:
                place = f"set {number} of {len(report.sets)}"
            chapters.append((part, _drawings(part, f"set-{number}", report.most_points, tell)))
    progress(next(steps), "writing")
    template = _environment().get_template("page.html")
    return template.render(
        report=report,
        title=printable(title),
        judge_version=judge_version,
        chapters=chapters,
        swatches=swatches,
        light=LIGHT_COLOURS,
        dark=DARK_COLOURS,
        shortest=duration(RESOLUTION_SECONDS),
        busy_share=BUSY_SHARE,
    )


def _drawings(part: SetPart, anchor: str, most_points: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Return the drawings of a set by their names in the template; the wide plot is for a row of its own."""
    runs = part.timed
    drawings: dict[str, Any] = {"wide": None}
    tell("sorted times")
    if runs:
        drawings["cactus"] = plots.cactus(runs, f"{anchor}-cactus")
    tell("time for each puzzle")
    if runs:
        drawings["over"] = plots.over_puzzles(runs, f"{anchor}-over", wide=False, most_points=most_points)
    if len(part.duels) % 2:
        drawings["wide"] = plots.over_puzzles(runs, f"{anchor}-wide", wide=True, most_points=most_points)
    tell("one against one")
    drawings["duels"] = [
        (*duel, plots.head_to_head(*duel, f"{anchor}-duel-{number}")) for number, duel in enumerate(part.duels)
    ]
    tell("pictures")
    gallery = Gallery(part.ranking.sets[0], part.runs)
    drawings["solved"] = {number: gallery.solved(number) for number in part.slowest}
    drawings["wrong"] = [
        (run, result, gallery.picture(result)) for run, results, _ in part.wrong for result in results
    ]
    return drawings


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("nonobot.harness.report", "."),
        autoescape=True,  # names and details come from outside
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"Verdict": Verdict, "duel_in_words": plots.duel_in_words}
    environment.globals |= {"fewest_of_a_line": plots.FEWEST_OF_A_LINE}
    environment.filters |= {
        "clean": printable,
        "counted": count,
        "duration": duration,
        "took": lambda time: duration(time) if time >= RESOLUTION_SECONDS else "< " + duration(RESOLUTION_SECONDS),
        "megabytes": megabytes,
        "ranges": ranges,
        "seconds": lambda time: in_unit(time, 1, 3),
        "sentence": lambda text: f"{text[:1].upper()}{text[1:]}.",
        "share": percent,
    }
    return environment


class Gallery:
    """The pictures of a set's answers, with wrong lines marked if a right answer or the set shows the puzzle."""

    def __init__(self, facts: SetFacts, runs: Sequence[Run]) -> None:
        self._facts = facts
        self._runs = runs

    def picture(self, result: PuzzleResult) -> str | None:
        """Return the picture of an answer as SVG; None without a grid, or if the board is too large for a page."""
        if self._facts.width * self._facts.height > MOST_CELLS:
            return None
        solution = cells_of(result, self._facts)
        if solution is None:
            return None
        puzzle = self._puzzle(result.number) or Puzzle.from_grid(solution.cells)
        name = f"the answer to puzzle {result.number}"
        return svg_of(scene_of(Picture.of_answer(puzzle, solution, name), CELL, clues=False), THEME)

    def solved(self, number: int) -> str | None:
        """Return the picture of the first right answer to a puzzle; None without one."""
        return next(filter(None, map(self.picture, self._right(number))), None)

    def _right(self, number: int) -> list[PuzzleResult]:
        results = (run.by_number.get(number) for run in self._runs)
        return [result for result in results if result and result.verdict is Verdict.RIGHT]

    def _puzzle(self, number: int) -> Puzzle | None:
        solutions = [cells_of(result, self._facts) for result in self._right(number)]
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
        return puzzle_set.by_number if puzzle_set.sha256 == facts.sha256 else {}

    def _is_harmless(self, name: str) -> bool:
        """Return whether a set can be made quickly: an untrusted result may name a billion boards."""
        if name.startswith(PREFIX):
            recipe = Recipe.parse(name)
            boards = (self._facts.width, self._facts.height, len(self._runs[0].result.score.puzzles))
            return (recipe.width, recipe.height, recipe.count) == boards
        return not PART.fullmatch(name)  # of any file
