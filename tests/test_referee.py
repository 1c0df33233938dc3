"""Verdicts on answers."""

from __future__ import annotations

import pytest

from harness.referee import KEPT_REMARKS, Referee, judge
from harness.results.model import Verdict
from protocol import Answer, Puzzle, Solution
from tournament_data import load_set

TWO_SOLUTIONS = Puzzle.from_grid([[1, 0], [0, 1]])
EMPTY = Puzzle.from_grid([[0, 0], [0, 0]])


@pytest.mark.parametrize(
    ("puzzle", "cells", "verdict", "detail"),
    [
        (TWO_SOLUTIONS, [[1, 0], [0, 1]], Verdict.RIGHT, None),
        (TWO_SOLUTIONS, [[0, 1], [1, 0]], Verdict.RIGHT, None),
        (EMPTY, [[0, 0], [0, 0]], Verdict.RIGHT, None),
        (TWO_SOLUTIONS, [[0, 0], [0, 0]], Verdict.GIVEN_UP, "zeros"),
        (
            TWO_SOLUTIONS,
            [[1, 1], [0, 1]],
            Verdict.WRONG,
            "row 1: expected 1, found 2 (and 1 more line at fault)",
        ),
        (
            TWO_SOLUTIONS,
            [[1, 0], [1, 1]],
            Verdict.WRONG,
            "row 2: expected 1, found 2 (and 1 more line at fault)",
        ),
    ],
)
def test_the_verdict_on_a_grid(puzzle, cells, verdict, detail):
    assert judge(puzzle, Answer(1, 1, Solution(cells))) == (verdict, detail)


@pytest.mark.parametrize(
    ("answer", "verdict", "detail"),
    [
        (Answer(1, 1, word="unsolvable"), Verdict.GIVEN_UP, "unsolvable"),
        (Answer(1, 1, word=""), Verdict.GIVEN_UP, "nothing written"),
        (
            Answer(1, 1, problem="line 2: 1 numbers, expected 2"),
            Verdict.MALFORMED,
            "line 2: 1 numbers, expected 2",
        ),
    ],
)
def test_the_verdict_where_there_is_no_grid(answer, verdict, detail):
    assert judge(TWO_SOLUTIONS, answer) == (verdict, detail)


def test_remarks_are_counted_and_the_first_are_kept():
    referee = Referee(load_set("boardgen:2x2x2:seed=1"))
    for number in range(100, 200):
        assert referee.take(Answer(number, 1, word="")) is None
    assert referee.stray_count == 100
    assert len(referee.remarks) == KEPT_REMARKS
    assert [one.verdict for one in referee.score().puzzles] == [Verdict.MISSING] * 2
    assert referee.left() == [1, 2]
