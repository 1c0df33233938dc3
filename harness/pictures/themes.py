"""Colours: one for each role that something in a picture has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["DARK", "INHERIT", "LIGHT", "ROLES", "THEMES", "Role", "Theme"]

Role = Literal["band", "shade", "ink", "thin", "heavy", "dot", "wrong", "clue", "name"]
"""What something in a picture is: the band of a wrong line, the shade of an unknown cell (where there are no
dots), a black cell, the lines, the dot of a white cell, the mark and the clue of a wrong line, the other clues,
the name above a board."""

ROLES: tuple[Role, ...] = ("band", "shade", "ink", "thin", "heavy", "dot", "wrong", "clue", "name")
"""In the order in which they are drawn: later ones cover earlier ones."""


@dataclass(frozen=True, slots=True)
class Theme:
    """A colour, as CSS writes it, for each role, and one for the paper.

    Attributes
    ----------
    paper : str or None
        None draws no background.
    colours : dict of Role to str

    Notes
    -----
    The heavy lines are blue, as they have to stand out from the thin ones on black cells as well as on white ones:
    what is darker than another grey on the one is paler on the other.
    """

    paper: str | None
    colours: dict[Role, str]


LIGHT = Theme(
    paper="#ffffff",
    colours={
        "band": "#ffdcd8",
        "shade": "#d3d9e0",
        "ink": "#1f2933",
        "thin": "#a8b2be",
        "heavy": "#4f8cc9",
        "dot": "#8a96a3",
        "wrong": "#cc1f2d",
        "clue": "#1f2933",
        "name": "#5b6875",
    },
)

DARK = Theme(
    paper="#14181d",
    colours={
        "band": "#54202a",
        "shade": "#353d47",
        "ink": "#dfe5eb",
        "thin": "#3d4753",
        "heavy": "#4f8cc9",
        "dot": "#6d7985",
        "wrong": "#ff7a75",
        "clue": "#dfe5eb",
        "name": "#98a4b1",
    },
)

INHERIT = Theme(
    paper=None,
    colours={
        "band": "#f003",
        "shade": "#8886",
        "ink": "currentColor",
        "thin": "#88888880",
        "heavy": "#4f8cc9",
        "dot": "#888",
        "wrong": "#e5484d",
        "clue": "currentColor",
        "name": "currentColor",
    },
)
"""For an SVG within a page: it takes the colour of the text around it, on a light page and on a dark one.
Not for PNG."""

THEMES = {"light": LIGHT, "dark": DARK}
