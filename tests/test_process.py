"""The process `nonobot`: a batch on stdin, answers on stdout, words on stderr.

One test or more of a kind run it as its users run it, the others carry out the same command in this process.
"""

from __future__ import annotations

import random
import subprocess

import pytest

from nonobot.bot.champion import ChampionStrategy
from nonobot.protocol import Puzzle, Solution, format_answer, format_puzzle, read_answers
from tests import naive
from tests.boards import random_grid
from tests.talking import (
    COMMAND,
    GOOD,
    GRID,
    NONE,
    PATIENCE_SECONDS,
    STRATEGIES,
    TWO,
    answers,
    batch,
    carried_out,
    run,
)
from tests.test_batch_faults import FAULTS, placed

pytestmark = pytest.mark.usefixtures("compiled")


# A batch


def test_a_batch_is_answered_byte_by_byte_in_the_official_form_and_nothing_else_is_said():
    numbers = (1, 7, 3)
    done = run(b"".join(format_puzzle(number, GOOD) for number in numbers), "--size", "2x2")
    assert done.stdout == b"".join(format_answer(number, Solution(GRID)) for number in numbers)
    assert (done.stderr, done.returncode) == (b"", 0)


@pytest.mark.parametrize(
    ("width", "height"), [(25, 25), (5, 5), (3, 7), (7, 3), (1, 1), (62, 2), (1000, 1), (1, 1000), (100, 70)]
)
def test_boards_of_any_size(width, height):
    rng = random.Random(width)
    boards = [Puzzle.from_grid(random_grid(rng, width, height, density)) for density in (0.0, 0.7, 0.8, 1.0)]
    size = () if width == height == 25 else ("--size", f"{width}x{height}")
    done = carried_out(batch(*boards), *size)
    said = [line for line in done.stderr.splitlines() if b"compil" not in line]  # kernels for longer lines
    assert (done.returncode, said) == (0, [])
    answered = list(read_answers(done.stdout.splitlines(keepends=True), width, height))
    assert [answer.number for answer in answered] == [1, 2, 3, 4]
    for board, answer in zip(boards, answered, strict=True):
        assert naive.verify(board, answer.solution.cells.tolist())


@pytest.mark.nightly
def test_what_a_board_makes_compile_is_not_its_time(tmp_path, monkeypatch):
    monkeypatch.setenv("NONOBOT_CACHE_DIR", str(tmp_path))
    wide = Puzzle.from_grid([[1, 0, *[0] * 68], [0, 1, *[0] * 68]])  # line logic leaves it open
    done = run(batch(wide), "--size", "70x2", "--puzzle-limit", "1")
    [answer] = [one.solution for one in read_answers(done.stdout.splitlines(keepends=True), 70, 2)]
    assert naive.verify(wide, answer.cells.tolist())
    assert b"compiling the search for boards of up to 126 cells a side (once" in done.stderr


def test_size_auto_answers_square_boards_of_different_sizes_in_one_batch():
    rng = random.Random(3)
    boards = [Puzzle.from_grid(random_grid(rng, size, size, 0.7)) for size in (4, 1, 9, 25)]
    done = carried_out(batch(*boards), "--size", "auto")
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.splitlines()
    for number, board in enumerate(boards, 1):
        assert lines.pop(0) == b"$%d" % number
        rows = [[int(word) for word in lines.pop(0).split(b"\t")] for _ in range(board.height)]
        assert naive.verify(board, rows)
    assert lines == []


# Puzzles that cannot be read or have no solution

ZEROS_3 = b"0\t0\t0\n" * 3
GRID_3 = [[1, 1, 1], [0, 0, 1], [1, 0, 1]]
GOOD_3 = Puzzle.from_grid(GRID_3)


def faulty_batch() -> tuple[bytes, bytes, list[str]]:
    """Return every malformed puzzle between good ones: the batch, the answers, how the messages begin."""
    text, expected, messages = format_puzzle(1, GOOD_3), format_answer(1, Solution(GRID_3)), []
    for at, (lines, _, message) in enumerate(FAULTS):
        number, header = 2 * at + 2, text.count(b"\n") + 1
        text += b"$%d\n" % number + lines + format_puzzle(number + 1, GOOD_3)
        expected += b"$%d\n" % number + ZEROS_3 + format_answer(number + 1, Solution(GRID_3))
        messages.append(f"${number}: {placed(message, header, lines)}")
    return text, expected, messages


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_every_malformed_puzzle_gets_one_line_and_all_others_are_answered(jobs):
    text, expected, messages = faulty_batch()
    done = run(text, "--size", "3x3", "--jobs", jobs)
    lines = done.stderr.decode().splitlines()
    assert [line[: len(message)] for line, message in zip(lines, messages, strict=True)] == messages
    assert done.stdout == expected
    assert done.returncode == 1


def test_extra_lines_are_said_and_the_puzzle_is_answered():
    done = carried_out(batch(GOOD) + b"1\n2\n" + batch(GOOD, GOOD)[len(batch(GOOD)) :], "--size", "2x2")
    assert done.stdout == answers(GRID, GRID)
    assert done.stderr.decode() == (
        "$1: line 6: '1' comes after the 4 clue lines of a 2x2 board and is ignored; check --size\n"
    )
    assert done.returncode == 1


def test_a_board_that_is_too_large_for_auto_costs_no_other():
    text = batch(GOOD, Puzzle.unchecked(((),) * 1023, ((),) * 1023), GOOD)
    done = carried_out(text, "--size", "auto", "--on-unsolved", "word")
    assert done.stdout == answers(GRID, b"invalid\n", GRID)
    assert done.stderr == b"$2: line 6: a 1023x1023 board is too large; the limit is 1022 rows or columns\n"
    assert done.returncode == 1


@pytest.mark.parametrize("lines", [200_000, 200_001])
def test_clue_lines_without_end_cost_no_other_puzzle(lines):
    text = b"$1\n" + b"1\n" * lines + format_puzzle(2, GOOD)
    command = subprocess.list2cmdline([*COMMAND, "--size", "auto"])
    done = subprocess.run(  # a grid of zeros of that size would take 10 GB
        ["sh", "-c", f"ulimit -v 8000000; exec {command}"],
        input=text,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.stderr.startswith(b"$1: line 1: ")
    assert done.stderr.count(b"\n") == 1
    assert done.stdout.startswith(b"$1\n")
    assert done.stdout.endswith(format_answer(2, Solution(GRID)))
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("choice", "invalid", "unsolvable"),
    [
        ("zeros", [[0, 0], [0, 0]], [[0, 0], [0, 0]]),
        ("omit", b"", b""),
        ("word", b"invalid\n", b"unsolvable\n"),
    ],
)
def test_on_unsolved_chooses_what_stands_for_an_invalid_and_an_unsolvable_puzzle(choice, invalid, unsolvable):
    text = batch(GOOD, b"x\n1\n1\n1\n", GOOD, NONE, GOOD)
    done = carried_out(text, "--size", "2x2", "--on-unsolved", choice)
    assert done.stdout == answers(GRID, invalid, GRID, unsolvable, GRID)
    assert done.stderr == b"$2: line 7: clue 'x' is not a number\n$4: line 16: the puzzle has no solution\n"
    assert done.returncode == 1


# Interactive


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_each_answer_comes_before_the_next_puzzle_is_sent(talk, jobs):
    one = talk("--size", "2x2", "--jobs", jobs)
    for number, grid in enumerate((GRID, [[1, 0], [0, 0]], [[0, 0], [0, 0]], GRID), 1):
        one.send(format_puzzle(number, Puzzle.from_grid(grid)))
        expected = format_answer(number, Solution(grid))
        assert one.receive(len(expected)) == expected
    assert one.end() == (0, b"", b"")


def test_a_puzzle_that_comes_in_pieces_and_one_at_fault_are_answered_at_once(talk):
    one = talk("--size", "2x2")
    pieces = [bytes([byte]) for byte in format_puzzle(1, GOOD)]
    for number, parts, grid in ((1, pieces, GRID), (2, [b"$2\n1\nx\n1\n1\n"], [[0, 0], [0, 0]])):
        for part in parts:
            one.send(part)
        expected = format_answer(number, Solution(grid))
        assert one.receive(len(expected)) == expected
    assert one.end() == (1, b"", b"$2: line 8: clue 'x' is not a number\n")


@pytest.mark.parametrize(("puzzle_limit", "time_limit"), [("5", "900"), ("900", "5")])
def test_a_puzzle_gets_the_shorter_of_two_limits(monkeypatch, puzzle_limit, time_limit):
    given = []
    solve = ChampionStrategy.solve
    monkeypatch.setattr(ChampionStrategy, "solve", lambda *a, **k: given.append(k["seconds"]) or solve(*a, **k))
    carried_out(batch(GOOD), "--size", "2x2", "--puzzle-limit", puzzle_limit, "--time-limit", time_limit)
    assert 0 < given[0] <= 5


# Several solutions


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_solutions_2_tells_unique_from_multiple(strategy):
    done = carried_out(batch(GOOD, TWO, NONE), "--size", "2x2", "--solutions", "2", "--strategy", strategy)
    first, second = format_answer(2, Solution([[1, 0], [0, 1]])), format_answer(2, Solution([[0, 1], [1, 0]]))
    none = format_answer(3, Solution([[0, 0], [0, 0]]))
    one = format_answer(1, Solution(GRID))
    assert done.stdout in (one + first + second + none, one + second + first + none)
    said = done.stderr.decode().splitlines()
    assert said[0] == "$1: unique"
    assert said[1].startswith("$2: multiple: 2 solutions")
    assert "$3: line 11: the puzzle has no solution" in said
    assert done.returncode == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_more_solutions_than_there_are_gives_all_of_them(strategy):
    permutations = Puzzle.from_grid([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    done = carried_out(batch(permutations), "--size", "3x3", "--solutions", "100", "--strategy", strategy)
    solutions = [answer.solution for answer in read_answers(done.stdout.splitlines(keepends=True), 3, 3)]
    assert len(solutions) == len(set(solutions)) == 6
    assert all(naive.verify(permutations, solution.cells.tolist()) for solution in solutions)
    assert done.stderr == b"$1: multiple: 6 solutions, no others\n"
    assert done.returncode == 0
