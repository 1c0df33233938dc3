"""The table of terms: each field has a row, and each limit an end, its enforcement and a line in the documents."""

import sys

import pytest
from msgspec.structs import fields

from nonobot.harness.play.match import Bot, play
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.run_result import EndReason
from nonobot.harness.results.run_text import end_in_words
from nonobot.harness.results.terms import LIMITS, TERMS
from nonobot.harness.tournament.definition import Entrant
from tests.helpers.judged import SET, little_patience  # noqa: F401
from tests.helpers.places import REPOSITORY

SLEEPS = "time.sleep(1000)"
REACHED = {
    "wall_limit_seconds": (0.3, SLEEPS),
    "cpu_limit_seconds": (0.2, "while True: pass"),
    "puzzle_limit_seconds": (0.2, SLEEPS),
    "memory_limit_bytes": (100 << 20, f"many = b'x' * (200 << 20); {SLEEPS}"),
    "process_limit": (3, f"[threading.Thread(target=lambda: {SLEEPS}).start() for _ in range(9)]"),
    "stall_limit_seconds": (0.3, SLEEPS),
}
"""For each limit a value, and a bot that reaches it."""


def test_every_field_has_a_row_and_every_row_a_field():
    configured = {field.name for field in fields(Configuration)} - {"environment_digests"}
    bots = {field.name for field in fields(Entrant)}
    assert configured - {*TERMS} == set(), "no row in TERMS of harness/results/terms.py"
    assert {*TERMS} - configured - bots == set(), "no field in harness/results/conditions.py"


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.usefixtures("little_patience")
def test_a_run_that_reaches_a_limit_ends_by_it_and_says_which(tmp_path, name):
    limit = LIMITS[name]
    assert limit.end in [*EndReason], "no such end in EndReason of harness/results/run_result.py"
    assert name in REACHED, f"no bot in REACHED of this test reaches {limit.option}"
    value, code = REACHED[name]
    bot = Bot("reaches", [sys.executable, "-c", f"import threading, time\n{code}"])
    configuration = Configuration(**{"wall_limit_seconds": 20.0, name: value})
    end = play(SET, bot, configuration, tmp_path / "result.json").attempts[0].end
    assert end.reason == limit.end, f"{limit.option} is not enforced in harness/play/attempt.py"
    assert f"({limit.in_words(value)})" in end_in_words(end, configuration)


def test_the_page_on_the_judge_has_a_line_for_every_limit_and_end():
    page = (REPOSITORY / "docs/judge.md").read_text(encoding="utf-8")
    limits, ends = (page.partition(f"\n## {title}\n")[2].partition("\n## ")[0] for title in ("Limits", "Ends"))
    lacking = [limit.option for limit in LIMITS.values() if f"\n| `{limit.option} " not in limits]
    lacking += [reason for reason in EndReason if f"`{reason}`" not in ends]
    assert lacking == [], "no line in docs/judge.md"
