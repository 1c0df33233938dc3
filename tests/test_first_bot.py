"""docs/first-bot.md: the bot of the page is written to a file and does what the page says."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from nonobot.harness import cli
from nonobot.harness.check.step import Level, StepVerdict

PAGE = Path(__file__).parent.parent / "docs" / "first-bot.md"


@pytest.fixture(name="bot")
def _bot(tmp_path, monkeypatch):
    """The command of the page's bot, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    Path("mybot.py").write_text(program, encoding="utf-8")
    return [sys.executable, "mybot.py"]


def test_it_passes_every_must(bot, capsys):
    assert cli.run(["check", "--json", "--", *bot]) == 0
    steps = json.loads(capsys.readouterr().out)["checks"]
    assert {one["verdict"] for one in steps if one["level"] == Level.MUST} == {StepVerdict.PASSED}
    others = [one["name"] for one in steps if one["verdict"] != StepVerdict.PASSED]
    assert others == ["byte_order_mark", "garbled_clue"]


def test_it_solves_the_boards_of_the_page(bot, capsys):
    (given,) = set(re.findall(r"--set (boardgen:\S+)", PAGE.read_text(encoding="utf-8")))
    assert cli.run(["run", "--set", given, "--quiet", "--result", "mybot.json", "--", *bot]) == 0
    assert "20 of 20 right" in capsys.readouterr().out
