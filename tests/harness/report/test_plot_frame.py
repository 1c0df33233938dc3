"""The looks of bots in plots: apart for everyone, in both themes."""

import re
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from nonobot.harness import report as room
from nonobot.harness.report.plot_frame import DARK_COLOURS, LIGHT_COLOURS, look

# WCAG 2.1 for contrast; colour blindness after Machado, Oliveira and Fernandes (2009), severity 1.0

SEEN_BY = {
    "all cones": "1 0 0; 0 1 0; 0 0 1",
    "protanopia": "0.152286 1.052583 -0.204868; 0.114503 0.786281 0.099216; -0.003882 -0.048116 1.051998",
    "deuteranopia": "0.367322 0.860646 -0.227968; 0.280085 0.672501 0.047413; -0.01182 0.04294 0.968881",
    "tritanopia": "1.255528 -0.076749 -0.178779; -0.078411 0.930809 0.147602; 0.004733 0.691367 0.3039",
}


def matrix(numbers: str) -> np.ndarray:
    return np.array([row.split() for row in numbers.split(";")], float)


TO_XYZ = matrix("0.4124564 0.3575761 0.1804375; 0.2126729 0.7151522 0.072175; 0.0193339 0.119192 0.9503041")


def linear(colour: str) -> np.ndarray:
    part = np.array([*bytes.fromhex(colour[1:])]) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def contrast(colour: str, other: str) -> float:
    light, dark = sorted((float(TO_XYZ[1] @ linear(shade)) for shade in (colour, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(colour: str, seen_by: np.ndarray) -> np.ndarray:
    """Return a colour as CIELAB, as seen by somebody."""
    seen = np.clip(seen_by @ linear(colour), 0, 1)
    x, y, z = np.cbrt(TO_XYZ @ seen / (0.95047, 1.0, 1.08883))  # close to black the cube root is near enough
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def variables(theme: str) -> dict[str, str]:
    """Return the colours that the style sheet sets for a theme."""
    sheet = Path(room.__file__).with_name("style.css").read_text()
    light, dark = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)[:2]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", light if theme == "light" else dark))


@pytest.mark.parametrize(("theme", "colours"), [("light", LIGHT_COLOURS), ("dark", DARK_COLOURS)])
def test_bot_colours_differ_under_colour_blindness_and_from_the_background(theme, colours):
    for who, numbers in SEEN_BY.items():
        seen = [lab(colour, matrix(numbers)) for colour in colours]
        assert min(float(np.linalg.norm(colour - other)) for colour, other in combinations(seen, 2)) > 20, who
    assert min(contrast(colour, variables(theme)["card"]) for colour in colours) > 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_colours_have_enough_contrast(theme):
    colours = variables(theme)
    assert colours.keys() == variables("light").keys()
    for paper, name in product(
        ("paper", "card", "stripe", "differs", "warn-paper"), ("text", "muted", "link", "good", "bad", "warn")
    ):
        assert contrast(colours[name], colours[paper]) > 4.5, f"{name} on {paper}"


def test_24_bots_look_different_and_12_have_their_own_markers():
    assert len({look(number) for number in range(24)}) == 24
    assert len({look(number).marker for number in range(12)}) == 12
    assert len({(look(number).hue, look(number).dashes) for number in range(24)}) == 24
