"""Other forms of input than the batch, through the whole command."""

import os
from pathlib import Path

import pytest

from nonobot.bot.cli import FILE_FORMATS
from nonobot.protocol import PartialGrid, Puzzle, Record, Solution, format_answer, format_puzzle
from nonobot.protocol.formats import format_named, formats, write
from tests.helpers.talking import GOOD, GRID, NONE, TWO, answers, carried_out, run

pytestmark = pytest.mark.usefixtures("compiled")


def test_the_bot_knows_the_formats_by_name():
    assert sorted(["taai", *FILE_FORMATS]) == [known.name for known in formats()]


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_puzzles_of_every_format_are_answered_in_their_order(name):
    several = [GOOD, Puzzle.from_grid([[1, 1, 0], [1, 0, 0]])][: 2 if format_named(name).several else 1]
    text = write([Record(puzzle) for puzzle in several], name).data
    for form in (name, "auto"):
        done = carried_out(text, "--format", form)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == answers(*[GRID, [[1, 1, 0], [1, 0, 0]]][: len(several)])


def test_a_batch_is_recognised_and_answered_puzzle_by_puzzle(talk):
    bot = talk("--format", "auto", "--size", "2x2")
    for number in (1, 2):
        bot.send(b"\n\xef\xbb\xbf"[: 1 if number == 1 else 0] + format_puzzle(number, GOOD))
        answer = format_answer(number, Solution(GRID))
        assert bot.receive(len(answer)) == answer
    assert bot.end() == (0, b"", b"")


def test_the_search_starts_from_the_start_board_in_the_file():
    for corner, solution in ((1, [[1, 0], [0, 1]]), (0, [[0, 1], [1, 0]])):
        text = write([Record(TWO, start=PartialGrid([[corner, -1], [-1, -1]]))], "grid").data
        done = carried_out(text, "--format", "auto", "--solutions", "2")
        assert (done.stdout, done.stderr) == (answers(solution), b"$1: unique\n")


@pytest.mark.parametrize(
    ("puzzle", "why"),
    [
        (TWO, b"the given cells contradict the clues: without them the puzzle has a solution"),
        (NONE, b"the puzzle has no solution, with or without its given cells"),
    ],
)
def test_a_board_to_start_from_that_contradicts_is_named(puzzle, why):
    text = write([Record(puzzle, start=PartialGrid([[1, 1], [-1, -1]]))], "grid").data
    done = carried_out(text, "--format", "grid")
    assert (done.stderr, done.stdout) == (b"$1: line 1: " + why + b"\n", answers([[0, 0], [0, 0]]))
    assert done.returncode == 1


def test_files_are_answered_in_their_order_and_their_puzzles_numbered_on(tmp_path):
    pair, batch_of_one, broken = tmp_path / "pair.non", tmp_path / "one.txt", tmp_path / "broken.non"
    pair.write_bytes(write([Record(GOOD), Record(GOOD)], "non").data)
    batch_of_one.write_bytes(format_puzzle(5, GOOD))
    broken.write_text("width 1\nheight 1\nrows\n2\ncolumns\n1\n")
    done = run(format_puzzle(1, GOOD), str(pair), str(batch_of_one), "-", str(broken), str(tmp_path / "none"))
    right, assumed = Solution(GRID), "the file states no size; assuming 2x2 from the number of clue lines"
    expected = b"".join(format_answer(number, right) for number in (1, 2, 7, 8))
    assert done.stdout[: done.stdout.index(b"$9\n")] == expected
    assert done.stderr.decode().splitlines() == [
        f"warning: {batch_of_one}: $7: line 1: {assumed}",
        f"warning: standard input: $8: line 1: {assumed}",
        f"{broken}: $9: line 4: the clue of row 1 needs 2 cells, the row has 1",
        f"{tmp_path / 'none'}: cannot read the file: No such file or directory",
    ]
    assert done.returncode == 2


def test_an_undecodable_file_name_is_escaped_and_other_files_are_solved(tmp_path):
    odd, none = (Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)) for name in (b"\xff\x1b[2J\n", b"\xfe"))
    odd.write_bytes(write([Record(TWO)], "nin").data)
    (tmp_path / "b.nin").write_bytes(write([Record(GOOD)], "nin").data)
    done = run(b"", str(none), str(odd), str(tmp_path / "b.nin"), "--solutions", "2")
    assert done.stdout.endswith(format_answer(2, Solution(GRID)))
    assert done.stderr.decode().splitlines() == [
        rf"{tmp_path}/\xfe: cannot read the file: No such file or directory",
        rf"{tmp_path}/\xff\x1b[2J\n: $1: multiple: 2 solutions, or more",
        f"{tmp_path}/b.nin: $2: unique",
    ]
    refused = run(b"", "--log", f"{none}/log", str(odd)).stderr.decode()
    assert refused == rf"nonobot: cannot write {tmp_path}/\xfe/log: No such file or directory" + "\n"
    assert run(b"", f"--{none.name}").stderr.decode().isascii()


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_a_file_in_no_known_format_is_reported_and_others_are_solved(tmp_path, jobs):
    (tmp_path / "a.md").write_text("# A title\n\nWords.\n")
    (tmp_path / "b.non").write_bytes(write([Record(GOOD)], "non").data)
    done = run(b"", str(tmp_path / "a.md"), str(tmp_path / "b.non"), str(tmp_path), "--jobs", jobs)
    assert done.stdout == format_answer(1, Solution(GRID))
    first, second = done.stderr.decode().splitlines()
    assert first.startswith(f"{tmp_path / 'a.md'}: ")
    assert second == f"{tmp_path}: cannot read the file: Is a directory"
    assert done.returncode == 2


def test_a_question_file_has_its_own_size_or_that_of_the_size_option(tmp_path):
    (tmp_path / "wide.txt").write_bytes(format_puzzle(1, Puzzle.from_grid([[1, 1, 0]])))
    done = carried_out(b"", str(tmp_path / "wide.txt"), "--size", "3x1")
    assert (done.stdout, done.stderr, done.returncode) == (b"$1\n1\t1\t0\n", b"", 0)
