"""The colours of the board stand out from each other, in light and in dark."""

import re

import pytest

from tests.helpers.places import REPOSITORY


def luminance(colour: str) -> float:
    parts = [int(colour[begin : begin + 2], 16) / 255 for begin in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_marks_stand_out_from_what_they_are_on(theme):
    """At least 3:1 (WCAG 2.2, 1.4.11)."""
    style = (REPOSITORY / "harness/page/static/style.css").read_text(encoding="utf-8")
    colour = {
        name: found[theme]
        for name in dict.fromkeys(re.findall(r"--board-([a-z-]+): #", style))
        if len(found := re.findall(rf"--board-{name}: (#[0-9a-f]{{6}});", style)) == 2
    }
    for mark in ("dot", "finished", "differ", "wrong", "fresh", "cursor", "clue"):
        assert contrast(colour[mark], colour["paper"]) >= 3, mark
    for mark in ("differ", "wrong"):
        assert contrast(colour[mark], colour["ink"]) >= 3, mark
    assert contrast(colour["fresh"], colour["fresh-white"]) >= 3
