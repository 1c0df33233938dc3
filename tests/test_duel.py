"""Duels: both bots at the same time on one core, what is kept, what is refused, and how one is stopped."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nonobot.harness import cli
from nonobot.harness.play.machine import can_pin
from nonobot.harness.results.result_files import read_result
from tests.judged import RECIPE, command
from tests.talking import PATIENCE_SECONDS, wait_until

pytestmark = pytest.mark.skipif(not can_pin(), reason="this system cannot hold a bot on a core")

OPTIONS = ("--quiet", "--set", str(RECIPE), "--contain", "no")
DECIDING = ("--confidence", "0.5")
"""With them two rounds are enough."""


def duel(folder, *behaviours):
    """Return the words of a duel of two scripted bots."""
    return ["duel", *OPTIONS, *(shlex.join(command(one, folder)) for one in behaviours)]


def test_both_run_at_the_same_time_on_one_core_and_the_slower_is_told(tmp_path, capsys):
    results = tmp_path / "results"
    words = duel(tmp_path, "meet_and_solve", "meet_and_compute")
    assert cli.run([*words, *DECIDING, "--rounds", "2", "--results", str(results)]) == 1
    said = capsys.readouterr().out
    assert "\nworse\n" in said
    assert "in CPU time after is " in said
    assert "wall time of a run" not in said
    assert "warning" not in said
    runs = [[read_result(results / side / f"{number}.json") for side in ("before", "after")] for number in (1, 2)]
    for pair in runs:
        assert pair[0].configuration == pair[1].configuration
        assert len(pair[0].configuration.cores) == 1
        assert all(run.score.all_right for run in pair)
    assert runs[0][0].configuration.beside != runs[1][0].configuration.beside
    assert cli.run(["compare", *DECIDING, str(results / "before"), str(results / "after")]) == 1
    again = capsys.readouterr()
    assert again.out == said
    assert cli.run([*words, "--results", str(results)]) == 2
    assert "before holds results already" in capsys.readouterr().err


def test_a_bot_that_cannot_be_run_is_named_and_the_other_is_not_waited_for(tmp_path, capsys):
    [*options, _, _] = words = duel(tmp_path, "hang_at_3", "perfect")
    assert cli.run([*options, words[-2], "/nowhere/bot"]) == 2
    assert capsys.readouterr().err == "nonojudge: after: cannot start '/nowhere/bot': No such file or directory\n"


def test_a_bot_that_solves_nothing_is_named_with_its_last_words(tmp_path, capsys):
    assert cli.run(duel(tmp_path, "perfect", "ends_with_2_at_once")) == 2
    said = capsys.readouterr().err
    assert said.startswith("nonojudge: after: 0 of 5 right, ")
    assert said.endswith("crashed; its last line on stderr: unrecognized: --fats\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_duel_that_is_stopped_leaves_no_bot_and_no_half_of_a_round(tmp_path, number):
    results = tmp_path / "results"
    words = [*duel(tmp_path, "solve_once_and_wait", "solve_once_and_wait"), "--results", str(results)]
    judge = subprocess.Popen([sys.executable, "-m", "nonobot.harness", *words], stderr=subprocess.PIPE)
    waiting = tmp_path / "waiting"
    wait_until(lambda: waiting.exists() and len(waiting.read_text().split()) == 2)
    judge.send_signal(number)
    assert judge.communicate(timeout=PATIENCE_SECONDS) == (None, b"")
    assert judge.returncode == 130
    assert not [bot for bot in waiting.read_text().split() if Path("/proc", bot).exists()]
    assert not list(results.rglob("*.json*"))
