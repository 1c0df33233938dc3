# ruff: noqa: E501 - the tables have a case on each line
"""Bad input to every file format: each fault with its place, nothing raised, whatever the bytes."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nonobot.protocol import Puzzle, Record, formats
from nonobot.protocol.faults import Fault, Kind
from nonobot.protocol.formats.base import MOST_REMARKS, MOST_SIDE
from nonobot.protocol.formats.lists import MOST_DEPTH
from tests.mutated_formats import problems

PUZZLES = Path(__file__).with_name("puzzles")
NAMES = [format.name for format in formats.formats()]
DOT = Puzzle.unchecked(rows=((1,),), columns=((1,),))


def said(data: bytes | str, name: str) -> list[str]:
    """Return what reading comes to: 'ok' for a puzzle, with its remarks, and the words of a fault."""
    lines = []
    for found in formats.read(data if isinstance(data, bytes) else data.encode(), name):
        lines.append("ok" if isinstance(found, Record) else str(found))
        if isinstance(found, Record):
            lines += [f"remark: {remark}" for remark in found.remarks]
    return lines


def only_fault(data: bytes | str, name: str) -> str:
    (line,) = said(data, name)
    assert line != "ok"
    return line


# Text formats, one case for everything that can be wrong

NON = "width 2\nheight 2\nrows\n{}\ncolumns\n{}\n"
XML = "<puzzleset>\n<puzzle>\n{}\n</puzzle>\n</puzzleset>\n"
CLUES = (
    '<clues type="rows"><line><count>1</count></line></clues>'
    '<clues type="columns"><line><count>1</count></line></clues>\n'
)


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        # counts
        ("nin", "2 2\n1\n1\n1\n", "$1: line 4: expected 4 clue lines for the 2 rows and 2 columns, found 3"),
        ("nin", "1 1\n1\n1\n3\n", "$1: line 4: expected 2 clue lines for the 1 rows and 1 columns, found 3: too many from '3' on"),
        ("nin", "\n2 2", "$1: line 2: expected 4 clue lines for the 2 rows and 2 columns, found 0"),
        ("hv", "H\n1\n", "$1: line 1: no line 'V'"),
        ("hv", "\nV\n1\n", "$1: line 2: no line 'H'"),
        ("hv", "H\nV\n1\n", "$1: line 1: no clues of rows"),
        ("hv", "H\n1\nV\n1\nH\n1\n", "$1: line 5: a second 'H'; such a file holds one puzzle"),
        ("hv", "H\n1\n\n1\nV\n2\n", "$1: line 3: a blank line between clues; an empty clue is written 0"),
        ("grid", "2x2\nrows\n1\ncolumns\n1\n1\n", "$1: line 3: expected 2 clue lines for the 2 rows, found 1"),
        ("grid", "2x2\nrows\n1\n1\n", "$1: line 1: no section 'columns'"),
        ("grid", "1x1\nrows\n1\nrows\n1\ncolumns\n1\n", "$1: line 4: a second 'rows'; such a file holds one puzzle"),
        ("letters", "A\n\n", "$1: line 1: a line of rows without the line of columns that should follow"),
        ("lists", "\n[[1]]", "$1: line 2: no list of columns"),
        ("lists", "y = [[1]]", "$1: line 1: no list of rows"),
        ("oneline", "1", "$1: line 1: no '-'; expected the rows' clues, '-', the columns' clues"),
        ("oneline", "1-1-1", "$1: line 1: more than one '-'; expected the rows' clues, '-', the columns' clues"),
        ("non", NON.format("1", "1\n1"), "$1: line 4: expected 2 clue lines for the rows of a board of height 2, found 1"),
        ("non", NON.format("1\n1", "1\n1\n1"), "$1: line 9: expected 2 clue lines for the columns of a board of width 2, found 3: too many from '1' on"),
        ("non", "width 1\nheight 1\nrows\n1\n", "$1: line 1: no clues of columns"),
        ("non", "width 1\nrows\n1\ncolumns\n1\n", "$1: line 1: no height before 'rows'"),
        ("non", "width 1\nheight 1\nrows\n1\nrows\n1\ncolumns\n1\n", "$1: line 5: a second 'rows'; puzzles are divided by a line '===='"),
        ("non", "width 1\nwidth 1\nheight 1\nrows\n1\ncolumns\n1\n", "$1: line 2: a second width; puzzles are divided by a line '===='"),
        ("non", "hello world\n", "$1: line 1: no 'rows' and no 'columns'"),
        ("webpbn", XML.format(""), "$1: line 2: no clues of rows (and 1 more in this puzzle)"),
        ("taai", "$1\n1\n1\n1\n", "$1: line 1: 3 clue lines do not make a square board; expected an even number, or --size WxH"),
        # clues that cannot be
        ("nin", "2 2\n3\n1\n1\n1\n", "$1: line 2: the clue of row 1 needs 3 cells, the row has 2"),
        ("nin", "2 2\n1\n1\n2\n1\n", "$1: line 1: the columns count 3 black cells, the rows 2; both must be the same"),
        ("hv", "H\n2\nV\n2\n", "$1: line 4: the clue of column 1 needs 2 cells, the column has 1"),
        ("letters", "C\nA\n", "$1: line 1: the clue of row 1 needs 3 cells, the row has 1"),
        ("letters", "A\nC\n", "$1: line 2: the clue of column 1 needs 3 cells, the column has 1"),
        ("lists", "[[1],\n [3]]\n[[1]]", "$1: line 2: the clue of row 2 needs 3 cells, the row has 1"),
        ("oneline", "1:1-2:1:3", "$1: line 1: the clue of column 3 needs 3 cells, the column has 2"),
        ("webpbn", XML.format('<clues type="rows">\n<line><count>2</count></line></clues><clues type="columns"><line/></clues>'), "$1: line 4: the clue of row 1 needs 2 cells, the row has 1"),
        # words that are no numbers
        ("nin", "1 1\n1x\n1\n", "$1: line 2: clue '1x' is not a number"),
        ("nin", "1 1\n-1\n1\n", "$1: line 2: clue '-1' is negative; block lengths are 1 or more"),
        ("nin", "1 1\n1 0\n1\n", "$1: line 2: a 0 beside other block lengths; a 0 alone is an empty clue"),
        ("hv", "H\n1000000000\nV\n1", "$1: line 2: clue '1000000000' is longer than any board"),
        ("grid", "2x2\nrows 1 2x\ncolumns 1 1\n", "$1: line 2: clue '2x' is not a number"),
        ("letters", "a\nA\n", "$1: line 1: clue 'a' is not made of the letters A to Z; an empty clue is written 0"),
        ("letters", "A\n1\n", "$1: line 2: clue '1' is not made of the letters A to Z; an empty clue is written 0"),
        ("lists", "[[1.5]] [[1]]", "$1: line 1: clue '1.5' is not a number"),
        ("lists", "[[None]] [[1]]", "$1: line 1: clue 'None' is not a number"),
        ("oneline", "1,-1", "$1: line 1: clue '1,' has a comma without a number"),
        ("non", NON.format("1,,1\n1", "1\n1"), "$1: line 4: clue '1,,1' has a comma without a number"),
        ("non", NON.format("1a\n1", "1\n1"), "$1: line 4: clue '1a' names a colour; only black and white puzzles are read"),
        ("webpbn", XML.format('<clues type="rows"><line><count>x</count></line></clues>'), "$1: line 3: clue 'x' is not a number"),
        # sizes
        ("nin", "1000000000 5\n1\n", "$1: line 1: a board of 1000000000x5; sides are 1 to 9999"),
        ("nin", "0 0\n", "$1: line 1: a board of 0x0; sides are 1 to 9999"),
        ("nin", "3\n1\n", "$1: line 1: '3' is not a width and a height, such as '25 25'"),
        ("grid", "1000000000x1000000000\n", "$1: line 1: a board of 1000000000x1000000000; sides are 1 to 9999"),
        ("grid", "8 x\n", "$1: line 1: '8 x' is not WIDTHxHEIGHT, such as 8x11"),
        ("non", "width 1000000000\n", "$1: line 1: width '1000000000' is not a number from 1 to 9999 (and 1 more in this puzzle)"),
        ("non", "width wide\n", "$1: line 1: width 'wide' is not a number from 1 to 9999 (and 1 more in this puzzle)"),
        ("hv", "H\n" + "1\n" * 10_000 + "V\n1\n", "$1: line 10001: more than 9999 rows"),
        ("letters", "A\n" + "A " * 10_000, "$1: line 2: more than 9999 clues"),
        ("oneline", "1-" + "1:" * 10_000 + "1", "$1: line 1: more than 9999 clues"),
        ("lists", "[[1]]\n[" + "[1]," * 10_000 + "]", "$1: line 2: more than 9999 columns"),
        ("taai", "$1\n" + "1\n" * 20_000, "$1: line 1: a board of 10000x10000; sides are 1 to 9999"),
        ("webpbn", XML.format("<solution><image>" + "|X|" * 15_000 + "</image></solution>"), "$1: line 3: an image of more than 9999 rows"),
        ("webpbn", XML.format("<solution><image>|" + "X|" * 10_000 + "</image></solution>"), "$1: line 2: a board of 10000 rows; sides are 1 to 9999"),
        ("webpbn", XML.format("<solution><image>|" + "X" * 10_000 + "|</image></solution>"), "$1: line 2: a board of 10000 columns; sides are 1 to 9999"),
        ("webpbn", XML.format('<clues type="rows">' + "<line/>" * 10_000 + "</clues>"), "$1: line 3: more than 9999 rows"),
        # sections and text where none belongs
        ("hv", "# mine\nH\n1\nV\n1\n", "$1: line 1: '# mine' stands before 'H' and 'V'"),
        ("grid", "1x1\nrows 1\ncolumns 1\nmood sunny\n", "$1: line 4: 'mood' is no section; expected title, author, rows, columns, grid, solution"),
        ("grid", "1x1\n[mood]\nrows 1\ncolumns 1\n", "$1: line 2: 'mood' is no section; expected title, author, rows, columns, grid, solution"),
        ("grid", "1x1\n3\nrows 1\ncolumns 1\n", "$1: line 2: '3' is no section; expected title, author, rows, columns, grid, solution"),
        ("grid", "1x1\ntitle P\n* * *\nrows 1\ncolumns 1\n", "$1: line 3: '* * *' is no section; expected title, author, rows, columns, grid, solution"),
        ("non", "width 1\nheight 1\n5\nrows\n1\ncolumns\n1\n", "$1: line 3: '5' stands under no 'rows' or 'columns'"),
        ("lists", "boxes = [[1]]", "$1: line 1: 'boxes' is no name for rows or columns"),
        ("webpbn", XML.format(CLUES + '<clues type="boxes"></clues>'), "$1: line 4: clues of the type 'boxes'; expected rows or columns"),
        ("webpbn", XML.format("<line/>"), "$1: line 3: a <line> outside of clues of rows or columns"),
        ("webpbn", "<html/>", "$1: line 1: <html> starts no webpbn file; expected <puzzleset>"),
        # drawn boards
        ("grid", "2x2\nrows 1 1\ncolumns 1 1\ngrid\n..\n", "$1: line 5: a board of 2x1 cells, the clues are for 2x2"),
        ("grid", "2x2\nrows 1 1\ncolumns 1 1\ngrid\n..\n.?\n", "$1: line 6: '?' is not a cell; expected one of . # X x"),
        ("grid", "2x2\nrows 1 1\ncolumns 1 1\ngrid\n..\n...\n", "$1: line 6: a row of 3 cells after rows of 2"),
        ("grid", "1x1\nrows 1\ncolumns 1\ngrid\n\n", "$1: line 1: a drawn board without cells"),
        ("webpbn", XML.format(CLUES + '<solution type="saved"><image>|..|</image></solution>'), "$1: line 4: a board of 2x1 cells, the clues are for 1x1"),
        ("webpbn", XML.format(CLUES + '<solution type="saved"><image>|q|</image></solution>'), "$1: line 4: 'q' in an image is no colour"),
        ("webpbn", XML.format(CLUES + '<solution type="saved"><image>|[X|</image></solution>'), "$1: line 4: a bracket in an image is not closed"),
        ("webpbn", XML.format(CLUES + '<solution type="saved"><image>|[]|</image></solution>'), "$1: line 4: ']' in an image is no colour"),
        ("webpbn", XML.format(CLUES + '<solution type="saved"><image/></solution>'), "$1: line 4: an image without cells"),
        ("webpbn", XML.format('<solution><image>|X.|X|</image></solution>'), "$1: line 3: an image with rows of different length"),
        # colours
        ("webpbn", XML.format('<clues type="rows"><line><count color="red">1</count><count color="blue">1</count></line></clues>'), "$1: line 3: blocks of several colours, 'blue' and 'red'; only one is read"),
        ("webpbn", f'<puzzle type="triddler">{CLUES}</puzzle>', "$1: line 1: a puzzle of the type 'triddler'; only grids are read"),
        # brackets
        ("lists", "[[1],\n[1]", "$1: line 2: the bracket of line 1 is not closed at the end of the file"),
        ("lists", "[[1)]", "$1: line 1: ')' closes no bracket"),
        ("lists", "]", "$1: line 1: ']' closes no bracket"),
        ("lists", "[1]", "$1: line 1: a clue stands in no list of clues"),
        ("lists", "5", "$1: line 1: '5' stands in no list of numbers"),
        ("lists", "[[1], 1]", "$1: line 1: '1' stands in no list of numbers"),
        ("lists", "[1, [1]]", "$1: line 1: a clue stands in no list of clues"),
        ("lists", "[[[1]], [1]]", "$1: line 1: a clue stands in no list of clues"),
        ("lists", "[[1], [[1]]]", "$1: line 1: a list of clues beside clues or numbers"),
        ("lists", "[" * 100_000, f"$1: line 1: lists nested more than {MOST_DEPTH} deep"),
        ("lists", "[['a']]", "$1: line 1: a text, 'a', has no place among lists of numbers"),
        ("lists", "[[1]]\n[[@]]", "$1: line 2: '@' has no place among lists of numbers"),
        # XML
        ("webpbn", "<puzzleset>\n", "$1: line 2: broken XML: no element found"),
        ("webpbn", "<puzzleset><puzzle>\n<title>a</note>", "$1: line 2: broken XML: mismatched tag"),
        ("webpbn", "<puzzleset>" + "<a>" * 100_000, "$1: line 1: elements nested more than 16 deep"),
        ("webpbn", '<?xml version="1.0" encoding="utf-7"?><puzzleset/>', "$1: line 1: XML in an encoding that is not known"),
        ("webpbn", '<?xml version="1.0" encoding="foo"?><puzzleset/>', "$1: line 1: XML in an encoding that is not known"),
        # bytes
        ("nin", b"1 1\n\xff\n1\n", "$1: line 2: bytes that are not text; expected block lengths"),
        ("hv", b"H\n1\0\nV\n1\n", "$1: line 2: bytes that are not text; expected block lengths"),
        ("lists", b"[[1]]\n[[\0]]", "$1: line 2: '\\x00' has no place among lists of numbers"),
        ("webpbn", b"<puzzleset>\0</puzzleset>", "$1: line 1: broken XML: not well-formed (invalid token)"),
        ("webpbn", b"<puzzleset>\xff</puzzleset>", "$1: line 1: broken XML: not well-formed (invalid token)"),
        ("nin", "1 1\n" + "1," * 40_000 + "\n1\n", "$1: line 2: a clue of over 65536 characters"),
        ("lists", "[[" + "1," * 10_000 + "]] [[1]]", "$1: line 1: a clue of over 9999 numbers"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_place(name, data, fault):
    assert only_fault(data, name) == fault


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("letters", "B\nA A\n\nA\nAA\n\nA\nA\n", ["ok", "$2: line 5: the clue of column 1 needs 3 cells, the column has 1", "ok"]),
        ("letters", "A\n\nA\nA\n", ["$1: line 1: a line of rows without the line of columns that should follow", "ok"]),
        ("oneline", "1-1\n1:1\n1-1\n", ["ok", "$2: line 2: no '-'; expected the rows' clues, '-', the columns' clues", "ok"]),
        ("lists", "x=[[1]]; x=[[1]]; y=[[1]]", ["$1: line 1: no list of columns", "ok"]),
        ("lists", "[[2]] [[1]]\n[[1]] [[1]]", ["$1: line 1: the clue of row 1 needs 2 cells, the row has 1", "ok"]),
        ("lists", "[[1]] [[1]] ]", ["ok", "$2: line 1: ']' closes no bracket"]),
        ("non", "width 1\n====\nwidth 1\nheight 1\nrows\n1\ncolumns\n1\n====\n", ["$1: line 1: no 'rows' and no 'columns'", "ok"]),
        ("webpbn", f"<puzzleset><puzzle/><puzzle>{CLUES}</puzzle></puzzleset>", ["$1: line 1: no clues of rows (and 1 more in this puzzle)", "ok"]),
        ("webpbn", f"<puzzleset><puzzle>{CLUES}</puzzle></oops>", ["ok", "$2: line 2: broken XML: mismatched tag"]),
        ("taai", "$1\n1\n1\n$2\n1\n$3\n1\n1\n", ["ok", "remark: $1: line 1: no size is stated; by the number of lines this is 1x1", "$2: line 4: 1 clue lines do not make a square board; expected an even number, or --size WxH", "ok"]),
    ],
)  # fmt: skip
def test_a_fault_costs_no_other_puzzle(name, data, found):
    assert said(data, name) == found


@pytest.mark.parametrize(
    ("name", "data", "remarks"),
    [
        ("non", "mood sunny\nwidth 1\nheight 1\nrows\n1\ncolumns\n1\n", ["$1: line 1: 'mood' is not kept"]),
        ("non", "color a #fff\nwidth 1\nheight 1\nrows\n1\ncolumns\n1\n", ["$1: line 1: 'color' is not kept"]),
        ("non", b"title \xe9\nwidth 1\nheight 1\nrows\n1\ncolumns\n1\n", ["$1: line 1: the title has bytes that are not UTF-8 text"]),
        ("non", "width 1\nheight 1\nrows\n1\ncolumns\n1\ngoal 11\n", ["$1: line 7: the goal is left out: 2 cells, expected 1 for 1x1"]),
        ("non", "width 1\nheight 1\nrows\n1\ncolumns\n1\ngoal 0\n", ["$1: line 7: the solution is left out, it breaks the clues: row 1: expected 1, found no black cell"]),
        ("grid", b"1x1\ntitle\n\xe9\nrows 1\ncolumns 1\n", ["$1: line 3: the title has bytes that are not UTF-8 text"]),
        ("grid", "1x1\nrows 1\ncolumns 1\nsolution\n##\n", ["$1: line 5: the solution is left out: a board of 2x1 cells, the clues are for 1x1"]),
        ("webpbn", XML.format(CLUES + "<note>a</note><note>b</note>\n<authorid>me</authorid>"), ["$1: line 4: <note> is not kept", "$1: line 5: <authorid> is not kept"]),
        ("webpbn", XML.format(CLUES + 2 * "<solution><image>|X|</image></solution>"), ["$1: line 4: a further image is not kept"]),
        ("webpbn", XML.format(CLUES + "<solution><image>|?|</image></solution>"), ["$1: line 4: the solution is left out: it has unknown cells"]),
    ],
)  # fmt: skip
def test_what_is_left_out_of_a_good_puzzle_is_said(name, data, remarks):
    assert said(data, name) == ["ok", *(f"remark: {remark}" for remark in remarks)]


def test_remarks_on_one_puzzle_are_bounded_and_counted():
    keys = "".join(f"key{number} x\n" for number in range(1000))
    _, *remarks = said(f"{keys}width 1\nheight 1\nrows\n1\ncolumns\n1\n", "non")
    assert len(remarks) == MOST_REMARKS
    assert remarks[-1] == "remark: $1: line 20: 'key19' is not kept (and 980 more in this puzzle)"


# XML that attacks


@pytest.mark.parametrize(
    "data",
    [
        '<!DOCTYPE pbn [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><puzzleset>&b;</puzzleset>',
        '<!DOCTYPE pbn [<!ENTITY secret SYSTEM "file:///etc/passwd">]><puzzleset>&secret;</puzzleset>',
        '<!DOCTYPE pbn [<!ENTITY % remote SYSTEM "http://127.0.0.1:1/x"> %remote;]><puzzleset/>',
        "<!DOCTYPE pbn [<!ATTLIST puzzle type CDATA 'triddler'>]><puzzleset/>",
    ],
)
def test_declarations_in_xml_are_refused_before_anything_comes_of_them(data):
    assert only_fault(data, "webpbn") == "$1: line 1: declarations in a <!DOCTYPE> are not read"


def test_a_dtd_is_neither_fetched_nor_missed(tmp_path):
    dtd = tmp_path / "pbn.dtd"
    dtd.write_text("<!ENTITY secret 'of the DTD'>")
    title = "<title>&copy; &eacute; &secret; end</title>"
    data = f'<!DOCTYPE pbn SYSTEM "{dtd.as_uri()}"><puzzle>{CLUES}{title}</puzzle>'
    (record,) = formats.read(data.encode())
    assert record.title == "\u00a9 \u00e9 &secret; end"
    assert record.puzzle == DOT


# Files that are large and hold nothing


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "start", "filling"),
    [
        ("nin", b"9999 9999\n1\n", b"\n"),
        ("nin", b"9999 9999\n", b"1\n"),
        ("hv", b"H\n", b"\n"),
        ("hv", b"H\n", b"x\n"),
        ("hv", b"", b"x\n"),
        ("grid", b"9999x9999\n", b"x y\n"),
        ("grid", b"9999x9999\ngrid\n", b".\n"),
        ("non", b"width 9999\nheight 9999\nrows\n", b"1\n"),
        ("non", b"", b"%\n"),
        ("lists", b"[", b"[],"),
        ("lists", b"[[", b"1,"),
        ("letters", b"", b"A"),
        ("oneline", b"0-", b":"),
        ("webpbn", b"<puzzleset>", b"<a/>"),
        ("webpbn", b"<puzzle><title>", b"a"),
        ("webpbn", b"<puzzle><solution><image>", b"|"),
        ("picross", b"GRID\nROWS\n", b"[ ]\n"),
        ("picross", b"GRID\n", b"x\n"),
        ("pynogram", b"[clues]\nrows =\n", b","),
        ("pynogram", b"[clues]\nrows =\n", b"1,1\n"),
        ("pynogram", b"", b"[a]\n"),
        ("nonogrid", b'[clues]\nrows = """', b"1\n"),
        ("g", b"#d\n", b"a:a\n"),
        ("g", b":\n", b"\n"),
        ("mk", b"9999 9999\n", b"1\n"),
        ("cwd", b"9999\n9999\n", b"1\n\n"),
    ],
)
def test_a_megabyte_of_nothing_is_one_fault(name, start, filling):
    only_fault(start + filling * ((1 << 20) // len(filling)), name)


# Anything at all


def check(data: bytes, name: str | None = None) -> None:
    """Read whatever this is: only records and faults come out, each with its place; only FormatError is raised."""
    found: list[formats.Found] = []
    with contextlib.suppress(formats.FormatError):
        found = list(formats.read(data, name))
    lines = data.count(b"\n") + data.count(b"\r") + 1
    for one in found:
        if isinstance(one, Record):
            assert 1 <= one.puzzle.width <= MOST_SIDE
            assert 1 <= one.puzzle.height <= MOST_SIDE
            faults = one.remarks
        else:
            assert isinstance(one, Fault)
            faults = (one,)
        for fault in faults:
            assert fault.line is None or 1 <= fault.line <= lines
            assert str(fault).isprintable()
            assert len(str(fault)) < 400
    small = [one for one in found if isinstance(one, Record) and one.puzzle.width < 100]
    kept = [replace(record, license=None) for record in small]
    assert list(formats.read(formats.write(small, "webpbn").data or b"<puzzleset/>")) == kept


@pytest.mark.parametrize("name", [None, *NAMES])
@settings(max_examples=50)
@given(data=st.binary(max_size=200))
@example(b"\xef\xbb\xbf")
@example(b"\x1c")
@example(b"\0" * 50)
@example(b"\xff\xfe$\x001\x00")
def test_random_bytes_raise_nothing_else(name, data):
    check(data, name)


def test_damaged_samples_are_read_with_a_line_for_each_fault():
    assert not list(problems(1500, 7, Counter()))


@pytest.mark.slow
def test_a_hundred_thousand_damaged_samples_are_read_with_a_line_for_each_fault():
    counts: Counter[str] = Counter()
    assert not list(problems(100_000, 1, counts))
    assert all(counts[what] > 1000 for what in ("puzzles", "faults and remarks", "files of no format")), counts


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda data, name: [1 / 0], "ZeroDivisionError"),
        (lambda data, name: [Fault(Kind.BAD_GRID, "two\nlines")], "not one short line"),
        (lambda data, name: (_ for _ in ()).throw(TimeoutError), "TimeoutError"),
    ],
)
def test_this_check_finds_tracebacks_and_lines_that_are_none(read, said, monkeypatch):
    monkeypatch.setattr(formats, "read", read)
    assert [said in what for what in problems(2, 1, Counter())] == [True, True]
