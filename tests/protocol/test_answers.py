"""Reading back what a bot wrote: whole answers, given up ones, and everything that is no answer."""

import codecs
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.protocol import Answer, Solution, format_answer, read_answers
from tests.helpers.boards import grids

GRID = Solution([[1, 0, 1], [0, 0, 0]])
TEXT = b"$1\n1\t0\t1\n0\t0\t0\n"


def read(text: bytes, width: int = 3, height: int = 2) -> list[Answer]:
    return list(read_answers(io.BytesIO(text), width, height))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TEXT.replace(b"\t", b" "), id="spaces"),
        pytest.param(TEXT.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(TEXT.replace(b"\n", b" \t\n"), id="space at the end of lines"),
        pytest.param(TEXT.replace(b"$", b"$ "), id="space after $"),
        pytest.param(TEXT[:-1], id="no final newline"),
        pytest.param(TEXT + b"\n\r\n\n", id="blank lines after the answer"),
    ],
)
def test_equivalent_forms_of_an_answer_are_read_the_same(text):
    assert read(text) == [Answer(1, 1, GRID)]


def test_answers_have_numbers_and_lines_and_stray_text_is_reported():
    text = format_answer(3, GRID) + b"\n" + format_answer(1, GRID) + format_answer(3, GRID)
    assert [(answer.number, answer.line) for answer in read(text)] == [(3, 1), (1, 5), (3, 8)]
    assert read(b"$1\n1 0 1\n") == [Answer(1, 1, problem="line 2: 1 row, expected 2")]
    text = b"hello\n" + TEXT + b"1\t1\t1\n"
    stray = "does not belong to an answer"
    two_rows = "an answer has 2 rows, and begins with '$' and its number"
    assert read(text) == [
        Answer(None, 1, problem=f"line 1: 'hello' {stray}; write other text to stderr"),
        Answer(1, 2, GRID),
        Answer(None, 5, problem=f"line 5: '1\\t1\\t1' is a further row; {two_rows}"),
    ]


@pytest.mark.parametrize("word", ["unsolvable", "timeout", "invalid", ""])
def test_one_word_or_nothing_instead_of_a_grid_gives_the_puzzle_up(word):
    text = b"$1\n" + word.encode() + b"\n" * bool(word)
    lines = text.count(b"\n")
    assert read(text + format_answer(2, GRID)) == [Answer(1, 1, word=word), Answer(2, lines + 1, GRID)]
    assert read(text) == [Answer(1, 1, word=word)]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (b"1 0\n0 0 0\n", "line 5: 2 numbers, expected 3"),
        (b"1 0 1 1\n0 0 0\n", "line 5: 4 numbers, expected 3"),
        (b"1 0 2\n0 0 0\n", "line 5: '2' is neither 0 nor 1"),
        (b"1 0 x\n0 0 0\n", "line 5: 'x' is neither 0 nor 1"),
        (b"1 0 -1\n0 0 0\n", "line 5: '-1' is neither 0 nor 1"),
        (b"1 0 1\n0 0 01\n", "line 6: '01' is neither 0 nor 1"),
        (b"1 0 1\n", "line 6: 1 row, expected 2"),
        (b"1 0 1\n\n0 0 0\n", "line 6: 0 numbers, expected 3"),
        (b"1 0 1\ntimeout\n", "line 6: 'timeout' is not a row of 3 numbers"),
        (b"Timeout\n", "line 5: 'Timeout' is not a row of 3 numbers"),
        (b"solved in 3 ms\n1 0 1\n", "line 5: 'solved in 3 ms' is not a row of 3 numbers"),
        (b"101\n000\n", "line 5: 1 number, expected 3"),
        ("\u0661 0 1\n0 0 0\n".encode(), "line 5: '\u0661' is neither 0 nor 1"),
        (b"\0 0 1\n0 0 0\n", "line 5: '\\x00' is neither 0 nor 1"),
    ],
)
def test_a_malformed_grid_is_reported_and_other_answers_are_read(rows, problem):
    answers = read(format_answer(1, GRID) + b"$2\n" + rows + format_answer(3, GRID))
    assert answers[0] == Answer(1, 1, GRID)
    assert answers[1] == Answer(2, 4, problem=problem)
    assert answers[2:] == [Answer(3, 5 + rows.count(b"\n"), GRID)]  # the rest of $2 is not listed
    assert all(answer.number is None for answer in answers[2:-1])


@pytest.mark.parametrize("header", [b"$", b"$x", b"$-1", b"$1.0", b"$" + b"1" * 5000])
def test_a_header_without_a_number_is_a_problem_and_the_next_answer_is_read(header):
    first, *_, last = read(header + TEXT[2:] + format_answer(2, GRID))
    assert (first.number, first.line) == (None, 1)
    assert "does not start an answer; expected '$' and a number" in first.problem
    assert (last.number, last.solution) == (2, GRID)


@given(st.binary(max_size=300), st.integers(1, 4), st.integers(1, 4))
def test_the_answer_reader_raises_on_no_input(text, width, height):
    for answer in read(text, width, height):
        said = [answer.solution is not None, answer.word is not None, answer.problem is not None]
        assert sum(said) == 1
        assert answer.problem is None or answer.problem.isprintable()


@given(st.lists(st.sampled_from([b"$1", b"$2", b"$", b"1", b"0 1", b"1\t1", b"x", b"", b"invalid"]), max_size=30))
def test_an_answer_after_junk_is_read(lines):
    answers = read(b"\n".join(lines) + b"\n" + format_answer(9, Solution([[1, 0], [0, 1]])), 2, 2)
    assert (answers[-1].number, answers[-1].solution) == (9, Solution([[1, 0], [0, 1]]))


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=4), grids(), st.sampled_from((b"\n", b"\r\n")))
def test_written_answers_are_read_back(numbers, grid, end):
    text = b"".join(format_answer(number, Solution(grid)) for number in numbers).replace(b"\n", end)
    answers = read(text, len(grid[0]), len(grid))
    assert [(answer.number, answer.solution) for answer in answers] == [(k, Solution(grid)) for k in numbers]


def test_a_byte_order_mark_is_skipped_and_utf_16_is_reported():
    assert read(codecs.BOM_UTF8 + TEXT) == [Answer(1, 1, GRID)]
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        said = read(mark + TEXT.decode().encode(encoding))
        assert said == [Answer(None, 1, problem="line 1: UTF-16 text; write the answers as UTF-8")]
