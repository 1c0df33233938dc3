"""The plot of a survey: how hard random boards are, over their share of black cells, a line for each size."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from nonobot.harness.report.plot_frame import LIGHT_COLOURS, drawing, file_of, line_style, look, style_axes
from nonobot.harness.survey import Row, Survey, quantile

# A separate file has no page with themes: it is drawn on white.
PAPER, TEXT, MUTED, AXIS, GRID = "#ffffff", "#1c1e21", "#565b63", "#8a8f98", "#e3e5e8"

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
            style_axes(axes, AXIS, MUTED, GRID)
            axes.set_title(up, color=TEXT, loc="left", fontsize="medium")
            axes.set_xlabel("black cells, %", color=TEXT)
            for index, ((width, height), rows) in enumerate(sizes.items()):
                percents, values = [kind.percent for kind, _ in rows], [measure(row) for _, row in rows]
                style = line_style(look(index), 5) | {"color": LIGHT_COLOURS[look(index).hue]}
                axes.plot(percents, values, label=f"{width}x{height}", **style)
            if number >= LOGARITHMIC:
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            else:
                axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))
        figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=len(sizes), frameon=False)
        figure.subplots_adjust(0.05, 0.13, 0.985, 0.95, 0.16, 0.3)
        return file_of(figure, form)
