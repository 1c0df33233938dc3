"""The TAAI batch stream: every freedom that the reader gives, the round trip, and faults."""

import io

import pytest
from hypothesis import example, given
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
from nonobot.protocol.batch import MOST_LINE_BYTES
from nonobot.protocol.clues import FaultKind

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


def test_empty_input_contains_no_puzzle():
    assert read(b"") == []
    assert read(b"\n \r\n\t\n") == []
    assert read(b"", None) == []


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
def test_equivalent_forms_of_a_puzzle_are_read_the_same(text):
    assert only_puzzle(text) == PUZZLE


@pytest.mark.parametrize("size", [(2, 2), None])
def test_a_missing_final_newline_is_accepted_even_after_an_empty_clue(size):
    puzzle = Puzzle.from_grid([[1, 0], [0, 0]])
    text = format_puzzle(1, puzzle)
    assert text == b"$1\n1\n\n1\n\n"
    assert only_puzzle(text, size) == puzzle
    assert only_puzzle(text[:-1], size) == puzzle


@pytest.mark.parametrize("last", [b"1\n", b"1\r\n", b"1"])
def test_a_puzzle_is_returned_as_soon_as_its_last_clue_line_is_read(last):
    reader = TaaiReader((3, 3))
    for line in TEXT.splitlines(keepends=True)[:-1]:
        assert reader.feed(line) == []
    assert facts(reader.feed(last)) == [(1, 1, (3, 3), PUZZLE)]
    assert reader.feed(b"\n") == []
    assert reader.feed(b"$2\n") == []
    assert reader.close() != []


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


def test_size_auto_returns_a_puzzle_at_the_next_dollar_sign_or_the_end():
    reader = TaaiReader(None)
    for line in TEXT.splitlines():
        assert reader.feed(line) == []
    assert facts(reader.feed(b"$2")) == [(1, 1, (3, 3), PUZZLE)]
    for line in TEXT.splitlines()[1:]:
        assert reader.feed(line) == []
    assert facts(reader.close()) == [(2, 8, (3, 3), PUZZLE)]
    many = 200_000
    [entry] = read(b"$1\n" + b"1\n" * many + b"\n" * many, None)
    assert entry.size == (many // 2, many // 2)
    assert entry.puzzle == Puzzle.unchecked(((1,),) * (many // 2), ((1,),) * (many // 2))


def test_size_auto_reads_blank_lines_as_empty_clues_where_needed():
    assert {only_puzzle(TEXT + b"\n" * blank, None) for blank in range(1, 8)} == {PUZZLE}
    assert only_puzzle(b"$1\n\n\n", None) == Puzzle.unchecked(((),), ((),))
    assert only_puzzle(b"$1\n\n\n\n\n\n", None) == Puzzle.unchecked(((),) * 2, ((),) * 2)
    puzzle = Puzzle.from_grid([[1, 1, 0], [0, 0, 0], [0, 0, 0]])
    text = format_puzzle(1, puzzle)
    assert text == b"$1\n1\n1\n\n2\n\n\n"  # the first four lines fit a board of 2x2, too
    assert only_puzzle(text, None) == puzzle
    assert only_puzzle(text + b"\n", None) == puzzle


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
def test_written_puzzles_are_read_back_with_any_mix_of_line_ends(batch):
    boards, text = batch
    entries = read(text, (boards[0].width, boards[0].height))
    assert [entry.puzzle for entry in entries] == boards
    assert [entry.number for entry in entries] == list(range(1, len(boards) + 1))


SQUARE = st.integers(1, 6).flatmap(lambda side: puzzles_of(side, side))


@given(st.lists(SQUARE, max_size=4), st.booleans())
@example([Puzzle.from_grid([[0, 0, 0], [0, 0, 0], [1, 0, 1]])], True)  # the blank line would fit a larger board
def test_written_puzzles_are_read_back_with_size_auto_and_blank_lines_between(boards, blank):
    text = b"".join(format_puzzle(k, board) + b"\n" * blank for k, board in enumerate(boards, 1))
    assert [entry.puzzle for entry in read(text, None)] == boards


def test_puzzles_are_written_in_the_official_form_byte_by_byte():
    assert format_puzzle(1, PUZZLE) == TEXT
    assert format_puzzle(1000, Puzzle.unchecked(((11, 2), ()), ((1,),))) == b"$1000\n11\t2\n\n1\n"
    assert format_answer(12, Solution([[1, 0, 1], [0, 0, 0]])) == b"$12\n1\t0\t1\n0\t0\t0\n"
    assert format_answer(1, Solution([[1]])) == b"$1\n1\n"


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


# Faults: each is named with its place, and costs no other puzzle


NOT_TEXT = "line 8: bytes that are not text; expected block lengths separated by TAB"
BESIDE_ZERO = "line 8: a 0 among other block lengths; only a 0 alone is an empty clue"
DIFFER = "line 6: the columns count 4 black cells, the rows 5; both must be the same"
MISSING = "line {next}: expected 6 clue lines for a 3x3 board, found "

FAULTS = [
    (b"2\n1 1\n\nx\n1\n1\n", "NOT_A_NUMBER", "line 10: clue 'x' is not a number"),
    (b"2\n1 two\n\n2\n1\n1\n", "NOT_A_NUMBER", "line 8: clue 'two' is not a number"),
    (b"2x\n1 1\n\n2\n1\n1\n", "NOT_A_NUMBER", "line 7: clue '2x' is not a number"),
    (b"2\n1.5\n\n2\n1\n1\n", "NOT_A_NUMBER", "line 8: clue '1.5' is not a number"),
    (b"2\n1_0\n\n2\n1\n1\n", "NOT_A_NUMBER", "line 8: clue '1_0' is not a number"),
    (b"2\n1,1\n\n2\n1\n1\n", "NOT_A_NUMBER", "line 8: clue '1,1' is not a number"),
    (b"2\n-\n\n2\n1\n1\n", "NOT_A_NUMBER", "line 8: clue '-' is not a number"),
    (b"2\n+-1\n\n2\n1\n1\n", "NOT_A_NUMBER", "line 8: clue '+-1' is not a number"),
    ("2\n\u0661 1\n\n2\n1\n1\n".encode(), "NOT_A_NUMBER", "line 8: clue '\u0661' is not a number"),
    ("2\n1\u00b2\n\n2\n1\n1\n".encode(), "NOT_A_NUMBER", "line 8: clue '1\u00b2' is not a number"),
    (b"2\n-1\n\n2\n1\n1\n", "NEGATIVE_NUMBER", "line 8: clue '-1' is negative; block lengths are 1 or more"),
    (b"2\n1 0 1\n\n2\n1\n1\n", "ZERO_BLOCK", BESIDE_ZERO),
    (b"2\n0 0\n\n2\n1\n1\n", "ZERO_BLOCK", BESIDE_ZERO),
    (b"1234567\n1 1\n\n2\n1\n1\n", "TOO_LARGE_NUMBER", "line 7: clue '1234567' is longer than any board"),
    (b"2\n%b\n\n2\n1\n1\n" % (b"9" * 5000), "LINE_TOO_LONG", "line 8: a line of over 4096 bytes"),
    (
        b"2\n%b\n\n2\n1\n1\n" % (b"9" * 4000),
        "TOO_LARGE_NUMBER",
        f"line 8: clue '{'9' * 20}…{'9' * 19}' is longer than",
    ),
    (b"2\n1 1\n\n2\n%b\n1\n" % (b"1 " * 50_000), "LINE_TOO_LONG", "line 11: a line of over 4096 bytes"),
    (b"2\n\0\0\n\n2\n1\n1\n", "NOT_TEXT", NOT_TEXT),
    (b"2\n\xff\xfe\n\n2\n1\n1\n", "NOT_TEXT", NOT_TEXT),
    (b"2\n2 1\n\n2\n1\n1\n", "CLUE_TOO_LONG", "line 8: the clue of column 2 needs 4 cells, the column has 3"),
    (b"2\n1 1\n\n2\n1\n4\n", "CLUE_TOO_LONG", "line 12: the clue of row 3 needs 4 cells, the row has 3"),
    (b"2\n999999\n\n2\n1\n1\n", "CLUE_TOO_LONG", "line 8: the clue of column 2 needs 999999 cells"),
    (b"2\n1 1\n\n2\n1\n2\n", "BLACK_CELL_MISMATCH", DIFFER),
    (b"2\n1 1\n\n2\n", "MISSING_LINES", MISSING + "4; perhaps --size 2x2"),
    (b"2\n1 1\n3\n", "MISSING_LINES", MISSING + "3"),
    (b"", "MISSING_LINES", MISSING + "0"),
]
"""The clue lines of a 3x3 board, the kind of the fault, and how its message begins, if `$k` stands on line 6."""


@pytest.mark.parametrize(("lines", "kind", "message"), FAULTS, ids=range(len(FAULTS)))
def test_each_error_has_its_position_and_other_puzzles_are_read(lines, kind, message):
    before = b"$1\n" + b"1\n1\n0\n1\n" + b"1\n"  # without its last line, an empty one: $2 stands on line 8
    text = before + b"\n$2\n" + lines + format_puzzle(3, GOOD_3)
    first, second, third = read(text)
    assert facts([first]) == [(1, 1, (3, 3), GOOD_3)]
    assert isinstance(second, Fault)
    assert (second.number, second.size, second.is_in_place) == (2, (3, 3), True)
    assert second.kind.name == kind
    assert str(second).startswith(f"$2: {placed(message, 8, lines)}")
    assert facts([third]) == [(3, 9 + lines.count(b"\n"), (3, 3), GOOD_3)]


def placed(message: str, header: int, lines: bytes) -> str:
    """Return a message of FAULTS for a puzzle whose `$k` stands on line `header`."""
    place, text = message.split(": ", 1)
    if place == "line {next}":
        return f"line {header + 1 + len(lines.splitlines())}: {text}"
    return f"line {int(place.removeprefix('line ')) - 6 + header}: {text}"


@pytest.mark.parametrize(
    ("text", "place", "message", "more"),
    [
        (b"$4\nx\n-1\n\n2 0\n1\n1\n", (4, 2), "clue 'x' is not a number", 2),
        (b"$4\nx\n", (4, 2), "expected 6 clue lines for a 3x3 board, found 1", 1),
        (b"$4\n1\n1\n", (4, 3), "expected 6 clue lines for a 3x3 board, found 2; perhaps --size 1x1", 0),
        (b"$0\n1\n\n\n1\n1\n", (0, 6), "expected 6 clue lines for a 3x3 board, found 5", 0),
        (b"$1\n\x1b[31mred\n1\n1\n1\n1\n1\n", (1, 2), "clue '\\x1b[31mred' is not a number", 0),
        (b"$1\n1\n1\n1\n1\n1\n%b\n" % (b"x" * 41), (1, 7), f"clue '{'x' * 20}…{'x' * 19}' is not a number", 0),
        (b"$1\n1\n1\n1\n1\n1\n%b\n" % (b"x" * 40), (1, 7), f"clue '{'x' * 40}' is not a number", 0),
    ],
)
def test_missing_lines_or_the_first_error_are_reported_and_the_rest_counted(text, place, message, more):
    (entry,) = read(text)
    assert (entry.number, entry.line, entry.more, entry.is_in_place) == (*place, more, True)
    others = f" (and {more} more in this puzzle)" if more else ""
    assert str(entry) == f"${place[0]}: line {place[1]}: {message}{others}"


def test_an_error_without_a_line_or_puzzle_prints_the_known_parts():
    assert str(Fault(FaultKind.FORMAT, "what", 7)) == "$7: what"
    assert str(Fault(FaultKind.FORMAT, "what")) == "what"


def test_extra_lines_and_leading_text_are_reported_once_and_affect_no_puzzle():
    text = format_puzzle(1, GOOD_3) + b"3\n3\n\n3\n" + format_puzzle(2, GOOD_3)
    first, extra, second = read(text)
    assert (first.puzzle, second.puzzle) == (GOOD_3, GOOD_3)
    assert (extra.kind.name, extra.is_in_place) == ("EXTRA_LINES", False)
    assert str(extra) == (
        "$1: line 8: '3' comes after the 6 clue lines of a 3x3 board and is ignored; check --size"
    )
    stray, entry = read(b"\n# questions\n1 2 3\n" + format_puzzle(1, GOOD_3))
    assert (stray.kind.name, stray.is_in_place, entry.puzzle) == ("STRAY_TEXT", False, GOOD_3)
    assert str(stray) == "line 2: '# questions' is before the first '$' and is ignored; expected '$1'"
    [alone] = read(b"hello", None)
    assert str(alone) == "line 1: 'hello' is before the first '$' and is ignored; expected '$1'"


@pytest.mark.parametrize(
    "header",
    [b"$", b"$x", b"$-2", b"$2.0", b"$2 2", b"$$2", b"$2\0", b"$\xff", b"$" + b"2" * 5000, b"$+2", b"$1_0"],
)
def test_a_bad_header_takes_the_next_number_and_its_own_lines(header):
    text = format_puzzle(1, GOOD_3) + header + b"\n" + format_puzzle(2, GOOD_3)[3:] + format_puzzle(3, GOOD_3)
    first, second, third = read(text)
    assert (first.number, first.puzzle) == (1, GOOD_3)
    assert (second.number, second.line, second.is_in_place) == (2, 8, True)
    assert second.kind.name == "BAD_HEADER"
    assert "does not start a puzzle; expected '$' and a number" in str(second)
    assert (third.number, third.puzzle) == (3, GOOD_3)


def test_the_longest_line_is_still_read():
    spaces = b" " * (MOST_LINE_BYTES - 2)
    (entry,) = read(b"$1\n1" + spaces + b"\n1\n", (1, 1))
    assert entry.puzzle == Puzzle(columns=((1,),), rows=((1,),))
    (entry,) = read(b"$1\n1" + spaces + b"  \n1\n", (1, 1))
    assert entry.kind.name == "LINE_TOO_LONG"
