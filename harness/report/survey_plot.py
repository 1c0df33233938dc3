"""The plot of a survey: how hard random boards are, over their share of black cells, a line for each size."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING

from nonobot.harness.report.plot_frame import LIGHT_COLOURS, drawing, line_style, look, marker_style, style_axes
from nonobot.harness.survey import BoardKind, Row, Survey, quantile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A file of its own has no page that knows of themes: it is drawn on white.
PAPER, TEXT, MUTED, AXIS, GRID = "#ffffff", "#1c1e21", "#565b63", "#8a8f98", "#e3e5e8"

DPI = 144

Measure = Callable[[Row], float]
"""The value of a row of the survey that a panel shows."""

PANELS: tuple[tuple[str, Measure], ...] = (
    ("solved by line logic alone, %", lambda row: 100 * row.lines / row.boards),
    ("solved by line logic and probing, %", lambda row: 100 * (row.lines + row.probing) / row.boards),
    ("with exactly one solution, %", lambda row: 100 * row.unique / row.boards),
    ("given up at the limit of lines, %", lambda row: 100 * row.undecided / row.boards),
    ("lines painted for a board, median", lambda row: max(1, quantile(row.work, 0.5))),
    ("lines painted, 99 of 100 boards need fewer", lambda row: max(1, quantile(row.work, 0.99))),
)
LOGARITHMIC = 4
"""The first of the panels whose values go over decades."""


def drawing_of(survey: Survey, form: str) -> bytes:
    """Return the plot as a file of `form`, svg or png."""
    from matplotlib.figure import Figure

    sizes = {size: list(rows) for size, rows in groupby(survey.rows(), lambda row: (row[0].width, row[0].height))}
    with drawing():
        figure = Figure(figsize=(13, 8), facecolor=PAPER)
        panels = figure.subplots(2, 3).flat
        for number, ((up, measure), axes) in enumerate(zip(PANELS, panels, strict=True)):
            _draw(axes, up, measure, sizes, number >= LOGARITHMIC)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=len(sizes), frameon=False)
        figure.subplots_adjust(0.05, 0.13, 0.985, 0.95, 0.16, 0.3)
        file = io.BytesIO()
        metadata = dict.fromkeys(("Date", "Creator", "Format", "Type")) if form == "svg" else {"Software": None}
        figure.savefig(file, format=form, dpi=DPI, metadata=metadata)
    return file.getvalue()


def _draw(
    axes: Axes,
    up: str,
    measure: Measure,
    sizes: dict[tuple[int, int], list[tuple[BoardKind, Row]]],
    logarithmic: bool,
) -> None:
    style_axes(axes, AXIS, MUTED, GRID)
    axes.set_title(up, color=TEXT, loc="left", fontsize="medium")
    axes.set_xlabel("black cells, %", color=TEXT)
    for number, ((width, height), rows) in enumerate(sizes.items()):
        percents, values = [kind.percent for kind, _ in rows], [measure(row) for _, row in rows]
        style = line_style(look(number)) | marker_style(look(number), 5)
        style["color"] = LIGHT_COLOURS[look(number).hue]
        axes.plot(percents, values, label=f"{width}x{height}", **style)
    if logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    else:
        axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))
