"""What all plots share: size and margins, axes, ticks, the styles of lines and markers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nonobot.harness.ranking.statistics import RESOLUTION_SECONDS
from nonobot.harness.report.looks import Look
from nonobot.harness.report.svg import AXIS, GRID, MUTED, TEXT, bot_colour
from nonobot.harness.report.words import duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "axes_for",
    "drawing",
    "drawn",
    "figure_for",
    "line_style",
    "log_seconds",
    "marker_style",
    "whole_numbers",
]

FONT_SIZE = 11
MARGINS = (56, 14, 30, 40)
"""Left, right, top, bottom of the axes, in units of the drawing."""


@contextmanager
def drawing() -> Iterator[None]:
    """Let matplotlib draw alike everywhere, whatever its user's settings are."""
    import logging

    import matplotlib

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # "building the font cache" concerns nobody
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "svg.fonttype": "none",
                "svg.hashsalt": "nonojudge",
                "text.parse_math": False,
                "axes.unicode_minus": False,
                "font.size": FONT_SIZE,
                "lines.scale_dashes": True,
                "path.simplify": False,
            }
        )
        yield


def drawn(seconds: float) -> float:
    """Return a time as it is drawn: times that a judge's clock cannot tell apart at one place."""
    return max(seconds, RESOLUTION_SECONDS)


def figure_for(width: int, height: int, margins: tuple[int, int, int, int]) -> tuple[Figure, Axes]:
    """Return a figure of that size in units of the drawing, and its axes."""
    from matplotlib.figure import Figure

    left, right, top, bottom = margins
    figure = Figure(figsize=(width / 72, height / 72))
    figure.patch.set_visible(False)
    axes = figure.add_axes(
        (left / width, bottom / height, (width - left - right) / width, (height - top - bottom) / height)
    )
    axes.patch.set_visible(False)
    return figure, axes


def axes_for(width: int, height: int, up: str, along: str) -> tuple[Figure, Axes]:
    """Return empty axes in the house style; what goes up is said above them, not sideways."""
    figure, axes = figure_for(width, height, MARGINS)
    top = MARGINS[2]
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set(color=AXIS, linewidth=0.9)
    axes.tick_params(color=AXIS, labelcolor=MUTED, length=4, width=0.9, pad=4)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel(along, color=TEXT, labelpad=5)
    figure.text(6 / width, 1 - (top - 16) / height, up, color=TEXT, va="baseline", ha="left")
    return figure, axes


def log_seconds(axis: Axis, times: Sequence[float]) -> tuple[float, float]:
    """Make an axis logarithmic over whole decades that hold all times, at least two; return its ends."""
    from matplotlib.ticker import NullLocator

    shown = [drawn(time) for time in times] or [1e-3, 1.0]
    low = math.floor(math.log10(min(shown)) + 1e-9)
    high = max(math.ceil(math.log10(max(shown)) - 1e-9), low + 2)
    decades = [10.0**power for power in range(low, high + 1)]
    name = axis.axis_name  # type: ignore[attr-defined]
    axis.axes.set(**{f"{name}scale": "log", f"{name}lim": (decades[0], decades[-1])})
    axis.set_minor_locator(NullLocator())
    axis.set_ticks(decades, labels=[duration(time) for time in decades])
    return decades[0], decades[-1]


def whole_numbers(axes: Axes, low: float, high: float) -> None:
    """Give the lower axis ends and ticks at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))


def line_style(look: Look) -> dict[str, Any]:
    """Return how matplotlib is to draw a bot's line."""
    dashes = look.dashes or (1, 0)
    return {"color": bot_colour(look.hue), "linewidth": 1.7, "dashes": dashes, "solid_joinstyle": "round"}


def marker_style(look: Look, size: float, edge: bool = True) -> dict[str, Any]:
    """Return how matplotlib is to draw a bot's markers."""
    return {
        "color": bot_colour(look.hue),
        "marker": look.marker,
        "markersize": size,
        "markeredgewidth": 0.6 if edge else 0,
    }
