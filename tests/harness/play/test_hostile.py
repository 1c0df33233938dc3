"""Bots that do not want to go, as real processes, sandboxed and not: each ends, and nothing is left of it."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from nonobot.harness.play.match import Bot, play
from nonobot.harness.process import bot_process
from nonobot.harness.process.cgroup import made_group
from nonobot.harness.process.machine import tournament_core
from nonobot.harness.results.conditions import Configuration, Contain
from nonobot.harness.results.result_files import read_result
from nonobot.harness.results.run_result import EndReason
from nonobot.harness.results.run_text import last_words, run_lines
from nonobot.system import usable_cores
from nonobot.tournament_data import load_set
from tests.helpers.judged import little_patience, pids_with, remove  # noqa: F401
from tests.helpers.places import DOUBLES
from tests.helpers.sandboxes import contained_or_not, sandbox_only

HOSTILE_BOT = DOUBLES / "hostile_bot.py"

pytestmark = pytest.mark.usefixtures("little_patience")


def end_of(behaviour, folder, contain, **terms):
    return result_of(behaviour, folder, contain, **terms).end.reason


def result_of(behaviour, folder, contain, **terms):
    """Return the result of a run of which nothing is left."""
    word = f"{behaviour}-{os.getpid()}-{time.monotonic_ns()}"
    bot = Bot("hostile", [sys.executable, "-S", str(HOSTILE_BOT), behaviour, word])
    before = psutil.Process().children()  # of multiprocessing, which another test of this process used
    terms = {"wall_limit_seconds": 1.0, "process_limit": 48, "core": tournament_core(), **terms}
    result = play(
        load_set("boardgen:5x5x3:seed=1"), bot, Configuration(contain=contain, **terms), folder / "result.json"
    )
    assert pids_with(word) == []
    assert psutil.Process().children() == before
    assert read_result(folder / "result.json") == result
    assert (folder / "result.stderr.txt").read_bytes().startswith(b"here\n")
    assert result.sandboxed == ("yes" if contain is Contain.YES else "no")
    return result


BOMBS = ["fork_bomb", "fork_bomb_in_new_sessions", "shell_bomb", "thread_bomb"]
slow = pytest.mark.slow


@pytest.fixture
def _small_world():
    """A cgroup around the judge and its bots, so that no bomb gets far, whatever is wrong."""
    group = made_group(Configuration(process_limit=200))
    if group is None or not group.cgroup_measures.processes:
        pytest.skip("a bomb is tried only where a cgroup keeps it small")
    with group.entered():
        yield
    remove(group)


@contained_or_not
@pytest.mark.parametrize("bomb", [BOMBS[0], *(pytest.param(name, marks=slow) for name in BOMBS[1:])])
@pytest.mark.usefixtures("_small_world")
def test_a_fork_bomb_ends_at_the_process_limit(tmp_path, bomb, contain):
    assert end_of(bomb, tmp_path, contain, wall_limit_seconds=20.0) is EndReason.PROCESS_LIMIT


# What goes to a new session with every fork is not among them: only a cgroup or a sandbox catches that for sure.
@slow
@pytest.mark.parametrize("bomb", ["fork_bomb", "shell_bomb", "thread_bomb"])
@pytest.mark.usefixtures("_small_world")
def test_a_fork_bomb_ends_at_the_process_limit_without_a_cgroup(tmp_path, bomb, monkeypatch):
    monkeypatch.setattr(bot_process, "made_group", lambda *_: None)
    assert end_of(bomb, tmp_path, Contain.NO, wall_limit_seconds=20.0) is EndReason.PROCESS_LIMIT


@contained_or_not
@pytest.mark.parametrize(
    "behaviour",
    [
        "detached",
        *(pytest.param(name, marks=slow) for name in ("deaf", "stopped", "opens_files", "floods_stderr")),
    ],
)
def test_a_bot_that_refuses_to_exit_ends_at_the_time_limit(tmp_path, behaviour, contain):
    assert end_of(behaviour, tmp_path, contain) is EndReason.TIME_LIMIT


@sandbox_only
def test_a_sandboxed_bot_can_kill_only_its_own_processes(tmp_path):
    assert end_of("kills_all", tmp_path, Contain.YES) is EndReason.TIME_LIMIT


@slow
@sandbox_only
def test_files_in_scratch_count_against_the_memory_limit(tmp_path):
    group = made_group(Configuration())
    if group is None or not group.cgroup_measures.memory:
        pytest.skip("no cgroup counts memory here")
    group.remove()
    end = end_of("fills_scratch", tmp_path, Contain.YES, wall_limit_seconds=20.0, memory_limit_bytes=60_000_000)
    assert end is EndReason.MEMORY_LIMIT


@pytest.mark.skipif(len(usable_cores()) < 2, reason="one core")
@contained_or_not
def test_processes_outside_their_cores_are_moved_back_and_reported(tmp_path, contain, monkeypatch):
    monkeypatch.setattr(bot_process, "made_group", lambda *_: None)
    result = result_of("takes_cores", tmp_path, contain, wall_limit_seconds=20.0)
    [taken] = [attempt.cores_taken for attempt in result.attempts]
    assert {*taken} >= {*usable_cores()} - {*result.configuration.cores}
    assert last_words(result) == "put back"
    assert sum("used other cores" in line for line in run_lines(result)) == 1


JUDGE = """
import sys
from nonobot.harness import cli
from nonobot.harness.process import bot_process
if sys.argv.pop(1) == "samples":
    bot_process.made_group = lambda *_: None
sys.exit(cli.run(sys.argv[1:]))
"""
ONE_BOARD = ["--set", "boardgen:5x5x1:seed=1", "--result", "result.json", "--quiet"]


@slow
@sandbox_only
@pytest.mark.parametrize("judge", ["counts", "samples"])
@pytest.mark.parametrize("way", ["fills_heap", "fills_memfd", "fills_scratch", "fills_shm"])
def test_a_bot_that_exhausts_memory_is_ended_and_the_judge_survives(tmp_path, way, judge):
    group = made_group(Configuration(memory_limit_bytes=1_200_000_000))
    if group is None or not group.cgroup_measures.memory:
        pytest.skip("no cgroup limits memory here")
    bot = [sys.executable, "-S", str(HOSTILE_BOT), way]
    with group.entered():
        run = subprocess.Popen(
            [sys.executable, "-c", JUDGE, judge, "run", *ONE_BOARD, "--contain", "yes", "--", *bot], cwd=tmp_path
        )
    status = run.wait()
    remove(group)
    result = read_result(tmp_path / "result.json")
    assert (status, result.end.reason) == (1, EndReason.MEMORY_LIMIT)
    assert 700_000_000 < result.configuration.memory_limit_bytes <= 900_000_000
    assert result.attempts[0].cgroup_measures.memory == (judge == "counts")
