"""Plots that are files of their own, drawn on white: times and counts of a bot over revisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from nonobot.harness.report.plot_frame import LIGHT_COLOURS, drawing, file_of, line_style, look, style_axes
from nonobot.system import printable, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAPER, TEXT, MUTED, AXIS, GRID = "#ffffff", "#1c1e21", "#565b63", "#8a8f98", "#e3e5e8"
SHOWN_DIGITS = 10


def line_on_white(index: int, size: float) -> dict[str, Any]:
    """Return the style of line number `index`, with markers of a size, for matplotlib."""
    return line_style(index, size) | {"color": LIGHT_COLOURS[look(index).hue]}


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
            _prepare(times, f"{title}: CPU time of a run, s", points)
            _prepare(counts, "counts, the first is 100%", points)
            _draw_times(times, points)
            _draw_counts(counts, points)
        return file_of(figure, form)


def _prepare(axes: Axes, title: str, points: Sequence[Point]) -> None:
    style_axes(axes, AXIS, MUTED, GRID)
    axes.set_title(title, color=TEXT, loc="left", fontsize="medium")
    revisions = [short(point.revision) for point in points]
    axes.set_xticks(range(len(points)), revisions, rotation=60, ha="right")
    axes.set_xlim(-0.5, len(points) - 0.5)


def _draw_times(axes: Axes, points: Sequence[Point]) -> None:
    for place, point in enumerate(points):
        axes.plot([place] * len(point.cpu_seconds), point.cpu_seconds, "o", color=AXIS, markersize=3)
    axes.plot(range(len(points)), [median(point.cpu_seconds) for point in points], **line_on_white(0, 5.5))
    axes.set_ylim(0, 1.1 * max(max(point.cpu_seconds) for point in points) or 1)


def _draw_counts(axes: Axes, points: Sequence[Point]) -> None:
    for index, count in enumerate(dict.fromkeys(count for point in points for count in point.counts)):
        values = {place: point.counts[count] for place, point in enumerate(points) if point.counts.get(count)}
        shares = [100 * value / next(iter(values.values())) for value in values.values()]
        if values:
            axes.plot([*values], shares, label=printable(count.replace("_", " ")), **line_on_white(index, 5.5))
    if axes.lines:
        axes.legend(frameon=False, labelcolor=TEXT, fontsize="small")
    else:
        axes.set_visible(False)
