"""The TAAI batch stream: every freedom that the reader gives, and the round trip."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.protocol import (
    DEFAULT_SIZE,
    Fault,
    Found,
    Puzzle,
    Record,
    Solution,
    TaaiReader,
    format_answer,
    format_puzzle,
    read_batch,
)

# Columns 2, 1 1, nothing; rows 1 1, 1, 1: three columns, three rows, an empty line among them.
PUZZLE = Puzzle.unchecked(columns=((2,), (1, 1), ()), rows=((2,), (1,), (1,)))
TEXT = b"$1\n2\n1\t1\n\n2\n1\n1\n"

GOOD_3 = Puzzle.unchecked(columns=((1,), (1,), ()), rows=((1,), (1,), ()))
GOOD = Puzzle.unchecked(columns=((1,), (1,)), rows=((1,), (1,)))


def read(text: bytes, size: tuple[int, int] | None = (3, 3)) -> list[Found]:
    return list(read_batch(io.BytesIO(text), size))


def facts(found: list[Found]) -> list[tuple[object, ...]]:
    """Return all that there is to know of puzzles; two records are equal wherever they stand."""
    return [
        (item.number, item.line, item.size, item.puzzle if isinstance(item, Record) else str(item))
        for item in found
    ]


def only_puzzle(text: bytes, size: tuple[int, int] | None = (3, 3)) -> Puzzle | None:
    (entry,) = read(text, size)
    assert isinstance(entry, Record)
    assert entry.number == 1
    return entry.puzzle


# The plain form


def test_columns_come_first_then_rows():
    assert facts(read(TEXT)) == [(1, 1, (3, 3), PUZZLE)]
    puzzle = Puzzle.from_grid([[1, 0, 1], [1, 1, 1]])
    assert facts(read(b"$1\n2\n1\n2\n1 1\n3\n", (3, 2))) == [(1, 1, (3, 2), puzzle)]


def test_nothing_gives_nothing():
    assert read(b"") == []
    assert read(b"\n \r\n\t\n") == []
    assert read(b"", None) == []


# What is accepted beside the plain form


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TEXT.replace(b"\t", b" "), id="spaces"),
        pytest.param(TEXT.replace(b"\t", b"  \t "), id="several spaces and tabs"),
        pytest.param(TEXT.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(b"\xef\xbb\xbf" + TEXT, id="BOM"),
        pytest.param(b"\xef\xbb\xbf" + TEXT.replace(b"\n", b"\r\n"), id="BOM and CRLF"),
        pytest.param(TEXT.replace(b"$1", b"$ 1"), id="space after $"),
        pytest.param(TEXT.replace(b"$1", b"$ \t 1 "), id="more space around the number"),
        pytest.param(TEXT.replace(b"$1", b"  $1"), id="space before $"),
        pytest.param(TEXT.replace(b"$1", b"$001"), id="leading zeros of the number"),
        pytest.param(TEXT.replace(b"\n\n", b"\n0\n"), id="0 as empty clue"),
        pytest.param(TEXT.replace(b"\n\n", b"\n 0\t\n"), id="0 with space around"),
        pytest.param(TEXT.replace(b"\n\n", b"\n \t\n"), id="empty clue of spaces"),
        pytest.param(TEXT.replace(b"2\n", b" 2 \t\n"), id="space around a clue"),
        pytest.param(TEXT.replace(b"2\n", b"02\n"), id="leading zero of a clue"),
        pytest.param(TEXT + b"\n", id="a blank line after the last"),
        pytest.param(TEXT + b"\n\r\n  \n\t\n", id="blank lines after the last"),
        pytest.param(TEXT[:-1], id="no final newline"),
        pytest.param(b"\n\n" + TEXT, id="blank lines before the first"),
    ],
)
def test_forms_that_mean_the_same(text):
    assert only_puzzle(text) == PUZZLE


@pytest.mark.parametrize("size", [(2, 2), None])
def test_a_missing_final_newline_also_where_the_last_clue_is_empty(size):
    puzzle = Puzzle.from_grid([[1, 0], [0, 0]])
    text = format_puzzle(1, puzzle)
    assert text == b"$1\n1\n\n1\n\n"
    assert only_puzzle(text, size) == puzzle
    assert only_puzzle(text[:-1], size) == puzzle


@pytest.mark.parametrize("at", range(6))
def test_an_empty_line_counts_wherever_it_stands(at):
    clues = [b"1"] * 6
    clues[at] = b""
    other = (at + 3) % 6  # the same number of black cells in columns and rows
    clues[other] = b""
    expected = tuple(() if i in (at, other) else (1,) for i in range(6))
    assert only_puzzle(b"$1\n" + b"\n".join(clues) + b"\n") == Puzzle.unchecked(expected[:3], expected[3:])


# As soon as the last clue line has arrived


@pytest.mark.parametrize("last", [b"1\n", b"1\r\n", b"1"])
def test_a_puzzle_is_handed_over_with_its_last_clue_line_and_not_later(last):
    reader = TaaiReader((3, 3))
    for line in TEXT.splitlines(keepends=True)[:-1]:
        assert reader.feed(line) == []
    assert facts(reader.feed(last)) == [(1, 1, (3, 3), PUZZLE)]
    assert reader.feed(b"\n") == []
    assert reader.feed(b"$2\n") == []
    assert reader.close() != []


def test_a_last_clue_line_that_is_empty_hands_over_too():
    reader = TaaiReader((2, 2))
    assert [reader.feed(line) for line in (b"$1\n", b"1\n", b"\n", b"1\n")] == [[], [], [], []]
    assert facts(reader.feed(b"\n")) == [(1, 1, (2, 2), Puzzle.from_grid([[1, 0], [0, 0]]))]


def test_a_puzzle_at_fault_is_handed_over_with_its_last_clue_line_too():
    reader = TaaiReader((2, 2))
    assert [reader.feed(line) for line in (b"$1\n", b"x\n", b"1\n", b"1\n")] == [[], [], [], []]
    (entry,) = reader.feed(b"1\n")
    assert str(entry) == "$1: line 2: clue 'x' is not a number"
    assert reader.close() == []


def test_read_batch_takes_no_line_before_it_is_asked_for_the_next_puzzle():
    taken = []

    def lines():
        for line in (format_puzzle(1, GOOD) + format_puzzle(2, GOOD)).splitlines(keepends=True):
            taken.append(line)
            yield line

    batch = read_batch(lines(), (2, 2))
    assert next(batch).number == 1
    assert len(taken) == 5
    assert next(batch).number == 2
    assert len(taken) == 10


# --size auto


def test_auto_infers_each_size_by_itself():
    boards = [Puzzle.unchecked(columns=((1,),) * size, rows=((1,),) * size) for size in (3, 1, 7, 2, 40)]
    text = b"".join(format_puzzle(k, board) for k, board in enumerate(boards, 1))
    assert [entry.puzzle for entry in read(text, None)] == boards


def test_auto_hands_over_at_the_next_dollar_or_the_end():
    reader = TaaiReader(None)
    for line in TEXT.splitlines():
        assert reader.feed(line) == []
    assert facts(reader.feed(b"$2")) == [(1, 1, (3, 3), PUZZLE)]
    for line in TEXT.splitlines()[1:]:
        assert reader.feed(line) == []
    assert facts(reader.close()) == [(2, 8, (3, 3), PUZZLE)]


@pytest.mark.parametrize("blank", range(1, 8))
def test_auto_leaves_blank_lines_after_the_last_clue_out(blank):
    assert only_puzzle(TEXT + b"\n" * blank, None) == PUZZLE


def test_auto_counts_empty_clue_lines_at_the_end_wherever_the_clues_fit():
    puzzle = Puzzle.from_grid([[1, 1, 0], [0, 0, 0], [0, 0, 0]])
    text = format_puzzle(1, puzzle)
    assert text == b"$1\n1\n1\n\n2\n\n\n"  # the first four lines fit a board of 2x2, too
    assert only_puzzle(text, None) == puzzle
    assert only_puzzle(text + b"\n", None) == puzzle


def test_auto_takes_a_line_that_is_black_from_end_to_end():
    puzzle = Puzzle.from_grid([[1, 1, 1], [0, 0, 0], [0, 0, 0]])
    assert only_puzzle(format_puzzle(1, puzzle), None) == puzzle


def test_auto_takes_blank_lines_alone_for_an_empty_board():
    assert only_puzzle(b"$1\n\n\n", None) == Puzzle.unchecked(((),), ((),))
    assert only_puzzle(b"$1\n\n\n\n\n\n", None) == Puzzle.unchecked(((),) * 2, ((),) * 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"$1\n1\n1\n1\n", "$1: line 1: 3 clue lines cannot make a square board"),
        (b"$1\n1\n2\n", "$1: line 3: the clue of row 1 needs 2 cells, the row has 1"),
        (b"$1\n", "$1: line 1: no clue lines; expected one for each column and each row"),
        (b"$1\n1\nx\n", "$1: line 3: clue 'x' is not a number"),
    ],
)
def test_auto_says_what_is_wrong(text, message):
    (entry,) = read(text, None)
    assert str(entry).startswith(message)
    first, second = read(text + format_puzzle(2, GOOD), None)
    assert (str(first), first.size) == (str(entry), entry.size)
    assert second.puzzle == GOOD


def test_auto_is_not_slowed_down_by_blank_lines():
    many = 200_000
    [entry] = read(b"$1\n" + b"1\n" * many + b"\n" * many, None)
    assert entry.size == (many // 2, many // 2)
    assert entry.puzzle == Puzzle.unchecked(((1,),) * (many // 2), ((1,),) * (many // 2))


# Whatever comes in

SIZES = st.one_of(st.none(), st.tuples(st.integers(1, 4), st.integers(1, 4)))
LINES = st.one_of(
    st.binary(max_size=12),
    st.sampled_from([b"", b"1", b"1\t1", b"0", b"$", b"$1", b"$2", b"x", b"-1", b"1 0", b"\xef\xbb\xbf$1", b"\r"]),
    st.integers(0, 10**9).map(lambda k: b"$%d" % k),
)
TEXTS = st.one_of(st.binary(max_size=300), st.lists(LINES, max_size=40).map(b"\n".join))


@given(TEXTS, SIZES)
def test_the_reader_never_raises_and_hands_over_in_order(text, size):
    last = 0
    for item in read(text, size):
        assert str(item)
        assert isinstance(item, Record | Fault)
        if isinstance(item, Record):
            assert item.line > last
            last = item.line
            assert item.size == (item.puzzle.width, item.puzzle.height)
            assert size in (None, item.size)
        else:
            assert str(item).isprintable()
            assert not item.is_in_place or item.size is not None
            if item.line is not None:
                assert item.line >= last
                last = item.line - 1  # the next puzzle may start on the line that ended this one


@given(st.lists(LINES, max_size=20), st.booleans())
def test_good_puzzles_around_any_junk_are_read_with_their_numbers(lines, header):
    junk = b"\n".join(line for line in lines if b"$" not in line) + b"\n"
    text = format_puzzle(7, GOOD_3) + (b"$8\n" if header else b"") + junk + format_puzzle(9, GOOD_3)
    entries = [item for item in read(text) if isinstance(item, Record) or item.is_in_place]
    assert facts(entries[:1]) == [(7, 1, (3, 3), GOOD_3)]
    assert (entries[-1].number, entries[-1].puzzle) == (9, GOOD_3)
    assert len(entries) == 2 + header
    assert not header or entries[1].number == 8


# Round trips


def puzzles_of(width: int, height: int) -> st.SearchStrategy[Puzzle]:
    row = st.lists(st.integers(0, 1), min_size=width, max_size=width)
    return st.lists(row, min_size=height, max_size=height).map(Puzzle.from_grid)


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[Puzzle], bytes]:
    """Puzzles of one size, and their batch with any mix of line ends and blank lines between."""
    boards = draw(st.lists(puzzles_of(draw(st.integers(1, 6)), draw(st.integers(1, 6))), min_size=1, max_size=4))
    text = b""
    for number, puzzle in enumerate(boards, 1):
        for line in format_puzzle(number, puzzle).split(b"\n")[:-1]:
            text += line + draw(st.sampled_from((b"\n", b"\r\n", b" \n", b"\t\r\n")))
        text += b"".join(draw(st.lists(st.sampled_from((b"\n", b"\r\n")), max_size=2)))
    return boards, text


@given(batches())
def test_what_is_written_is_read_back_with_any_mix_of_line_ends(batch):
    boards, text = batch
    entries = read(text, (boards[0].width, boards[0].height))
    assert [entry.puzzle for entry in entries] == boards
    assert [entry.number for entry in entries] == list(range(1, len(boards) + 1))


SQUARE = st.integers(1, 6).flatmap(lambda side: puzzles_of(side, side))


@given(st.lists(SQUARE, max_size=4), st.booleans())
def test_what_is_written_is_read_back_with_auto_also_with_a_blank_line_between(boards, blank):
    text = b"".join(format_puzzle(k, board) + b"\n" * blank for k, board in enumerate(boards, 1))
    assert [entry.puzzle for entry in read(text, None)] == boards


def test_the_official_form_byte_by_byte():
    assert format_puzzle(1, PUZZLE) == TEXT
    assert format_puzzle(1000, Puzzle.unchecked(((11, 2), ()), ((1,),))) == b"$1000\n11\t2\n\n1\n"
    assert format_answer(12, Solution([[1, 0, 1], [0, 0, 0]])) == b"$12\n1\t0\t1\n0\t0\t0\n"
    assert format_answer(1, Solution([[1]])) == b"$1\n1\n"


# The official sets


@pytest.mark.slow
def test_every_official_set_is_read_whole_and_written_again_as_it_was(official_sets):
    for file in official_sets:
        text = file.read_bytes()
        entries = read(text, DEFAULT_SIZE)
        assert [entry.number for entry in entries] == list(range(1, 1001)), file.name
        assert all(entry.puzzle for entry in entries), file.name
        written = b"".join(format_puzzle(entry.number, entry.puzzle) for entry in entries)
        assert written.split() == text.split(), file.name
        assert read(text, None) == entries, file.name
