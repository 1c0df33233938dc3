"""Plots that are files of their own, drawn on white: the history of a bot, and a survey of random boards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any

from nonobot.harness.report.plot_frame import LIGHT_COLOURS, drawing, file_of, line_style, look, style_axes
from nonobot.harness.survey import Row, Survey, quantile
from nonobot.system import printable, shortened

PAPER, TEXT, MUTED, AXIS, GRID = "#ffffff", "#1c1e21", "#565b63", "#8a8f98", "#e3e5e8"

SHOWN_DIGITS = 10


def _line(index: int, size: float) -> dict[str, Any]:
    """Return the style of line number `index`, with markers of a size, for matplotlib."""
    return line_style(index, size) | {"color": LIGHT_COLOURS[look(index).hue]}


# --- the history: times and counts over revisions, a row for each bot and set ---------------------------------


@dataclass(frozen=True)
class Point:
    """The runs of a bot on a set at one revision: medians, and the CPU time of each run."""

    revision: str
    first_run_at: str
    right: float
    wall_seconds: float | None
    cpu_seconds: list[float]
    counts: dict[str, float]


def short(revision: str) -> str:
    """Return the short form of a revision."""
    commit, dash, dirty = revision.partition("-")
    return commit[:SHOWN_DIGITS] + dash + dirty


def drawing_of_history(groups: Mapping[tuple[str, str], Sequence[Point]], form: str) -> bytes:
    """Return a row of plots for each bot and set: the CPU time of each run, and counts relative to the first."""
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=(13, 4.2 * len(groups)), facecolor=PAPER, layout="constrained")
        rows = figure.subplots(len(groups), 2, squeeze=False)
        for ((bot, name), points), (times, counts) in zip(groups.items(), rows, strict=True):
            title = f"{shortened(bot, 24)} on {shortened(name, 60)}"
            for axes, up in ((times, f"{title}: CPU time of a run, s"), (counts, "counts, the first is 100%")):
                style_axes(axes, AXIS, MUTED, GRID)
                axes.set_title(up, color=TEXT, loc="left", fontsize="medium")
                revisions = [short(point.revision) for point in points]
                axes.set_xticks(range(len(points)), revisions, rotation=60, ha="right")
                axes.set_xlim(-0.5, len(points) - 0.5)
            for place, point in enumerate(points):
                times.plot([place] * len(point.cpu_seconds), point.cpu_seconds, "o", color=AXIS, markersize=3)
            times.plot(range(len(points)), [median(point.cpu_seconds) for point in points], **_line(0, 5.5))
            times.set_ylim(0, 1.1 * max(max(point.cpu_seconds) for point in points) or 1)
            for index, count in enumerate(dict.fromkeys(count for point in points for count in point.counts)):
                places = [place for place, point in enumerate(points) if point.counts.get(count)]
                if places:
                    values = [points[place].counts[count] for place in places]
                    shares = [100 * value / values[0] for value in values]
                    counts.plot(places, shares, label=printable(count.replace("_", " ")), **_line(index, 5.5))
            if counts.lines:
                counts.legend(frameon=False, labelcolor=TEXT, fontsize="small")
            else:
                counts.set_visible(False)
        return file_of(figure, form)


# --- the survey: how hard random boards are, over their share of black cells, a line for each size -----------

PANELS: tuple[tuple[str, Callable[[Row], float]], ...] = (
    ("solved by line logic alone, %", lambda row: 100 * row.lines / row.boards),
    ("solved by line logic and probing, %", lambda row: 100 * (row.lines + row.probing) / row.boards),
    ("with exactly one solution, %", lambda row: 100 * row.unique / row.boards),
    ("given up at the limit of lines, %", lambda row: 100 * row.undecided / row.boards),
    ("lines painted for a board, median", lambda row: max(1, quantile(row.work, 0.5))),
    ("lines painted, 99 of 100 boards need fewer", lambda row: max(1, quantile(row.work, 0.99))),
)
LOGARITHMIC = 4  # the first of the panels whose values go over decades


def drawing_of_survey(survey: Survey, form: str) -> bytes:
    """Return the plot as a file of `form`, svg or png."""
    from matplotlib.figure import Figure

    sizes = {size: list(rows) for size, rows in groupby(survey.rows(), lambda row: (row[0].width, row[0].height))}
    with drawing():
        figure = Figure(figsize=(13, 8), facecolor=PAPER)
        panels = figure.subplots(2, 3).flat
        for number, ((up, measure), axes) in enumerate(zip(PANELS, panels, strict=True)):
            style_axes(axes, AXIS, MUTED, GRID)
            axes.set_title(up, color=TEXT, loc="left", fontsize="medium")
            axes.set_xlabel("black cells, %", color=TEXT)
            for index, ((width, height), rows) in enumerate(sizes.items()):
                percents, values = [kind.percent for kind, _ in rows], [measure(row) for _, row in rows]
                axes.plot(percents, values, label=f"{width}x{height}", **_line(index, 5))
            if number >= LOGARITHMIC:
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            else:
                axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))
        figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=len(sizes), frameon=False)
        figure.subplots_adjust(0.05, 0.13, 0.985, 0.95, 0.16, 0.3)
        return file_of(figure, form)
