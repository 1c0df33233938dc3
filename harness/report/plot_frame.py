"""What all plots share: axes and ticks, what tells bots apart, and one SVG for light and dark."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from nonobot.harness.statistics import RESOLUTION_SECONDS
from nonobot.harness.text import duration

__all__ = [
    "AXIS",
    "DARK_COLOURS",
    "GRID",
    "LIGHT_COLOURS",
    "MUTED",
    "TEXT",
    "Look",
    "axes_for",
    "bot_colour",
    "drawing",
    "drawn",
    "figure_for",
    "inline_svg",
    "line_style",
    "log_seconds",
    "look",
    "marker_style",
    "whole_numbers",
]

# Six hues that stay apart for every common colour blindness, on the background of their theme. Further bots
# repeat them with another dash pattern, and no two of the first 24 have marker, colour and dashes in common.
LIGHT_COLOURS = ("#1652d8", "#a3200a", "#049b68", "#971a93", "#b08800", "#2a2f38")
DARK_COLOURS = ("#7f8aff", "#ff7a55", "#42dc98", "#e67fd2", "#f0cb3f", "#e8eaee")

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "p", ">", "h", "d")
DASHES: tuple[tuple[float, ...], ...] = ((), (4.5, 2), (1.5, 1.5), (7, 2, 1.5, 2))
"""Lengths of dash and gap in line widths; none is a solid line."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a bot is drawn.

    Attributes
    ----------
    hue : int
        Index of its colour in both palettes.
    marker : str
        As matplotlib names it.
    dashes : tuple of float
    """

    hue: int
    marker: str
    dashes: tuple[float, ...]


def look(index: int) -> Look:
    """Return the look of bot number `index`, counted from 0."""
    hues = len(LIGHT_COLOURS)
    return Look(index % hues, MARKERS[index % len(MARKERS)], DASHES[index // hues % len(DASHES)])


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


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


if TYPE_CHECKING:
    from matplotlib.figure import Figure


TEXT, MUTED, AXIS, GRID = "#010101", "#010102", "#010103", "#010104"

COLOURS = {TEXT: "var(--text)", MUTED: "var(--muted)", AXIS: "var(--axis)", GRID: "var(--grid)"} | {
    f"#0200{hue:02x}": f"var(--bot-{hue})" for hue in range(len(LIGHT_COLOURS))
}

# Set by the page for all plots, or of no use within it.
DROPPED_PROPERTIES = ("font", "font-size", "font-family", "stroke-dashoffset")

LONG_FRACTION = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def bot_colour(hue: int) -> str:
    """Return the marking colour of the bots of a hue."""
    return f"#0200{hue:02x}"


def inline_svg(figure: Figure, name: str, label: str, words: Mapping[str, str] | None = None) -> str:
    """Return a figure as an SVG element for a page.

    Parameters
    ----------
    figure : Figure
        Drawn in marking colours.
    name : str
        Begins every id in the drawing; no two drawings of a page have the same.
    label : str
        What the drawing shows, for those who do not see it; empty for an ornament.
    words : mapping of str to str, optional
        Texts of the figure, and what to write in their place.
    """
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    root = ElementTree.fromstring(file.getvalue())
    for element in root.iter():
        _without_namespaces(element)
    _drop(root, "metadata", "style")
    _number_ids(root, name)
    for element in root.iter():
        _shorten(element)
        if element.tag == "text":
            element.text = (words or {}).get(element.text or "", element.text)
    _hoist_styles(root)
    _unwrap(root)
    spoken = {"role": "img", "aria-label": label} if label else {"aria-hidden": "true"}
    drawing = {"viewBox": root.attrib["viewBox"]} | spoken
    root.attrib.clear()
    root.attrib.update(drawing)
    return ElementTree.tostring(root, encoding="unicode")


def _without_namespaces(element: ElementTree.Element) -> None:
    """Within HTML, SVG needs none; `xlink:href` is plain `href`."""
    element.tag = element.tag.rpartition("}")[2]
    for key in [key for key in element.attrib if key.startswith("{")]:
        element.attrib[key.rpartition("}")[2]] = element.attrib.pop(key)


def _drop(parent: ElementTree.Element, *tags: str) -> None:
    """Remove elements: matplotlib's style sheet would hold for the whole page."""
    for child in list(parent):
        _drop(child, *tags)
        if child.tag in tags or (child.tag == "defs" and not len(child)):
            parent.remove(child)


def _number_ids(root: ElementTree.Element, name: str) -> None:
    """Number the ids that are referred to, and remove the others."""
    numbered: dict[str, str] = {}
    for element in root.iter():
        for key in element.attrib.keys() & {"href", "clip-path"}:
            old = element.attrib[key].removeprefix("url(").removesuffix(")").removeprefix("#")
            new = numbered.setdefault(old, f"{name}-{len(numbered)}")
            element.attrib[key] = element.attrib[key].replace(old, new)
    for element in root.iter():
        new = numbered.get(element.attrib.pop("id", ""), "")
        if new:
            element.attrib["id"] = new


def _shorten(element: ElementTree.Element) -> None:
    """Round numbers to what is seen, and replace marking colours by the page's variables."""
    element.text = (element.text or "").strip() or None
    element.tail = None
    if element.attrib.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    for key in ("d", "x", "y", "width", "height", "transform"):
        if key in element.attrib:
            # Markers are small: a tenth of a unit would show.
            digits = 2 if key == "d" and element.attrib.get("id") else 1
            value = LONG_FRACTION.sub(partial(_rounded, digits), element.attrib[key])
            element.attrib[key] = re.sub(r"(?<=[A-Za-z])\s+|\s+(?=[A-Za-z])|\s+$", "", value)
    if "style" in element.attrib:
        pairs = (part.split(":", 1) for part in element.attrib["style"].split(";"))
        style = {key.strip(): value.strip() for key, value in pairs}
        kept = (f"{key}:{_colour(value)}" for key, value in style.items() if key not in DROPPED_PROPERTIES)
        element.attrib["style"] = ";".join(kept)
    if not element.attrib.get("style", "-"):
        del element.attrib["style"]


def _rounded(digits: int, number: re.Match[str]) -> str:
    return f"{round(float(number[0]), digits) + 0.0:g}"


def _colour(value: str) -> str:
    return COLOURS[value] if value.startswith("#") else value


def _hoist_styles(root: ElementTree.Element) -> None:
    """Say the style of many equal markers once, at their group, and not again where the marker itself has it."""
    marker_styles = {
        element.attrib["id"]: element.attrib.pop("style", "") for element in root.iter() if _is_marker(element)
    }
    for group in root.iter("g"):
        uses = [child for child in group if child.tag == "use"]
        if not uses or len(uses) != len(group):
            continue
        styles = {use.attrib.get("style") or marker_styles.get(use.attrib["href"][1:], "") for use in uses}
        if len(styles) == 1:
            group.attrib["style"] = styles.pop()
            for use in uses:
                use.attrib.pop("style", None)


def _is_marker(element: ElementTree.Element) -> bool:
    return element.tag == "path" and "id" in element.attrib


def _unwrap(parent: ElementTree.Element) -> None:
    """Replace groups that say nothing by their children."""
    children: list[ElementTree.Element] = []
    for child in parent:
        _unwrap(child)
        children += list(child) if child.tag == "g" and not child.attrib else [child]
    parent[:] = children
