"""Drawings of matplotlib made fit for a page: one SVG for light and dark, small, with ids of its own.

Figures are drawn in the marking colours of :data:`COLOURS`; each becomes a CSS variable that the page's style
sheet sets. Texts take the page's font; what comes from outside is put in here: matplotlib never lays it out.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from nonobot.harness.report.looks import LIGHT_COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AXIS", "GRID", "MUTED", "TEXT", "bot_colour", "inline_svg"]

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
