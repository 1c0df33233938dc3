"""How hard random boards are, by size and share of black cells: a table on stdout, plots and counts in files.

    python -m tools.survey 10x10x99000 20x20x90000 --seed 17 --p1 0.28 --p2 0.72 --on local:2 -o survey.svg

nonobot solves each board and looks for a second solution; it solves unique boards again with line logic alone, and
with probing (FP1). The same arguments give the same counts, with any number of workers; only the times differ.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import groupby, islice
from typing import NamedTuple

from nonobot import __version__
from nonobot.arguments import count
from nonobot.harness.cluster.cluster_workers import WHERE_HELP, connected, where
from nonobot.harness.options import file_ending_in
from nonobot.harness.progress import Progress
from nonobot.harness.puzzles.board_jobs import Draws, completed, grade_boards
from nonobot.harness.puzzles.grading import LINE_LIMIT, PUZZLE_SECONDS, Grading
from nonobot.harness.report.file_plots import AXIS, GRID, MUTED, PAPER, TEXT, line_on_white
from nonobot.harness.report.plot_frame import drawing, file_of, style_axes
from nonobot.harness.results.conditions import Contain
from nonobot.harness.text import NOTHING, drawn, in_unit, new_table, on_terminal, percent
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.generate import OFFICIAL_P1, OFFICIAL_P2, black_cells, parse_dimensions, parse_seed
from nonobot.tournament_data.select import Grade, Rules

STEP_PERCENT = 5  # step of the shares of black cells by which boards are grouped
CELLS_OF_A_TASK = 40_000  # of its boards together; they take about a second


class BoardKind(NamedTuple):
    """Size of boards and their share of black cells, to the nearest `STEP_PERCENT`."""

    width: int
    height: int
    percent: int


def kind_of(recipe: Recipe, index: int) -> BoardKind:
    """Return the kind of board `index` of a set, counted from 0; halfway between two steps is rounded up."""
    width, height = recipe.width, recipe.height
    black = black_cells(index, recipe.count, recipe.p1, recipe.p2, width, height)
    step = STEP_PERCENT * width * height
    return BoardKind(width, height, (200 * black + step) // (2 * step) * STEP_PERCENT)


@dataclass(slots=True)
class Row:
    """Counts of the boards of a kind."""

    boards: int = 0
    undecided: int = 0  # given up at a limit
    late: int = 0  # of these, at the time limit: another run may give up others
    unique: int = 0
    lines: int = 0  # of the unique ones, solved by line logic alone
    probing: int = 0  # of the unique ones, solved only with FP1
    work: Counter[int] = field(default_factory=Counter)  # numbers of boards by the champion's rounded count
    conflicts: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0  # to draw and grade, by the clocks of the workers

    def add(self, grade: Grade, line_limit: int) -> None:
        """Count a board that was graded with this limit."""
        self.boards += 1
        self.undecided += not grade.decided
        self.late += not grade.decided and grade.work <= line_limit
        self.unique += grade.unique
        self.lines += grade.level == "lines"
        self.probing += grade.level == "probing"
        self.work[rounded(grade.work)] += 1
        self.conflicts[rounded(grade.conflicts)] += 1


Survey = Mapping[BoardKind, Row]


def rounded(number: int) -> int:
    """Return a count rounded down to two digits, so that few values are kept."""
    unit = 10 ** max(0, len(str(number)) - 2)
    return number // unit * unit


def quantile(counts: Counter[int], share: float) -> int:
    """Return the smallest value that at least `share` of the counted values, one or more, do not exceed."""
    wanted, seen = share * counts.total(), 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= wanted:
            break
    return value


def surveyed(recipes: Sequence[Recipe], line_limit: int, place: str | None) -> Survey:
    """Return the survey of the first board drawn for each puzzle, graded here or by the workers at a place."""
    total = sum(recipe.count * recipe.width * recipe.height for recipe in recipes)
    survey: defaultdict[BoardKind, Row] = defaultdict(Row)
    cells = 0
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(Progress(total))
        client = stack.enter_context(connected(place)) if place else None
        tasks = tasks_of(recipes, line_limit)
        done = completed(client, grade_boards, lambda _: next(tasks, None))
        for (_, recipe, _, draws), (grades, seconds) in stack.enter_context(contextlib.closing(done)):
            row = survey[kind_of(recipe, draws[0].index)]
            for [grade] in grades:
                row.add(grade, line_limit)
            row.seconds += seconds
            cells += len(draws) * recipe.width * recipe.height
            progress.show(cells, f"{percent(cells / total)} of all cells")
    return dict(sorted(survey.items()))


def tasks_of(recipes: Sequence[Recipe], line_limit: int) -> Iterator[tuple[Grading, Recipe, Rules, list[Draws]]]:
    """Yield the arguments of `grade_boards` for each task: some boards of one kind, the largest boards first."""
    for recipe in sorted(recipes, key=lambda recipe: recipe.width * recipe.height, reverse=True):
        size = recipe.width, recipe.height
        grading = Grading(size, 2, PUZZLE_SECONDS, levels=True, line_limit=line_limit, contain=Contain.AUTO)
        most = max(1, CELLS_OF_A_TASK // (recipe.width * recipe.height))
        for _, indices in groupby(range(recipe.count), partial(kind_of, recipe)):
            while draws := [Draws(index, first=0, number=1, enough=1) for index in islice(indices, most)]:
                yield grading, recipe, Rules(), draws


def as_text(survey: Survey, terminal: bool) -> str:
    """Return the table for people: shares of each row's boards, and quantiles of the champion's work."""
    boards = ("size", "black", "boards", "lines", "probing", "unique", "undecided")
    table = new_table((*boards, "work 50%", "work 99%", "conflicts 99%", "boards/s"), no_wrap=True)
    last = None
    for kind, row in survey.items():
        size = f"{kind.width}x{kind.height}"
        shares = (row.lines, row.lines + row.probing, row.unique, row.undecided)
        table.add_row(
            "" if size == last else size,
            f"{kind.percent}%",
            f"{row.boards:,}",
            *(percent(number / row.boards) if number else NOTHING for number in shares),
            *(f"{quantile(row.work, share):,}" for share in (0.5, 0.99)),
            f"{quantile(row.conflicts, 0.99):,}",
            in_unit(row.boards / row.seconds if row.seconds else None, 1, 0),
        )
        last = size
    return drawn([table], terminal)


def as_json(survey: Survey, recipes: Sequence[Recipe], line_limit: int) -> str:
    """Return all counts as JSON text, with the recipes of the boards."""
    rows = []
    for kind, row in survey.items():
        values = kind._asdict() | {part.name: getattr(row, part.name) for part in fields(row)}
        for name in ("work", "conflicts"):
            values[name] = dict(sorted(values[name].items()))
        rows.append(values)
    of_boards = {"recipes": [str(recipe) for recipe in recipes], "line_limit": line_limit, "rows": rows}
    return json.dumps({"version": __version__, **of_boards}, indent=1) + "\n"


PANELS: tuple[tuple[str, Callable[[Row], float]], ...] = (
    ("solved by line logic alone, %", lambda row: 100 * row.lines / row.boards),
    ("solved by line logic and probing, %", lambda row: 100 * (row.lines + row.probing) / row.boards),
    ("with exactly one solution, %", lambda row: 100 * row.unique / row.boards),
    ("given up at the limit of lines, %", lambda row: 100 * row.undecided / row.boards),
    ("lines painted for a board, median", lambda row: max(1, quantile(row.work, 0.5))),
    ("lines painted, 99 of 100 boards need fewer", lambda row: max(1, quantile(row.work, 0.99))),
)
LOGARITHMIC = 4  # the first of the panels whose values go over decades


def as_plot(survey: Survey, form: str) -> bytes:
    """Return six plots over the share of black cells, a line for each size, as a file of `form`, svg or png."""
    from matplotlib.figure import Figure

    sizes = {size: list(rows) for size, rows in groupby(survey.items(), lambda row: (row[0].width, row[0].height))}
    with drawing():
        figure = Figure(figsize=(13, 8), facecolor=PAPER)
        panels = figure.subplots(2, 3).flat
        for number, ((up, measure), axes) in enumerate(zip(PANELS, panels, strict=True)):
            style_axes(axes, AXIS, MUTED, GRID)
            axes.set_title(up, color=TEXT, loc="left", fontsize="medium")
            axes.set_xlabel("black cells, %", color=TEXT)
            for index, ((width, height), rows) in enumerate(sizes.items()):
                percents, values = [kind.percent for kind, _ in rows], [measure(row) for _, row in rows]
                axes.plot(percents, values, label=f"{width}x{height}", **line_on_white(index, 5))
            if number >= LOGARITHMIC:
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            else:
                axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))
        figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=len(sizes), frameon=False)
        figure.subplots_adjust(0.05, 0.13, 0.985, 0.95, 0.16, 0.3)
        return file_of(figure, form)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about = "width, height and number of boards"
    parser.add_argument("sizes", type=parse_dimensions, nargs="+", metavar="WxHxN", help=about)
    parser.add_argument("--seed", type=parse_seed, required=True, metavar="S", help="whole number of any length")
    for name, share, place in (("--p1", OFFICIAL_P1, "first"), ("--p2", OFFICIAL_P2, "last")):
        about = f"share of black cells in the {place} board of a size (default: {share})"
        parser.add_argument(name, type=float, default=share, metavar="P", help=about)
    about = "give up a board that needs more than N line solves (default: %(default)s)"
    parser.add_argument("--line-limit", type=count, default=LINE_LIMIT, metavar="N", help=about)
    parser.add_argument("--on", type=where, metavar="WHERE", help=f"where to draw and solve boards: {WHERE_HELP}")
    about = "plot (.svg, .png) or counts (.json) (repeatable)"
    endings = file_ending_in(".json", ".svg", ".png")
    parser.add_argument("-o", "--output", type=endings, action="append", default=[], metavar="FILE", help=about)
    arguments = parser.parse_args(argv)
    recipes = [Recipe(*size, arguments.seed, arguments.p1, arguments.p2) for size in arguments.sizes]
    survey = surveyed(recipes, arguments.line_limit, arguments.on)
    for path in arguments.output:
        form = path.suffix.lower().removeprefix(".")
        if form == "json":
            path.write_text(as_json(survey, recipes, arguments.line_limit))
        else:
            path.write_bytes(as_plot(survey, form))
    print(as_text(survey, on_terminal()), end="")
    if late := sum(row.late for row in survey.values()):
        note = f"{late} boards were given up after {PUZZLE_SECONDS:g} s; other runs may count others"
        print(note, file=sys.stderr)


if __name__ == "__main__":
    main()
