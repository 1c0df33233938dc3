"""The judge against bots that behave and bots that do not, as real processes."""

from __future__ import annotations

import os
import sys

import psutil
import pytest

from nonobot.harness.errors import UnusableError
from nonobot.harness.results.conditions import Feed
from nonobot.harness.results.run_result import EndReason
from tests.judged import let_time_fly, little_patience, nothing_hangs, played, verdicts  # noqa: F401

RIGHT, WRONG, MALFORMED, GIVEN_UP, MISSING = "right", "wrong", "malformed", "given-up", "missing"
LATE, OUT_OF_ORDER = "late", "out-of-order"

pytestmark = pytest.mark.usefixtures("little_patience", "nothing_hangs")


@pytest.fixture(autouse=True)
def _nothing_is_left():
    """What a bot detached becomes a child of the judge, so nothing can be overlooked."""
    before = set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.fixture
def _time_flies(tmp_path, monkeypatch):
    let_time_fly(monkeypatch, tmp_path / "result.stderr.txt")


@pytest.mark.parametrize("feed", Feed)
@pytest.mark.parametrize("behaviour", ["perfect", "answer_without_reading"])
def test_a_perfect_bot(tmp_path, behaviour, feed):
    result = played(behaviour, tmp_path, feed=feed)
    assert verdicts(result) == [RIGHT] * 5
    assert result.score.all_right
    assert (result.end.reason, result.end.exit_status, result.end.signal) == (EndReason.FINISHED, 0, None)
    assert result.score.remarks == []
    arrivals = [one.arrived_seconds for one in result.score.puzzles]
    assert 0 < arrivals[0] <= arrivals[-1]
    assert arrivals == sorted(arrivals)
    if behaviour == "perfect":
        assert all(0 <= one.took_seconds <= one.arrived_seconds for one in result.score.puzzles)
    assert result.stderr_file is None
    assert not (tmp_path / "result.stderr.txt").exists()


THREE_MISSING = "right right missing missing missing"
ONE_GIVES = "missing missing missing missing"


@pytest.mark.parametrize(
    ("behaviour", "expected", "end", "words"),
    [
        ("wrong_at_2", "right wrong right right right", "finished 0", ["row 1: expected"]),
        ("crash_at_3", "right right malformed missing missing", "crashed 1", []),
        ("killed_at_3", THREE_MISSING, "crashed SIGKILL", []),
        ("ends_with_2_at_3", THREE_MISSING, "crashed 2", []),
        ("ends_with_2_at_the_end", "right right right right right", "finished 2", []),
        (
            "garbage",
            "malformed right missing missing missing",
            "finished 0",
            ["'hello' belongs to no answer", "$77 is not in the set"],
        ),
        ("backwards", "out-of-order out-of-order out-of-order out-of-order right", "finished 0", []),
        ("twice", "wrong right right right right", "finished 0", ["$1 was answered before"]),
        ("exit_at_once", f"missing {ONE_GIVES}", "finished 0", []),
        ("close_stdin", f"right {ONE_GIVES}", "finished 0", []),
        ("close_stdout", f"right {ONE_GIVES}", "closed-stdout SIGTERM", []),
        ("never_end", "right right right right right", "finished SIGTERM", []),
    ],
)
def test_what_a_bot_wrote_counts_and_its_end_is_named(tmp_path, behaviour, expected, end, words):
    result = played(behaviour, tmp_path)
    assert verdicts(result) == expected.split()
    assert f"{result.end.reason.value} {result.end.signal or result.end.exit_status}" == end
    said = " ".join([*(one.detail or "" for one in result.score.puzzles), *result.score.remarks])
    assert [word for word in words if word not in said] == []
    assert result.score.all_right == (set(expected.split()) == {RIGHT})
    assert result.score.duplicate_count == (5 if behaviour == "twice" else 0)
    if behaviour == "crash_at_3":
        assert result.stderr_file == str(tmp_path / "result.stderr.txt")
        assert "cannot go on" in (tmp_path / "result.stderr.txt").read_text()


@pytest.mark.parametrize(("behaviour", "right"), [("exit_at_once", 0), ("close_stdin", 1)])
def test_a_bot_that_does_not_read_is_fed_no_more(tmp_path, behaviour, right):
    result = played(behaviour, tmp_path, feed=Feed.INTERACTIVE)
    assert verdicts(result) == [RIGHT] * right + [MISSING] * (5 - right)


@pytest.mark.usefixtures("_time_flies")
@pytest.mark.parametrize(
    ("behaviour", "limits", "end"),
    [
        ("hang_at_3", {"wall_limit_seconds": 50.0}, (EndReason.TIME_LIMIT, "SIGTERM")),
        ("hang_and_ignore_sigterm", {"wall_limit_seconds": 50.0}, (EndReason.TIME_LIMIT, "SIGKILL")),
        ("hang_at_3", {"wall_limit_seconds": 1e6, "stall_limit_seconds": 50.0}, (EndReason.STALLED, "SIGTERM")),
    ],
)
def test_a_hanging_bot_is_stopped_at_its_limit(tmp_path, behaviour, limits, end):
    result = played(behaviour, tmp_path, **limits)
    assert verdicts(result) == [RIGHT, RIGHT, MISSING, MISSING, MISSING]
    assert (result.end.reason, result.end.signal) == end


@pytest.mark.usefixtures("_time_flies")
@pytest.mark.parametrize(
    ("behaviour", "answered"),
    [
        ("hang_with_children", 2),
        ("leave_a_child", 5),
        ("detach_a_sleeper", 5),
        ("detach_a_sleeper_and_hang", 2),
    ],
)
def test_no_child_of_a_bot_is_left_over(tmp_path, behaviour, answered):
    result = played(behaviour, tmp_path, wall_limit_seconds=50.0)
    assert result.score.right == answered
    assert not _runs(int((tmp_path / "result.stderr.txt").read_text().split()[0]))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a detached process is lost sight of")
def test_a_chain_of_short_lives_is_caught(tmp_path):
    assert verdicts(played("fork_on_and_on", tmp_path)) == [RIGHT] * 5


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a detached process is lost sight of")
def test_the_cpu_time_of_detached_processes_counts(tmp_path):
    result = played("detach_a_burner", tmp_path)
    assert verdicts(result) == [RIGHT] * 5
    assert result.usage.cpu_seconds >= 0.3


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_limit_of_cpu_time(tmp_path):
    result = played("hang_busy_at_3", tmp_path, cpu_limit_seconds=0.5, wall_limit_seconds=100.0)
    assert verdicts(result) == [RIGHT, RIGHT, MISSING, MISSING, MISSING]
    assert result.end.reason is EndReason.CPU_LIMIT
    assert result.usage.cpu_seconds >= 0.5


@pytest.mark.parametrize("behaviour", ["eat_memory", "eat_memory_in_children"])
def test_the_limit_of_memory_holds_for_all_processes_together(tmp_path, behaviour):
    result = played(behaviour, tmp_path, memory_limit_bytes=100_000_000, wall_limit_seconds=100.0)
    assert verdicts(result)[2:] == [MISSING] * 3
    assert result.end.reason is EndReason.MEMORY_LIMIT
    assert result.usage.peak_memory_bytes > 99_000_000


def test_shared_memory_counts_once_against_the_limit(tmp_path):
    result = played("share_memory_with_children", tmp_path, memory_limit_bytes=200_000_000)
    assert verdicts(result) == [RIGHT] * 5
    assert result.end.reason is EndReason.FINISHED


@pytest.mark.usefixtures("_time_flies")
@pytest.mark.parametrize("feed", Feed)
def test_a_puzzle_that_takes_too_long_is_passed_over(tmp_path, feed):
    result = played("hang_at_3", tmp_path, puzzle_limit_seconds=50.0, wall_limit_seconds=1e6, feed=feed)
    assert verdicts(result) == [RIGHT, RIGHT, LATE, RIGHT, RIGHT]
    ends = [(one.first_puzzle, one.end.reason) for one in result.attempts]
    assert ends == [(1, EndReason.PUZZLE_LIMIT), (4, EndReason.FINISHED)]
    arrivals = [one.arrived_seconds for one in result.score.puzzles if one.arrived_seconds is not None]
    assert arrivals == sorted(arrivals)
    assert result.time_seconds == result.usage.wall_seconds > 50.0
    assert (tmp_path / "result.stderr.txt").read_text() == "hanging\n"


@pytest.mark.skipif(sys.platform != "linux", reason="no cores to hold a process on")
@pytest.mark.parametrize("count", [1, 2])
def test_a_bot_is_held_on_its_cores_and_the_judge_keeps_away(count, tmp_path):
    before = os.sched_getaffinity(0)
    cores = tuple(sorted(before)[-count:])
    of_judge = []
    played("say_my_cores", tmp_path, on_verdict=lambda *_: of_judge.append(os.sched_getaffinity(0)), core=cores)
    assert (tmp_path / "result.stderr.txt").read_text() == f"{[*cores]}\n"
    assert of_judge == [before - {*cores} or before] * 5
    assert os.sched_getaffinity(0) == before


def test_a_core_that_is_not_there(tmp_path):
    with pytest.raises(UnusableError, match="core 9999"):
        played("perfect", tmp_path, core=9999)


def test_a_flood_on_stderr_blocks_nothing_and_keeps_both_ends(tmp_path):
    result = played("flood_stderr", tmp_path)
    assert verdicts(result) == [RIGHT] * 5
    assert result.stderr_bytes == 5_000_015
    kept = (tmp_path / "result.stderr.txt").read_bytes()
    assert kept.startswith(b"x" * 1000)
    assert b"bytes left out here" in kept
    assert kept.endswith(b"the last words\n")
    assert len(kept) < 1_200_000


@pytest.mark.parametrize("behaviour", ["flood_stdout", "flood_with_one_answer"])
def test_a_flood_on_stdout_is_no_protocol(tmp_path, behaviour):
    result = played(behaviour, tmp_path)
    assert result.score.right == (behaviour == "flood_with_one_answer")
    assert result.end.reason is EndReason.PROTOCOL_ERROR


@pytest.mark.parametrize("behaviour", ["burn", "burn_in_a_child"])
def test_cpu_time_and_memory_include_children(tmp_path, behaviour):
    result = played(behaviour, tmp_path)
    assert verdicts(result) == [RIGHT] * 5
    assert result.usage.cpu_seconds >= 0.3
    assert result.usage.peak_memory_bytes >= 200_000_000
