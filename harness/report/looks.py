"""What tells bots apart in plots: a colour, a marker and a dash pattern each, never colour alone."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DARK_COLOURS", "LIGHT_COLOURS", "Look", "look"]

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
