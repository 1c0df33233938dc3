"""Verdicts on answers."""

import numpy as np
import pytest

from nonobot.harness.results.referee import KEPT_NOTES, Referee, judge
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
def test_each_answer_gets_its_verdict_and_detail(puzzle, answer, verdict, detail):
    if not isinstance(answer, Answer):
        answer = Answer(1, 1, Solution(answer))
    assert judge(puzzle, answer) == (verdict, detail)


SET = load_set("boardgen:5x5x4:seed=1")
SOLUTIONS = [solution for _, solution in Recipe.parse(SET.name).boards()]
FIRST, SECOND, THIRD, FOURTH = (Answer(number, 1, solution) for number, solution in enumerate(SOLUTIONS, 1))


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
def test_answers_out_of_order_get_that_verdict_unless_any_order_is_allowed(came, any_order, expected, left):
    referee = Referee(SET, any_order)
    for answer in came:
        referee.take(answer)
    assert [puzzle.verdict.value for puzzle in referee.score().puzzles] == expected
    assert referee.left() == left
    assert referee.answers_due == bool(left)


def test_a_solution_after_the_puzzle_limit_is_late():
    referee = Referee(SET, puzzle_limit_seconds=2.0)
    assert referee.take(FIRST, 2.0, 2.0).verdict is Verdict.RIGHT
    late = referee.take(SECOND, 4.5, 2.5)
    assert (late.verdict, late.detail) == (Verdict.LATE, "a solution, after 2.50 s of 2 s")
    assert (late.arrived_seconds, late.took_seconds) == (4.5, 2.5)
    assert referee.take(Answer(3, 1, word="timeout"), 9.0, 4.5).verdict is Verdict.GIVEN_UP
    assert referee.take(FOURTH, 9.5, None).verdict is Verdict.RIGHT  # answered before it was sent


def test_the_first_answer_counts_and_its_cells_are_stored():
    referee = Referee(load_set("boardgen:3x3x2:seed=1"))
    wrong = referee.take(Answer(1, 1, Solution([[1, 0, 0], [0, 0, 0], [1, 1, 1]])))
    assert wrong.cells_hex == "8380"  # 1000 0011 1, then zeros
    assert referee.take(Answer(2, 1, word="timeout")).cells_hex is None
    referee = Referee(SET)
    assert referee.take(Answer(1, 1, word="timeout"))
    assert referee.take(FIRST) is None
    stray = "line 7: 'x' does not belong to an answer; write other text to stderr"
    assert referee.take(Answer(None, 7, problem=stray)) is None
    score = referee.score()
    assert (score.duplicate_count, score.stray_count) == (1, 1)
    assert score.notes == [
        "line 1: $1 was answered before; the first answer counts",
        "line 7: 'x' does not belong to an answer; write other text to stderr",
    ]
    referee = Referee(load_set("boardgen:2x2x2:seed=1"))
    for number in range(100, 200):
        assert referee.take(Answer(number, 1, word="")) is None
    assert referee.stray_count == 100
    assert len(referee.notes) == KEPT_NOTES


def taken(boards, count):
    """Return the mistake in answers to the first puzzles of a set of `count`."""
    referee = Referee(load_set(f"boardgen:9x7x{count}:seed=4"))
    for number, board in enumerate(boards, 1):
        referee.take(board if isinstance(board, Answer) else Answer(number, 1, Solution(board)))
    return referee.score().mistake or None


def test_the_mistake_is_the_one_shared_by_most_of_the_first_wrong_answers():
    boards = [board.cells for _, board in Recipe.parse("boardgen:9x7x30:seed=4").boards()]
    other = [[1] * 9] * 7
    inverted, mirrored = [1 - board for board in boards], [board[:, ::-1] for board in boards]
    exchanged = "would be right with 0 and 1 exchanged: 1 is black"
    assert taken(boards, 30) is None
    assert taken([*boards[:5], inverted[5]], 30) == f"the wrong answer {exchanged}"
    assert taken([*inverted[:8], *[other] * 3], 30) == f"8 of 11 wrong answers {exchanged}"
    assert taken(inverted, 30) == f"all the first 20 wrong answers {exchanged}"
    assert taken([*[other] * 2, *inverted[2:]], 30) == f"18 of the first 20 wrong answers {exchanged}"
    turned = {"if mirrored top to bottom: the first row is the top one": [board[::-1] for board in boards]}
    corner = "the first row is the top one, and its first number the left cell"
    turned |= {f"if rotated by 180 degrees: {corner}": [board[::-1, ::-1] for board in boards]}
    repeat = "repeat the number that followed the question's '$'"
    turned |= {f"for the puzzle before it: the answers are off by one; {repeat}": [*boards[:1], *boards]}
    for change, answers in turned.items():
        assert taken(answers[:10], 30).endswith(f" wrong answers would be right {change}")
    assert taken([*inverted[:2], *mirrored[2:4], *[other] * 2], 30) is None
    assert taken([*[other] * 20, *inverted[20:]], 30) is None
    both = (
        "if mirrored left to right, with 0 and 1 exchanged: the first number of a row is its left cell, and 1 is"
    )
    assert taken([1 - board for board in mirrored[:3]], 30) == f"all 3 wrong answers would be right {both} black"


def test_rotated_and_mirrored_square_boards_are_recognised():
    recipe = Recipe.parse("boardgen:9x9x5:seed=4")
    right = "all 5 wrong answers would be right if"
    for remedy, turned in {
        "rotated by 90 degrees clockwise": lambda board: np.rot90(board, 1),
        "rotated by 90 degrees counterclockwise": lambda board: np.rot90(board, -1),
        "mirrored along the diagonal from bottom left to top right": lambda board: np.rot90(board, 2).T,
    }.items():
        referee = Referee(load_set(str(recipe)))
        for number, (_, board) in enumerate(recipe.boards(), 1):
            referee.take(Answer(number, 1, Solution(turned(board.cells))))
        assert referee.score().mistake.startswith(f"{right} {remedy}: the first row is")


def test_answers_of_another_shape_differ_from_a_truncated_answer():
    wide = [Answer(number, 1, problem=f"line {2 * number}: 7 numbers, expected 9") for number in (1, 2)]
    assert taken(wide, 3) == (
        "all 2 malformed answers have rows of 7 numbers, as many as a column has cells: a question lists the "
        "columns first, an answer the rows"
    )
    one_line = [Answer(number, 1, problem="line 2: 63 numbers, expected 9") for number in (1, 2)]
    assert taken(one_line, 3) == (
        "all 2 malformed answers have all 63 cells on one line: end the line after each row of 9 numbers"
    )
    short = [Answer(number, 1, problem=f"line {9 * number}: 5 rows, expected 7") for number in (1, 2)]
    size = "check the bot's board size; these boards are 9x7"
    assert taken(short, 3) == f"all 2 malformed answers have 5 rows: {size}"
    assert taken(short[:1], 3) is None


def test_a_board_with_a_number_outside_the_set_is_matched_to_its_puzzle():
    referee = Referee(SET)
    referee.take(Answer(0, 1, SOLUTIONS[0]))
    referee.take(Answer(7, 7, SOLUTIONS[0]))
    assert referee.notes == [
        "line 1: $0 is not in the set, and its board is right for $1: the answers are off by one",
        "line 7: $7 is not in the set",
    ]
