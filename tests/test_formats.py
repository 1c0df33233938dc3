"""File formats: the same puzzle in all of them, what each one holds, which one a file has."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nonobot.protocol import PartialGrid, Puzzle, Record, Solution, formats
from nonobot.protocol.clues import Fault, FaultKind
from nonobot.protocol.puzzle import TEXT_FIELDS, plain_text
from tests.boards import digits, grids
from tests.pictured import LETTER_P, P_PUZZLE, cells_from

PUZZLES = Path(__file__).with_name("puzzles")
NAMES = [format.name for format in formats.formats()]

PICTURE_OF_P = Solution(cells_from(LETTER_P))
SEVERAL = [
    Puzzle.unchecked(rows=((1,), (), (1,)), columns=((1, 1), (), ())),
    Puzzle.unchecked(rows=((1,), (1,), (5,), (1,), (1,)), columns=((1,), (1,), (5,), (1,), (1,))),
    Puzzle.unchecked(rows=((1,), (1,)), columns=((1,), (1,))),
]


def read(name: str, size: tuple[int, int] | None = None) -> list[formats.Found]:
    return list(formats.read((PUZZLES / name).read_bytes(), size=size))


def only(name: str, size: tuple[int, int] | None = None) -> Record:
    (record,) = read(name, size)
    assert isinstance(record, Record), str(record)
    return record


# The files


@pytest.mark.parametrize("file", sorted(path.name for path in PUZZLES.glob("p*")))
def test_the_letter_p_is_the_same_puzzle_in_every_form(file):
    record = only(file, (8, 11))
    assert record.puzzle == P_PUZZLE
    assert record.remarks == ()


def test_there_is_a_letter_p_and_a_file_of_several_in_every_format_that_can_hold_them():
    for start, wanted in (("p", NAMES), ("several", [one.name for one in formats.formats() if one.several])):
        files = [path for path in PUZZLES.iterdir() if path.name.startswith(start + ".")]
        assert {formats.detect(path.read_bytes()) for path in files} == set(wanted)


@pytest.mark.parametrize("path", sorted(PUZZLES.iterdir()), ids=lambda path: path.name)
def test_a_file_name_ends_as_its_content_says(path):
    format = formats.by_extension(path.name)
    assert format
    assert format.name == formats.detect(path.read_bytes())


@pytest.mark.parametrize("file", sorted(path.name for path in PUZZLES.glob("several*")))
def test_several_puzzles_come_in_their_order_with_numbers_and_lines(file):
    records = read(file)
    assert [record.puzzle for record in records] == SEVERAL
    assert [record.number for record in records] == [1, 2, 3]
    lines = [record.line for record in records]
    assert lines == sorted(set(lines))
    assert lines[0] <= 5


def test_what_is_said_about_the_letter_p():
    about = {
        "title": "The letter P",
        "author": "A. N. Author",
        "copyright": "© 2026 A. N. Author",
        "catalogue": "hand-made puzzles #1",
        "solution": PICTURE_OF_P,
    }
    assert only("p.non") == Record(P_PUZZLE, license="MIT", **about)
    xml = only("p.xml")
    assert xml == Record(P_PUZZLE, start=xml.start, description="The letter P, as a picture.", **about)
    assert only("p.grid") == Record(P_PUZZLE, solution=PICTURE_OF_P, title="The letter P", author="A. N. Author")
    assert only("p.json") == only("p.hv") == Record(P_PUZZLE)


@pytest.mark.parametrize(
    ("file", "row", "cells"),
    [
        ("p-partly.grid", 1, "0?111??0"),
        ("p-contradictory.grid", 3, "01111??0"),
        ("p.xml", 1, "0?111??0"),
        ("p.xml", 4, "011???10"),
        ("p.xml", 5, "????????"),
    ],
)
def test_a_partly_solved_board_is_the_start_whether_it_can_be_solved_or_not(file, row, cells):
    start = only(file).start
    assert start is not None
    assert start.cells.shape == (11, 8)
    assert "".join("?01"[cell + 1] for cell in start.cells[row]) == cells


# Round trips


SPECIAL = ["rows", "====", ": x", "[grid]", '"quoted"', "&amp; &lt;", "<b>]]>", "$1", "a\nb", "#"]
TEXTS = st.none() | st.text(max_size=12) | st.sampled_from(SPECIAL)


@st.composite
def records(draw: st.DrawFn, most: int = 8) -> Record:
    """Records with any of what a file may say."""
    cells = draw(grids(most, most))
    width = len(cells[0])
    rows = draw(st.none() | st.lists(st.integers(0, 3**width - 1), min_size=len(cells), max_size=len(cells)))
    start = rows and [[cell - 1 for cell in digits(row, 3, width)] for row in rows]
    return Record(
        Puzzle.from_grid(cells),
        start=None if start is None else PartialGrid(start),
        solution=draw(st.sampled_from([None, Solution(cells)])),
        **{name: draw(TEXTS) for name in TEXT_FIELDS},
    )


def kept_of(record: Record, format: formats.Format) -> Record:
    """Return what a format keeps of a record."""
    return Record(record.puzzle, **{name: getattr(record, name) for name in format.holds})


@pytest.mark.parametrize("name", NAMES)
@given(record=records())
def test_what_was_written_is_read_again(name, record):
    format = formats.format_named(name)
    written = formats.write([record], name)
    size = record.puzzle.width, record.puzzle.height
    assert formats.detect(written.data) == name
    assert list(formats.read(written.data, size=size)) == [kept_of(record, format)]
    lost = kept_of(record, format) != record
    assert any("has no place for" in remark.what for remark in written.remarks) == lost
    assert (written.count, written.faults) == (1, ())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one.name, marks=() if one.name in ("taai", "non") else pytest.mark.slow)
        for one in formats.formats()
        if one.several
    ],
)
@settings(max_examples=50)
@given(several=st.lists(records(), min_size=1, max_size=5))
def test_several_puzzles_are_read_again_in_their_order(name, several):
    format = formats.format_named(name)
    if not format.states_size:
        several = [record for record in several if (record.puzzle.width, record.puzzle.height) == (4, 4)]
        several += [Record(Puzzle.from_grid([[1, 0, 0, 1]] * 4), number=7)]
    again = list(formats.read(formats.write(several, name).data))
    assert again == [kept_of(record, format) for record in several]


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_and_a_byte_order_mark_make_no_difference(name):
    data = formats.write([Record(P_PUZZLE, title="P")], name).data
    expected = list(formats.read(data, size=(8, 11)))
    for other in (b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n")):
        assert formats.detect(other) == name
        assert list(formats.read(other, size=(8, 11))) == expected
    if name != "taai":  # the tournaments' reader knows no such lines
        assert list(formats.read(data.replace(b"\n", b"\r"))) == expected


# Writing


def test_several_puzzles_do_not_fit_a_format_of_one():
    for name in ("cwd", "grid", "hv", "nin", "nonogrid"):
        with pytest.raises(formats.FormatError, match=f"{name} holds one puzzle a file, not 3; .*letters, lists"):
            formats.write([Record(puzzle) for puzzle in SEVERAL], name)


def test_what_a_format_has_no_place_for_is_said():
    record = Record(P_PUZZLE, solution=PICTURE_OF_P, title="P", license="MIT")
    lost = {"hv": ["title, license, solution"], "webpbn": ["license"], "non": []}
    for name, fields in lost.items():
        faults = [Fault(FaultKind.FORMAT, f"{name} has no place for the {field}", 1) for field in fields]
        assert list(formats.write([record], name).remarks) == faults


def test_a_block_longer_than_the_alphabet_has_no_letter():
    long = Record(Puzzle.from_grid([[1] * 27]), number=2)
    written = formats.write([Record(P_PUZZLE), long], "letters")
    assert written.faults == (
        Fault(FaultKind.FORMAT, "cannot be written as letters: a block of 27 cells, letters end at 26", 2),
    )
    assert list(formats.read(written.data)) == [Record(P_PUZZLE)]
    assert formats.write([long], "letters").data == b""
    alphabet = Record(Puzzle.from_grid([[1] * 26]))
    assert list(formats.read(formats.write([alphabet], "letters").data)) == [alphabet]


def test_the_taai_form_keeps_numbers_and_says_that_it_states_no_size():
    square, flat = Record(SEVERAL[0], number=5), Record(P_PUZZLE, number=9)
    assert formats.write([square, square], "taai").data.startswith(b"$5\n1\t1\n")
    (remark,) = formats.write([flat], "taai").remarks
    assert str(remark) == "taai does not state the size of the boards; to be read with --size 8x11"
    (remark,) = formats.write([Record(puzzle) for puzzle in SEVERAL], "taai").remarks
    assert str(remark) == "taai does not state the sizes of the boards; to be read with --size auto"
    with pytest.raises(formats.FormatError, match="square boards only, and here are 3x3, 8x11"):
        formats.write([square, flat], "taai")
    official = Record(Puzzle.from_grid([[1] * 25] * 25))
    assert formats.write([official], "taai").remarks == ()


def test_no_puzzles_make_an_empty_file():
    for name in NAMES:
        assert formats.write([], name) == formats.Written(b"", 0, (), ())


# Which format


def test_the_first_line_of_a_taai_stream_says_enough():
    for start in (b"$", b"\xef\xbb\xbf$1", b"\r\n \n $ 1\n", b"$one"):
        assert formats.detect_prefix(start) == "taai"
    for start in (b"", b"\n\n", b"8x11", b"# $1", b"<"):
        assert formats.detect_prefix(start) is None


def test_a_taai_set_with_text_before_it_is_still_one():
    data = b"# my set\n$1\n1\n1\n"
    assert formats.detect(data) == "taai"
    stray, record = formats.read(data)
    assert str(stray) == "line 1: '# my set' stands before the first '$'; expected '$1'"
    assert record.puzzle == Puzzle.unchecked(rows=((1,),), columns=((1,),))


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"H\n1\nV\n1\n", "hv"),
        (b"h:\n1\nv:\n1\n", "hv"),
        (b"V\n1\nH\n1\n", "hv"),
        (b"H\nA A A A A A A A\n", "letters"),
        (b"H\n0 A A A A A A A A\n", "letters"),
        (b"V\n0 AAA\n", "letters"),
        (b"@ @\n@ @\n", "letters"),
        (b"0 0\n0 0\n", "letters"),
        (b"1 1\n1\n1\n", "nin"),
        (b"1-1\n", "oneline"),
        (b":1-,1\n", "oneline"),
        (b"10 X 9\nrows", "grid"),
        ("3\u00d73\n".encode(), "grid"),
        (b"rows = [[1]]\ncolumns = [[1]]\n", "lists"),
        (b"rows: [[1]]\ncolumns: [[1]]\n", "lists"),
        (b"# Python\nx = [[1]]; y = [[1]]\n", "lists"),
        (b'{"rows": [[1]], "columns": [[1]]}', "lists"),
        (b"((1,),),((1,),)", "lists"),
        (b"rows\n", "non"),
        (b"rows 1\nwidth 1\n", "non"),
        (b"mood sunny\nwidth 1\nheight 1\nrows\n1\ncolumns\n1\n", "non"),
        (b"<html></html>", "webpbn"),
        (b"hello\n", None),
        (b"0\n", "letters"),
        (b"GRID\nROWS\n[ 1 ]\n", "picross"),
        (b"# by hand\nROWS\n[ 1 ]\n", "picross"),
        (b"GRID HEAP\nA A\n", "letters"),
        (b"1 2\n1\n#\n1\n1\n", "mk"),
        (b"1 2\n1\n1\n", "nin"),
        (b"# a\n#\n1 2\n1\n1\n", "nin"),
        (b"# a\n1 2\n1\n#\n1\n", "mk"),
        (b"# a\n1\n2\n1\n1\n", "cwd"),
        (b"1\n2\n2\n\n1\n1\n", "cwd"),
        (b"2\n2\n2\n2\n\n2\n2\n", "cwd"),
        (b":\n1\n:\n1\n:\n", "g"),
        (b"Two squares\n\n:-----\n\n:-----\n1\n:-----\n", "g"),
        (b"A colour\n#d\n r:* red\n:\n1r\n:\n1r\n:\n", "g"),
        (b":-:\n:-:\n", "oneline"),
        (b"# by hand\n[clues] ; all of them\nrows = 1\ncolumns = 1\n", "pynogram"),
        (b"[colors]\n[clues]\nrows = '1'\n  2\ncolumns = 1\n", "pynogram"),
        (b"[clues]\nrows = '1'\n# so\ncolumns = \"1\"\n", "nonogrid"),
        (b'[clues]\nrows = """1\n"""\ncolumns = """\n1"""\n', "nonogrid"),
        (b"[clues]\nrows = '1', '1'\ncolumns = '2'\n", "pynogram"),
    ],
)
def test_the_format_is_told_by_the_content(data, name):
    if name:
        assert formats.detect(data) == name
        return
    with pytest.raises(formats.UnknownFormatError, match="of no known format; known are cwd, g, grid, hv"):
        formats.detect(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "an empty file"),
        (b"\xef\xbb\xbf\r\n \n", "nothing but blank lines"),
        (b"\x1f\x8b\x08\x00abc", r"compressed \(gzip\); unpack it first"),
        ("H\n1\nV\n1\n".encode("utf-16"), "UTF-16 text; save it as UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary data, no text"),
    ],
)
def test_what_is_no_text_is_said_to_be_none(data, message):
    with pytest.raises(formats.FormatError, match=f"^{message}$"):
        formats.read(data)


def test_a_format_can_be_forced():
    assert list(formats.read(b"A\nA\n", "letters")) == [Record(Puzzle.unchecked(((1,),), ((1,),)))]
    (fault,) = formats.read(b"A\nA\n", "nin")
    assert isinstance(fault, Fault)
    for call in (lambda: formats.read(b"", "no such"), lambda: formats.write([], "no such")):
        with pytest.raises(formats.FormatError, match="there is no format 'no such'; known are cwd, g, grid, hv"):
            call()


def test_a_stream_is_read_to_its_end():
    class Slow(io.RawIOBase):
        def __init__(self) -> None:
            self.left = list(b"1:1-2")

        def read(self, size: int = -1) -> bytes:
            return bytes([self.left.pop(0)]) if self.left else b""

    assert list(formats.read(Slow())) == [Record(Puzzle.unchecked(((2,),), ((1,), (1,))))]


def test_more_than_a_puzzle_file_can_be_is_refused_without_reading_on():
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size: int = -1) -> bytes:
            assert 0 < size <= 1 << 20
            self.given += size
            return b"1" * size

    endless = Endless()
    with pytest.raises(formats.FormatError, match=r"^more than 16 MiB; a puzzle file is smaller$"):
        formats.read(endless)
    assert endless.given == formats.MOST_BYTES + 1


def test_a_taai_file_is_of_the_tournaments_size_or_square():
    board = Record(Puzzle.from_grid([[1] * 25] * 25))
    data = formats.write([board], "taai").data
    assert list(formats.read(data)) == [board]
    cut = data.replace(b"25\n" * 2, b"25\n", 1)
    (fault,) = formats.read(cut)
    assert "49 clue lines do not make a square board" in str(fault)
    record, fault = formats.read(data + cut)
    assert record == board
    assert "expected 50 clue lines for a 25x25 board, found 49" in str(fault)


# What is said about a puzzle


@given(st.text())
def test_a_plain_text_is_one_line_of_what_can_be_printed(text):
    plain = plain_text(text)
    assert plain is None or (plain == plain.strip() and plain)
    assert plain_text(plain) == plain
    for character in plain or "":
        assert character.isprintable() or character in "\u200c\u200d"


def test_a_plain_text_keeps_letters_and_joiners_and_loses_what_moves_the_cursor():
    assert plain_text("\u0645\u06cc\u200c\u062e") == "\u0645\u06cc\u200c\u062e"
    assert plain_text("a\x1b[31mb\u202ec\0") == "a[31mbc"
    assert plain_text("\n\t") is None
    assert plain_text(None) is None


def test_boards_of_a_record_have_the_size_of_its_puzzle():
    for board in ({"solution": Solution([[1]])}, {"start": PartialGrid([[1]])}):
        with pytest.raises(ValueError, match="a 1x1 board for a 8x11 puzzle"):
            Record(P_PUZZLE, **board)


def test_a_record_is_equal_to_another_wherever_they_stand():
    assert Record(P_PUZZLE, number=1, line=1) == Record(P_PUZZLE, number=2, line=9)
    assert Record(P_PUZZLE, title="P") != Record(P_PUZZLE)


def test_names_in_the_table_differ_and_every_extension_is_of_one_format():
    assert len(set(NAMES)) == len(NAMES) == 15
    extensions = [extension for format in formats.formats() for extension in format.extensions]
    assert len(set(extensions)) == len(extensions)
    assert formats.by_extension("PUZZLE.XML").name == "webpbn"
    assert formats.by_extension("puzzle") is None
