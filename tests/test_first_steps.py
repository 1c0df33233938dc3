"""docs/first-steps.md: every command shows what the page says, but for times and what the machine is."""

from __future__ import annotations

import re

import pytest

from tests.first_steps import PAGE, Step, carried_out, steps_of

OF_THE_MACHINE = ("nonojudge: the machine was busy", "nonojudge: bots are not contained", "contained: ")
MEASURED = r"\d[\d.,]*(?: (?:s|ms|µs|MB|%)\b|(?: %))"


def plain(shown: str) -> str:
    """Return a text without what differs from machine to machine."""
    lines = [line for line in shown.splitlines() if not line.startswith(OF_THE_MACHINE)]
    text = "\n".join(re.sub(MEASURED, "…", line).rstrip() for line in lines)
    text = re.sub(r"slowest: .*", "slowest: …", text)
    return re.sub(r"run-\w+\.\w+\.json", "run-….json", text)


def test_what_is_measured_is_not_compared():
    assert plain("wall 970 ms, CPU 1.2 s, 3 right\nresults/run-20261122T09.79Z.json") == (
        "wall …, CPU …, 3 right\nresults/run-….json"
    )


def test_a_block_is_commands_with_what_they_show():
    assert steps_of("$ a b\nx\ny\n$ c\n") == [Step("a b", "x\ny\n"), Step("c", "")]


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_every_command_shows_what_the_page_says():
    page = PAGE.read_text(encoding="utf-8")
    count = 0
    for step, shown in carried_out(page):
        assert plain(shown) == plain(step.shown), step.command
        count += 1
    assert count >= 8
