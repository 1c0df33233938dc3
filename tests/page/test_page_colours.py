"""The colours of the board stand out from each other, in light and in dark."""

import re

import pytest

from tests.harness.report.test_plot_frame import contrast
from tests.helpers.places import REPOSITORY


@pytest.mark.parametrize("theme", [0, 1])
def test_marks_have_enough_contrast_to_their_background(theme):
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
