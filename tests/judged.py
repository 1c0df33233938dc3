"""A small set and the scripted bots, for the tests of the judge."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from nonobot.harness.play.match import Bot, play
from nonobot.harness.play.run_state import OnRuling
from nonobot.harness.results.run_result import RunResult, Terms
from nonobot.tournament_data import Recipe, load_set, write_set

RECIPE = Recipe(5, 5, 5, seed=3)
SCRIPTED_BOT = Path(__file__).with_name("scripted_bot.py")


def command(behaviour: str, folder: Path) -> list[str]:
    """Return the command of a scripted bot; its solutions go into `folder`."""
    solutions = folder / "solutions.txt"
    with (folder / "questions.txt").open("wb") as questions, solutions.open("wb") as answers:
        write_set(RECIPE.boards(), questions, answers)
    return [sys.executable, "-S", str(SCRIPTED_BOT), behaviour, str(solutions)]


def played(behaviour: str, folder: Path, on_ruling: OnRuling = lambda *_: None, **terms: Any) -> RunResult:
    """Return the result of a scripted bot on the small set, `result.json`; `terms` are fields of `Terms`."""
    terms.setdefault("wall_limit_seconds", 20.0)
    bot = Bot(behaviour, command(behaviour, folder))
    return play(load_set(str(RECIPE)), bot, Terms(**terms), folder / "result.json", on_ruling)


def verdicts(result: RunResult) -> list[str]:
    """Return the verdicts in the order of the set."""
    return [one.verdict.value for one in result.score.puzzles]
