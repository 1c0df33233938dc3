"""Boards judged by many workers: the same come of it, whatever the tasks were and whoever did them when."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from random import Random
from types import SimpleNamespace

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nonobot.harness import UnusableError, cli
from nonobot.harness.cluster import cluster_workers
from nonobot.harness.cluster.cluster_workers import connected, differing, local_cores, software, where
from nonobot.harness.puzzles.board_jobs import Plan, completed, graded, select_on
from nonobot.harness.puzzles.grading import Grading
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.select import Grade, NoBoardError, Rules, select
from tests.helpers.clusters import Block, beside, cluster
from tests.helpers.waiting import finished, running, wait_until

__all__ = ["cluster"]


def judged_with(shares):
    """Return a stand-in for the bot, for which so many of ten boards are decided and so many unique."""
    decided, unique = shares

    def grade_board(puzzle):
        random = Random(repr(puzzle))
        is_decided = random.randrange(10) < decided
        return Grade(is_decided, is_decided and random.randrange(10) < unique, random.randrange(4))

    return grade_board


def outcome(boards):
    yielded = []
    try:
        yielded.extend(boards)
    except NoBoardError as error:
        return yielded, str(error)
    return yielded, None


sides, densities = st.integers(3, 6), st.floats(0.3, 0.7)
recipes = st.builds(Recipe, sides, sides, st.integers(1, 12), st.integers(0, 2**70), densities, densities)


def planned(recipe, rules, grade_board, workers, order, on_draw):
    """Yield the boards of a plan whose tasks are done by workers at any time and in any order."""
    plan = Plan(recipe, rules, on_draw)
    on_the_way = []
    while not plan.over:
        while len(on_the_way) < 2 * workers and (draws := plan.next_draws(workers)):
            assert all(request.number > 0 for request in draws)
            on_the_way.append(draws)
        assert on_the_way, "nothing is asked for, and nothing is there"
        draws = on_the_way.pop(order.randrange(len(on_the_way)))
        grades = [graded(grade_board, recipe, rules, request) for request in draws]
        plan.take(draws, grades, order.random() / 10)
        yield from plan.ready()


@settings(max_examples=40)
@given(
    recipe=recipes,
    rules=st.builds(Rules, unique=st.booleans(), choices=st.integers(1, 9), most_draws=st.integers(1, 40)),
    shares=st.tuples(st.integers(1, 10), st.integers(1, 10)),
    workers=st.integers(1, 9),
    order=st.randoms(use_true_random=False),
)
def test_a_plan_keeps_the_boards_that_a_selection_in_order_keeps(recipe, rules, shares, workers, order):
    grade_board, in_order, in_any_order = judged_with(shares), [], []
    expected = outcome(select(recipe, grade_board, rules, in_order.append))
    assert outcome(planned(recipe, rules, grade_board, workers, order, in_any_order.append)) == expected
    if expected[1] is None:  # every board that counts was told of, and none beside
        key = lambda drawn: (drawn.puzzle, drawn.eligible, repr(drawn.grade))  # noqa: E731
        assert sorted(map(key, in_any_order)) == sorted(map(key, in_order))


def test_a_plan_examines_few_unneeded_boards():
    recipe, rules = Recipe(6, 6, 40, seed=3), Rules(unique=True, choices=4)
    looked_at, counted = [], []

    def grade_board(puzzle):
        looked_at.append(puzzle)
        return judged_with((10, 3))(puzzle)

    assert len(list(planned(recipe, rules, grade_board, 4, Random(5), counted.append))) == 40
    assert len(looked_at) < 1.25 * len(counted)


@pytest.mark.parametrize("error", [RuntimeError, ConnectionError, TimeoutError, ValueError])
@pytest.mark.parametrize("asked", ["ncores", "submit"])
def test_a_scheduler_that_disappears_is_a_one_line_error(asked, error):
    def gone(*_, **__):
        raise error("IOLoop is closed")

    client = SimpleNamespace(loop=object(), ncores=dict, submit=None)
    setattr(client, asked, gone)
    with pytest.raises(UnusableError, match=r"the scheduler has gone .* the same command starts again"):
        next(completed(client, abs, lambda workers: (1,)))


# Real workers


def generated(tmp_path, name, *options):
    command = ["generate", "12x11x20", "--seed", "5", "--p2", "0.45", "--unique", "--hard", "6"]
    assert cli.run([*command, "-o", str(tmp_path / name), *options]) == 0
    return (tmp_path / name).read_bytes()


@pytest.mark.slow
def test_the_same_seed_makes_the_same_set_wherever_it_is_made(compiled, tmp_path):
    alone = generated(tmp_path, "alone.txt")
    for place in ("local:1", "local:2"):
        assert generated(tmp_path, "other.txt", "--on", place) == alone


def run_on_workers(tmp_path, *options):
    command = ["-m", "nonobot.harness", "generate", "--seed", "5", "--on", "local:2", "--contain", "no", *options]
    return running([sys.executable, *command, "-o", "q.txt"], cwd=tmp_path, stderr=subprocess.PIPE)


def bots_below(process):
    found = []
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "--stats" in child.cmdline():
                found.append(child)
    return found


@pytest.mark.nightly
def test_workers_that_are_killed_change_nothing(compiled):
    recipe, rules = Recipe(20, 20, 10, seed=5, p1=0.5, p2=0.4), Rules(unique=False, choices=200)
    grading = Grading((20, 20), solutions=1, levels=False, puzzle_seconds=60, line_limit=10**6)
    killed, bots = [], []

    def kill_some(drawn):
        if drawn.boards in (200, 1000):  # of 2000 at least; who judged them is there
            found = bots_below(psutil.Process())
            workers = {bot.parent() for bot in found} - {psutil.Process(), None}
            bots.extend(found)
            killed.append(workers.pop())
            killed[-1].kill()

    with grading.started() as bot:
        alone = list(select(recipe, bot, rules, lambda drawn: None))
    with connected("local:2") as client:
        assert list(select_on(client, grading, recipe, rules, kill_some)) == alone
    assert len({worker.pid for worker in killed}) == 2
    assert not psutil.wait_procs([*killed, *bots], timeout=30)[1]


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_neither_a_file_nor_a_process(compiled, tmp_path, number):
    with run_on_workers(tmp_path, "25x25x1000", "--hard", "1000") as run:
        wait_until(lambda: len(bots_below(psutil.Process(run.pid))) == 2, run)
        started = psutil.Process(run.pid).children(recursive=True)
        run.send_signal(number)
        _, err = finished(run)
    assert run.returncode == 130
    assert b"Traceback" not in err
    assert os.listdir(tmp_path) == []  # noqa: PTH208
    assert not psutil.wait_procs(started, timeout=30)[1]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_killed_or_stopped_scheduler_is_a_one_line_error(
    compiled, tmp_path, monkeypatch, capfd, cluster, number
):
    cluster.start_worker()
    monkeypatch.setattr(cluster_workers, "SECONDS_OF_SILENCE", 5.0)

    def kill(block: Block) -> None:
        worker = cluster.workers[0]
        wait_until(lambda: bots_below(psutil.Process(worker.pid)), worker, block)
        cluster.scheduler.send_signal(number)

    command = ["generate", "25x25x1000", "--seed", "5", "--hard", "1000", "--on", cluster.address]
    with beside(kill):
        assert cli.run([*command, "-o", str(tmp_path / "q.txt")]) == 2
    *_, last = capfd.readouterr().err.splitlines()
    assert last.startswith("nonojudge: the scheduler has gone")
    assert not (tmp_path / "q.txt").exists()


@pytest.mark.nightly
def test_a_board_that_kills_every_worker_is_reported(compiled, tmp_path):
    with run_on_workers(tmp_path, "30x30x1", "--p1", "0.4", "--p2", "0.4", "--hard", "100000") as run:
        end = time.monotonic() + 200
        while run.poll() is None and time.monotonic() < end:
            with contextlib.suppress(psutil.Error):  # it has ended
                for bot in bots_below(psutil.Process(run.pid)):
                    if (worker := bot.parent()) and worker.pid not in (1, run.pid):
                        worker.kill()
            time.sleep(0.1)
        _, err = finished(run)
    assert run.returncode == 2
    assert b"workers died of the same boards: " in err.splitlines()[-1]
    assert b"boardgen:30x30x1:seed=5" in err.splitlines()[-1]


def test_the_option_on_accepts_local_or_an_address():
    for place in ("local", "local:3", "tcp://10.0.0.1:8786", "tcp://head", "tcp://[::1]:8786", "tcp://[::1]"):
        assert where(place) == place
    unusable = "local: local:0 local:x here tcp:// tcp://a:b tcp://a:0 tcp://a:65536 a:1"
    for place in ("", "tcp://a b", *unusable.split()):
        with pytest.raises(argparse.ArgumentTypeError, match="is not local, local:N or an address"):
            where(place)


@pytest.mark.parametrize(
    ("place", "cores"),
    [
        ("local", [[2], [3], [5]]),
        ("local:1", [[2, 3, 5]]),
        ("local:2", [[2, 3], [2, 5]]),
        ("local:4", [[2, 3, 5]] * 4),
    ],
)
def test_each_worker_has_a_core_of_its_own_where_there_are_enough(monkeypatch, place, cores):
    monkeypatch.setattr(cluster_workers, "usable_cores", lambda: [2, 3, 5])
    assert local_cores(place) == cores


def test_differing_software_versions_are_reported_with_both_values():
    here = software()
    assert set(here) == {"nonobot", "Python", "numpy", "numba"}
    assert differing("w", here, dict(here)) == []
    assert differing("w", here, here | {"numpy": "0.1"}) == [f"w: numpy 0.1, here {here['numpy']}"]
    assert differing("w", {"numba": "1"}, {}) == ["w: numba unknown, here 1"]
    assert "nonobot" in differing("w", here, ModuleNotFoundError("No module named 'nonobot'"))[0]
    assert differing("w", here, OSError("it left")) == ["w: it left"]


def test_without_the_extra_the_error_names_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UnusableError, match=r"--on needs distributed, not installed; .* -e '\.\[cluster\]'"):
        connected("local").__enter__()


@pytest.mark.nightly
def test_a_missing_scheduler_is_reported_soon_and_other_errors_pass_unchanged():
    assert cluster_workers.SECONDS_TO_CONNECT <= 8
    with pytest.raises(
        UnusableError, match=r"no scheduler answers at tcp://127.0.0.1:9: Connection refused"
    ) as caught:
        connected("tcp://127.0.0.1:9").__enter__()
    assert "\n" not in str(caught.value)
    with pytest.raises(UnusableError, match="mine"), connected("local:1"):
        raise UnusableError("mine")


LEAVES_A_TASK_THAT_FAILS = """
import asyncio
from nonobot.harness.cluster.cluster_workers import connected
with connected("local:1"):
    pass
late = asyncio.new_event_loop().create_future()
late.set_exception(TimeoutError("Timeout"))
"""


@pytest.mark.nightly
def test_errors_after_the_workers_have_closed_are_not_printed(tmp_path):
    done = subprocess.run([sys.executable, "-c", LEAVES_A_TASK_THAT_FAILS], cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.nightly
def test_local_workers_do_one_task_at_a_time_and_leave_no_process():
    before = set(psutil.Process().children(recursive=True))
    with connected("local:2") as client:
        infos = client.scheduler_info(n_workers=-1)["workers"]
        assert [info["nthreads"] for info in infos.values()] == [1, 1]
        assert client.submit(sum, [1, 2]).result() == 3
    left = [child for child in psutil.Process().children(recursive=True) if child not in before]
    assert not [child for child in left if "resource_tracker" not in " ".join(child.cmdline())]
