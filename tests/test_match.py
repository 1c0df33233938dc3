"""The judge against bots that behave and bots that do not, as real processes."""

from __future__ import annotations

import os
import time

import psutil
import pytest

from harness.play import leg, process
from harness.play.process import StartError
from harness.results.model import EndReason, Feed
from tests.judged import played, verdicts

RIGHT, WRONG, MALFORMED, GIVEN_UP, MISSING = "right", "wrong", "malformed", "given-up", "missing"


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch):
    monkeypatch.setattr(leg, "LINGER_SECONDS", 0.3)
    monkeypatch.setattr(process, "SECONDS_TO_OBEY", 0.3)


@pytest.mark.parametrize("feed", Feed)
@pytest.mark.parametrize("behaviour", ["perfect", "answer_without_reading"])
def test_a_perfect_bot(tmp_path, behaviour, feed):
    result = played(behaviour, tmp_path, feed=feed)
    assert verdicts(result) == [RIGHT] * 5
    assert result.score.all_right
    assert (result.end.reason, result.end.exit_status, result.end.signal) == (EndReason.FINISHED, 0, None)
    assert result.score.remarks == []
    assert result.stderr_file is None
    assert not (tmp_path / "result.stderr.txt").exists()


@pytest.mark.parametrize("feed", Feed)
def test_answers_are_stamped_in_the_order_of_their_arrival(tmp_path, feed):
    result = played("perfect", tmp_path, feed=feed)
    arrivals = [one.arrived_seconds for one in result.score.puzzles]
    assert arrivals == sorted(arrivals)
    assert arrivals[0] > 0
    assert all(0 <= one.took_seconds <= one.arrived_seconds for one in result.score.puzzles)


def test_a_wrong_answer_says_where(tmp_path):
    result = played("wrong_at_2", tmp_path)
    assert verdicts(result) == [RIGHT, WRONG, RIGHT, RIGHT, RIGHT]
    assert result.score.puzzles[1].detail.startswith("row 1: expected")
    assert not result.score.all_right


def test_what_a_crashed_bot_wrote_counts(tmp_path):
    result = played("crash_at_3", tmp_path)
    assert verdicts(result) == [RIGHT, RIGHT, MALFORMED, MISSING, MISSING]
    assert (result.end.reason, result.end.exit_status) == (EndReason.CRASHED, 1)
    assert "cannot go on" in (tmp_path / "result.stderr.txt").read_text()
    assert result.stderr_file == str(tmp_path / "result.stderr.txt")


def test_a_signal_has_its_name(tmp_path):
    result = played("killed_at_3", tmp_path)
    assert verdicts(result) == [RIGHT, RIGHT, MISSING, MISSING, MISSING]
    assert (result.end.reason, result.end.exit_status, result.end.signal) == (
        EndReason.CRASHED,
        None,
        "SIGKILL",
    )


@pytest.mark.parametrize("feed", Feed)
@pytest.mark.parametrize(
    ("behaviour", "died_of"), [("hang_at_3", "SIGTERM"), ("hang_and_ignore_sigterm", "SIGKILL")]
)
def test_a_hanging_bot_is_stopped_at_the_time_limit(tmp_path, behaviour, died_of, feed):
    result = played(behaviour, tmp_path, wall_limit_seconds=2.0, feed=feed)
    assert verdicts(result) == [RIGHT, RIGHT, MISSING, MISSING, MISSING]
    assert (result.end.reason, result.end.signal) == (EndReason.TIME_LIMIT, died_of)


@pytest.mark.parametrize("behaviour", ["hang_with_children", "leave_a_child"])
def test_no_child_of_a_bot_is_left_over(tmp_path, behaviour):
    played(behaviour, tmp_path, wall_limit_seconds=2.0)
    child = int((tmp_path / "result.stderr.txt").read_text().split()[0])
    end = time.monotonic() + 5
    while _runs(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_garbage_costs_only_itself(tmp_path):
    result = played("garbage", tmp_path)
    assert verdicts(result) == [MALFORMED, RIGHT, MISSING, MISSING, MISSING]
    assert any("'hello' belongs to no answer" in remark for remark in result.score.remarks)
    assert any("$77 is not in the set" in remark for remark in result.score.remarks)


def test_answers_in_another_order(tmp_path):
    assert verdicts(played("backwards", tmp_path)) == [*["out-of-order"] * 4, RIGHT]


def test_the_first_answer_counts(tmp_path):
    result = played("twice", tmp_path)
    assert verdicts(result) == [WRONG, RIGHT, RIGHT, RIGHT, RIGHT]
    assert result.score.duplicate_count == 5
    assert "$1 was answered before" in result.score.remarks[0]


def test_half_a_grid_is_malformed(tmp_path):
    result = played("half_a_grid", tmp_path)
    assert verdicts(result) == [MALFORMED, MISSING, MISSING, MISSING, MISSING]
    assert "2 rows, expected 5" in result.score.puzzles[0].detail


def test_a_missing_final_newline(tmp_path):
    assert verdicts(played("no_final_newline", tmp_path)) == [RIGHT] * 5


@pytest.mark.parametrize("feed", Feed)
def test_a_flood_on_stderr_blocks_nothing_and_keeps_both_ends(tmp_path, feed):
    result = played("flood_stderr", tmp_path, feed=feed)
    assert verdicts(result) == [RIGHT] * 5
    assert result.stderr_bytes == 5_000_015
    kept = (tmp_path / "result.stderr.txt").read_bytes()
    assert kept.startswith(b"x" * 1000)
    assert b"bytes left out here" in kept
    assert kept.endswith(b"the last words\n")
    assert len(kept) < 1_200_000


@pytest.mark.parametrize("behaviour", ["flood_stdout", "flood_without_lines", "flood_with_one_answer"])
def test_a_flood_on_stdout_is_no_protocol(tmp_path, behaviour):
    result = played(behaviour, tmp_path)
    assert result.score.right == (behaviour == "flood_with_one_answer")
    assert result.end.reason is EndReason.PROTOCOL_ERROR


@pytest.mark.parametrize("feed", Feed)
def test_a_bot_that_ends_at_once(tmp_path, feed):
    result = played("exit_at_once", tmp_path, feed=feed)
    assert verdicts(result) == [MISSING] * 5
    assert (result.end.reason, result.end.exit_status) == (EndReason.FINISHED, 0)


@pytest.mark.parametrize("feed", Feed)
def test_a_bot_that_closes_its_stdin(tmp_path, feed):
    assert verdicts(played("close_stdin", tmp_path, feed=feed)) == [RIGHT, *[MISSING] * 4]


@pytest.mark.parametrize(
    ("behaviour", "right", "reason"),
    [("close_stdout", 1, EndReason.CLOSED_STDOUT), ("never_end", 5, EndReason.FINISHED)],
)
def test_a_bot_with_no_more_to_say_is_not_waited_for(tmp_path, behaviour, right, reason):
    result = played(behaviour, tmp_path)
    assert result.score.verdicts[RIGHT] == right
    assert (result.end.reason, result.end.signal) == (reason, "SIGTERM")


def test_giving_up_is_not_being_wrong(tmp_path):
    result = played("give_up", tmp_path)
    assert verdicts(result) == [GIVEN_UP] * 5
    details = [one.detail for one in result.score.puzzles]
    assert details == ["zeros", "unsolvable", "timeout", "invalid", "nothing written"]


@pytest.mark.parametrize("behaviour", ["burn", "burn_in_a_child"])
def test_cpu_time_and_memory_include_children(tmp_path, behaviour):
    result = played(behaviour, tmp_path)
    assert verdicts(result) == [RIGHT] * 5
    assert result.usage.cpu_seconds >= 0.3
    assert result.usage.peak_memory_bytes >= 200_000_000


@pytest.mark.parametrize("program", ["no-such-program", os.sep, "bot\0"])
def test_a_command_that_cannot_start_is_named(program, tmp_path):
    with pytest.raises(StartError, match="cannot start") as caught:
        process.BotProcess([program], tmp_path / "result.stderr.txt")
    assert "\n" not in str(caught.value)
