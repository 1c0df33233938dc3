"""Verdicts on answers."""

from __future__ import annotations

import pytest

from nonobot.harness.referee import KEPT_REMARKS, Referee, judge
from nonobot.harness.results.run_result import Verdict
from nonobot.protocol import Answer, Puzzle, Solution
from nonobot.tournament_data import Recipe, load_set

TWO_SOLUTIONS = Puzzle.from_grid([[1, 0], [0, 1]])
EMPTY = Puzzle.from_grid([[0, 0], [0, 0]])


@pytest.mark.parametrize(
    ("puzzle", "answer", "verdict", "detail"),
    [
        (TWO_SOLUTIONS, [[1, 0], [0, 1]], Verdict.RIGHT, None),
        (TWO_SOLUTIONS, [[0, 1], [1, 0]], Verdict.RIGHT, None),
        (EMPTY, [[0, 0], [0, 0]], Verdict.RIGHT, None),
        (TWO_SOLUTIONS, [[0, 0], [0, 0]], Verdict.GIVEN_UP, "zeros"),
        (TWO_SOLUTIONS, [[1, 0], [1, 1]], Verdict.WRONG, "row 2: expected 1, found 2 (and 1 more line at fault)"),
        (EMPTY, Answer(1, 1, word="unsolvable"), Verdict.GIVEN_UP, "unsolvable"),
        (EMPTY, Answer(1, 1, word=""), Verdict.GIVEN_UP, "nothing written"),
        (EMPTY, Answer(1, 1, problem="line 2: 1 number"), Verdict.MALFORMED, "line 2: 1 number"),
    ],
)
def test_the_verdict_on_an_answer(puzzle, answer, verdict, detail):
    if not isinstance(answer, Answer):
        answer = Answer(1, 1, Solution(answer))
    assert judge(puzzle, answer) == (verdict, detail)


SET = load_set("boardgen:5x5x4:seed=1")
SOLUTIONS = [solution for _, solution in Recipe.parse(SET.name).boards()]
FIRST, SECOND, THIRD, FOURTH = (Answer(number, 1, one) for number, one in enumerate(SOLUTIONS, 1))


@pytest.mark.parametrize(
    ("came", "any_order", "expected", "left"),
    [
        ([FIRST, SECOND], False, ["right", "right", "missing", "missing"], [3, 4]),
        ([SECOND, FIRST], False, ["out-of-order", "right", "missing", "missing"], [3, 4]),
        ([SECOND, FIRST], True, ["right", "right", "missing", "missing"], [3, 4]),
        ([THIRD, FIRST, SECOND], False, ["out-of-order", "out-of-order", "right", "missing"], [4]),
        ([THIRD], False, ["missing", "missing", "right", "missing"], [4]),
        ([THIRD], True, ["missing", "missing", "right", "missing"], [1, 2, 4]),
        ([FOURTH], False, ["missing", "missing", "missing", "right"], []),
        ([Answer(2, 1, word="timeout"), FIRST], False, ["out-of-order", "given-up", "missing", "missing"], [3, 4]),
        ([SECOND, Answer(1, 1, word="")], False, ["given-up", "right", "missing", "missing"], [3, 4]),
        ([Answer(9, 1, word=""), FIRST], False, ["right", "missing", "missing", "missing"], [2, 3, 4]),
    ],
)
def test_the_order_of_answers(came, any_order, expected, left):
    referee = Referee(SET, any_order)
    for answer in came:
        referee.take(answer)
    assert [one.verdict.value for one in referee.score().puzzles] == expected
    assert referee.left() == left
    assert referee.answers_due == bool(left)


def test_a_solution_that_took_too_long_is_late():
    referee = Referee(SET, puzzle_limit_seconds=2.0)
    assert referee.take(FIRST, 2.0, 2.0).verdict is Verdict.RIGHT
    late = referee.take(SECOND, 4.5, 2.5)
    assert (late.verdict, late.detail) == (Verdict.LATE, "a solution, after 2.50 s of 2 s")
    assert (late.arrived_seconds, late.took_seconds) == (4.5, 2.5)
    assert referee.take(Answer(3, 1, word="timeout"), 9.0, 4.5).verdict is Verdict.GIVEN_UP
    assert referee.take(FOURTH, 9.5, None).verdict is Verdict.RIGHT  # answered before it was sent


def test_the_cells_of_a_grid_are_kept_whatever_they_are_worth():
    referee = Referee(load_set("boardgen:3x3x2:seed=1"))
    wrong = referee.take(Answer(1, 1, Solution([[1, 0, 0], [0, 0, 0], [1, 1, 1]])))
    assert wrong.cells_hex == "8380"  # 1000 0011 1, then zeros
    assert referee.take(Answer(2, 1, word="timeout")).cells_hex is None


def test_the_first_answer_counts_and_the_others_are_counted():
    referee = Referee(SET)
    assert referee.take(Answer(1, 1, word="timeout"))
    assert referee.take(FIRST) is None
    assert referee.take(Answer(None, 7, problem="line 7: 'x' belongs to no answer")) is None
    score = referee.score()
    assert (score.duplicate_count, score.stray_count) == (1, 1)
    assert score.remarks == [
        "line 1: $1 was answered before; the first answer counts",
        "line 7: 'x' belongs to no answer",
    ]


def test_remarks_are_counted_and_the_first_are_kept():
    referee = Referee(load_set("boardgen:2x2x2:seed=1"))
    for number in range(100, 200):
        assert referee.take(Answer(number, 1, word="")) is None
    assert referee.stray_count == 100
    assert len(referee.remarks) == KEPT_REMARKS
