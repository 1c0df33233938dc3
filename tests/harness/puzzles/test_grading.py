"""What the bot's records say about a board, and what is said when there is none."""

import json
import os
import signal
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from nonobot.harness import UnusableError
from nonobot.harness.puzzles.grading import WORK_COUNT, Grading, GradingBot, grading_bot
from nonobot.protocol import Puzzle, format_puzzle
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.select import Grade, drawn_board
from tests import naive
from tests.helpers.boards import all_grids
from tests.helpers.judged import ScriptedTransport

pytestmark = pytest.mark.usefixtures("compiled")

PUZZLE = Puzzle(columns=((1,), ()), rows=((1,), ()))


def scripted(record, solutions, answers=b"$1\n1\t0\n0\t0\n"):
    """Return a bot that takes a board, and answers, or ends if there is no record."""
    said = [("wrote", answers), ("wrote", json.dumps(record).encode() + b"\n")] if record else [("ended", None)]
    transport = ScriptedTransport(("sent", format_puzzle(1, PUZZLE)), *said)
    last_words = SimpleNamespace(data=b"", last_line="nonobot: two")
    return GradingBot(transport, last_words, Grading(PUZZLE.size, solutions, puzzle_seconds=5.0))


@pytest.mark.parametrize(
    ("status", "number", "verdict", "solutions", "decided"),
    [
        ("solved", 1, "unknown", 1, True),
        ("solved", 1, "unique", 1, True),
        ("timeout", 0, "unknown", 1, False),
        ("solved", 2, "multiple", 2, True),
        ("solved", 1, "unique", 2, True),
        ("solved", 1, "unknown", 2, False),
        ("timeout", 0, "unknown", 2, False),
    ],
)
def test_a_grade_follows_from_the_statistics_of_the_bot(status, number, verdict, solutions, decided):
    record = {"puzzle": 1, "status": status, "seconds": 0.1, "solutions": number, "verdict": verdict}
    unique = verdict == "unique"
    expected = Grade(decided, unique, work=7, conflicts=3, level="search" if unique else None)
    bot = scripted(record | {WORK_COUNT: 7, "decisions": 1, "conflicts": 3}, solutions)
    assert bot(PUZZLE) == expected


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (None, "nonobot ended: nonobot: two"),
        ({"status": "unsolvable", "verdict": "unsolvable"}, "the bot cannot solve such boards: nonobot: two"),
        ({"status": "invalid"}, "the bot cannot solve such boards: nonobot: two"),
    ],
)
def test_unusable_statistics_of_a_bot_are_a_one_line_error(record, message):
    with pytest.raises(UnusableError) as caught:
        scripted(record, 1)(PUZZLE)
    assert str(caught.value) == message


def test_grading_uses_nonobot_and_reports_if_it_has_ended(tmp_path, own_folder):
    with grading_bot(Grading((2, 2), solutions=1, puzzle_seconds=60)) as grade_board:
        assert grade_board(PUZZLE).decided
        os.kill(grade_board._bot.pid, signal.SIGKILL)
        with pytest.raises(UnusableError, match="nonobot ended: "):
            grade_board(PUZZLE)
    (tmp_path / "bot.py").write_text("raise SystemExit('the wrong bot')")
    before = os.listdir("/dev/fd")  # noqa: PTH208
    with grading_bot(Grading((2, 2), solutions=1, puzzle_seconds=60)) as grade_board:
        assert grade_board(PUZZLE).decided
    assert not psutil.pid_exists(grade_board._bot.pid)
    assert len(os.listdir("/dev/fd")) == len(before)  # noqa: PTH208


def test_levels_of_random_boards_equal_those_of_the_slow_reference():
    boards = [drawn_board(Recipe(7, 7, 60, seed=5, p1=0.4, p2=0.6), index, 0)[0] for index in range(60)]
    expected = [naive.level(puzzle) for puzzle in boards]
    assert {"lines", "probing", None} <= set(expected)
    grading = Grading((7, 7), solutions=2, levels=True, puzzle_seconds=60, line_limit=10**6)
    with grading.started() as grade:
        found = [grade(puzzle) for puzzle in boards]
    assert [graded.level for graded in found] == expected
    assert [graded.unique for graded in found] == [level is not None for level in expected]
    assert all(graded.decided for graded in found)


def test_a_line_limit_stops_at_the_same_place_each_time():
    recipe = Recipe(20, 20, 12, seed=2, p1=0.45, p2=0.35)
    boards = [drawn_board(recipe, index, 0)[0] for index in range(12)]
    with grading_bot(Grading((20, 20), solutions=2, puzzle_seconds=60)) as grade_board:
        free = [grade_board(puzzle) for puzzle in boards]
    limit = sorted(grade.work for grade in free)[6]
    with grading_bot(Grading((20, 20), solutions=2, puzzle_seconds=60, line_limit=limit)) as grade_board:
        first, second = ([grade_board(puzzle) for puzzle in boards] for _ in range(2))
    assert first == second
    for limited, unlimited in zip(first, free, strict=True):
        assert unlimited.decided
        assert limited == unlimited if limited.decided else limit < limited.work <= unlimited.work
    assert 0 < sum(grade.decided for grade in first) < 12


@pytest.mark.parametrize("most", [2, 3, 50])
def test_grading_finds_the_same_solutions_as_enumeration(most):
    with grading_bot(Grading((3, 2), solutions=most, puzzle_seconds=60)) as bot:
        for grid in all_grids(3, 2):
            puzzle = Puzzle.from_grid(grid)
            known = {np.array(solution, bool).tobytes() for solution in naive.solutions(puzzle)}
            if most == 2:
                grade = bot(puzzle)
                assert (grade.decided, grade.unique) == (True, len(known) == 1)
                assert grade == bot(puzzle)
            found = bot.findings(puzzle)
            assert found.solutions.shape == (min(most, len(known)), 2, 3)
            told = {solution.tobytes() for solution in found.solutions}
            assert told <= known
            assert len(told) == len(found.solutions)
            assert found.in_time
            assert found.complete == (len(known) < most)
            assert found.unique == (len(known) == 1)


@pytest.mark.parametrize(
    ("number", "verdict", "seconds", "complete", "in_time"),
    [
        (2, "multiple", 0.1, True, True),
        (2, "multiple", 5.0, False, False),
        (3, "multiple", 0.1, False, True),
        (3, "multiple", 5.0, False, True),
        (1, "unique", 0.1, True, True),
        (1, "unique", 5.0, True, True),
        (1, "unknown", 5.0, False, False),
        (0, "unknown", 5.0, False, False),
    ],
)
def test_findings_state_which_facts_about_the_solutions_are_unknown(number, verdict, seconds, complete, in_time):
    status = "solved" if number else "timeout"
    record = {"status": status, "seconds": seconds, "solutions": number, "verdict": verdict, WORK_COUNT: 7}
    found = scripted(record, 3, number * b"$1\n1\t0\n0\t1\n").findings(PUZZLE)
    assert found.solutions.tolist() == number * [[[True, False], [False, True]]]
    assert (found.complete, found.in_time) == (complete, in_time)
    assert found.unique == (verdict == "unique")
