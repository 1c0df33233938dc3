"""The frame of all plots: axes and ticks, the looks of bots, and one SVG for light and dark."""

from __future__ import annotations

import io
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from nonobot.harness.compare.statistics import RESOLUTION_SECONDS
from nonobot.harness.text import duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Six hues that stay apart for every common colour blindness, on the background of their theme. Further bots
# repeat them with another dash pattern, and no two of the first 24 have marker, colour and dashes in common.
LIGHT_COLOURS = ("#1652d8", "#a3200a", "#049b68", "#971a93", "#b08800", "#2a2f38")
DARK_COLOURS = ("#7f8aff", "#ff7a55", "#42dc98", "#e67fd2", "#f0cb3f", "#e8eaee")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "p", ">", "h", "d")
DASHES: tuple[tuple[float, ...], ...] = ((), (4.5, 2), (1.5, 1.5), (7, 2, 1.5, 2))  # dash and gap in line widths


@dataclass(frozen=True, slots=True)
class Look:
    """Colour (its index in both palettes), marker (as matplotlib names it) and dashes of a bot."""

    hue: int
    marker: str
    dashes: tuple[float, ...]


def look(index: int) -> Look:
    """Return the look of bot number `index`, counted from 0."""
    hues = len(LIGHT_COLOURS)
    return Look(index % hues, MARKERS[index % len(MARKERS)], DASHES[index // hues % len(DASHES)])


SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "nonojudge",
    "text.parse_math": False,
    "axes.unicode_minus": False,
    "font.size": 11,
    "lines.scale_dashes": True,
    "path.simplify": False,
}

DPI = 144  # of a PNG file
MARGINS = (56, 14, 30, 40)  # left, right, top, bottom of the axes, in units of the drawing


@contextmanager
def drawing() -> Iterator[None]:
    """Make matplotlib draw the same everywhere, whatever the user's settings are."""
    import logging

    # At its import it reads `matplotlibrc` in the working folder; old versions run code of a stranger's there.
    with nullcontext() if "matplotlib" in sys.modules else chdir(os.sep):
        import matplotlib

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # the message "building the font cache" helps nobody
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


def drawn(seconds: float) -> float:
    """Return the drawn value of a time: times that a judge's clock cannot distinguish get one place."""
    return max(seconds, RESOLUTION_SECONDS)


def figure_for(width: int, height: int, margins: tuple[int, int, int, int]) -> tuple[Figure, Axes]:
    """Return a figure of that size in units of the drawing, and its axes."""
    from matplotlib.figure import Figure

    left, right, top, bottom = margins
    figure = Figure(figsize=(width / 72, height / 72))
    figure.patch.set_visible(False)
    inner = (width - left - right) / width, (height - top - bottom) / height
    axes = figure.add_axes((left / width, bottom / height, *inner))
    return figure, axes


def axes_for(width: int, height: int, up: str, along: str) -> tuple[Figure, Axes]:
    """Return empty axes; the name of the upper axis is written above it, not sideways."""
    figure, axes = figure_for(width, height, MARGINS)
    style_axes(axes, AXIS, MUTED, GRID)
    axes.tick_params(length=4, width=0.9, pad=4)
    axes.set_xlabel(along, color=TEXT, labelpad=5)
    figure.text(6 / width, 1 - (MARGINS[2] - 16) / height, up, color=TEXT, va="baseline", ha="left")
    return figure, axes


def style_axes(axes: Axes, lines: str, labels: str, grid: str) -> None:
    """Draw axes at the left and below, and a grid behind the plot, in these colours."""
    axes.patch.set_visible(False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set(color=lines, linewidth=0.9)
    axes.tick_params(color=lines, labelcolor=labels)
    axes.grid(color=grid, linewidth=0.8)
    axes.set_axisbelow(True)


def log_seconds(axis: Axis, times: Sequence[float]) -> tuple[float, float]:
    """Make an axis logarithmic over the decades of all times, at least two; return its ends."""
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
    """Set the ends of the lower axis, and its ticks at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))


def line_style(bot: int, marker_size: float) -> dict[str, Any]:
    """Return the line of a bot, with its markers, for matplotlib."""
    dashes = look(bot).dashes or (1, 0)
    line = {"linewidth": 1.7, "dashes": dashes, "solid_joinstyle": "round", "markeredgewidth": 0.6}
    return _marker_style(bot, marker_size) | line


def dot_style(bot: int, size: float, alpha: float) -> dict[str, Any]:
    """Return the markers of a bot alone, without edges, for matplotlib."""
    return _marker_style(bot, size) | {"linestyle": "", "markeredgewidth": 0, "alpha": alpha}


def _marker_style(bot: int, size: float) -> dict[str, Any]:
    its_look = look(bot)
    return {"color": bot_colour(its_look.hue), "marker": its_look.marker, "markersize": size}


TEXT, MUTED, AXIS, GRID = "#010101", "#010102", "#010103", "#010104"
"""Colours in which figures are drawn; the page's variables replace them."""


def bot_colour(hue: int) -> str:
    """Return the colour in figures of the bots of a hue."""
    return f"#0200{hue:02x}"


COLOURS = {TEXT: "var(--text)", MUTED: "var(--muted)", AXIS: "var(--axis)", GRID: "var(--grid)"} | {
    bot_colour(hue): f"var(--bot-{hue})" for hue in range(len(LIGHT_COLOURS))
}


def file_of(figure: Figure, form: str) -> bytes:
    """Return a figure as a file of `form`, svg or png, without date and program."""
    file = io.BytesIO()
    metadata = dict.fromkeys(("Date", "Creator", "Format", "Type")) if form == "svg" else {"Software": None}
    figure.savefig(file, format=form, dpi=DPI, metadata=metadata)
    return file.getvalue()


def inline_svg(figure: Figure, name: str, label: str, replacements: Mapping[str, str] | None = None) -> str:
    """Return a figure as an SVG element whose ids begin with `name`, unique on the page.

    `label` is for screen readers, empty for an ornament; `replacements` maps texts of the figure to new ones.
    """
    svg = file_of(figure, "svg").decode()
    body = svg[svg.index(">", svg.index("<svg")) + 1 :].rstrip()  # within HTML, SVG needs no namespaces
    body = re.sub(r"<style.*?</style>", "", body, flags=re.DOTALL)  # would hold for the whole page
    body = body.replace("xlink:href", "href")
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", body)
    body = re.sub(r"font: [^;\"]*(; )?", "", body)  # the page's own
    body = re.sub(r"#0[12]0[01][0-9a-f]{2}", lambda match: COLOURS[match[0]], body)
    for old, new in (replacements or {}).items():
        body = body.replace(f">{old}</text>", f">{escape(new)}</text>")
    spoken = f'role="img" aria-label={quoteattr(label)}' if label else 'aria-hidden="true"'
    [view_box] = re.findall(r'viewBox="[^"]*"', svg)
    return f"<svg {view_box} {spoken}>{body}"
