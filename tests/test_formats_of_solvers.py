# ruff: noqa: E501 - the tables have a case on each line
"""Files as other solvers write them and their documentation shows them; what is wrong with them; what is like them."""

from __future__ import annotations

import tomllib
from configparser import RawConfigParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.protocol import Puzzle, Record, formats
from tests.test_formats_faults import only_fault, said

FIVE = Puzzle.unchecked(columns=((3, 1), (1, 1, 1), (1, 1, 1), (1, 3)), rows=((4,), (1,), (4,), (1,), (4,)))
"""The digit that pynogram's documentation draws."""

ROOKS = Puzzle.unchecked(rows=((1,),) * 4, columns=((1,),) * 4)
"""Four rooks that do not take each other: a sample of Olsak's solver."""


def puzzles(text: str) -> list[Puzzle]:
    """Return the puzzles of a file whose format its content says; none of them has a fault or a remark."""
    found = list(formats.read(text.encode()))
    assert all(isinstance(one, Record) and not one.remarks for one in found), [str(one) for one in found]
    return [one.puzzle for one in found]


# As their programs have them

PICROSS = """# Mismatch is looked for further down
GRID "Dot" (Picross, Normal mode, level 11-G)
ROWS
[ ]
[ 1 ]
COLUMNS
[ 1 ]
[ ]

GRID
COLUMNS
[ 2 ]
[ 0 ]
ROWS
[ 1 ]
[ 1 ]

"""

VERBOSE_FIVE = """# The '5' digit as a nonogram

[clues]
columns =
  3 1
  1 1 1
  1 1 1
  1 3

rows =
  4      ; upper dash
  1
  4      # middle dash

  # The comment can appear here

  1
  4      ; lower dash

# The section can be empty or simply skipped
[colors]
"""

OLSAK = """This file contains a task.

Lines before the colon in the first column are comments only.

: rows (this text is ignored)
{rows}
:---- the columns:
{columns}
: END - all text after it is ignored.

: even this
5 5
"""


def test_picross_solver():
    first, second = formats.read(PICROSS.encode())
    assert (first.title, second.title) == ('"Dot" (Picross, Normal mode, level 11-G)', None)
    assert puzzles(PICROSS) == [
        Puzzle.unchecked(rows=((), (1,)), columns=((1,), ())),
        Puzzle.unchecked(rows=((1,), (1,)), columns=((2,), ())),
    ]
    assert (first.line, second.line) == (2, 10)


def test_the_numbers_of_a_puzzle_may_stand_close_to_the_brackets():
    assert puzzles("GRID\nROWS\n[1, 1]\nCOLUMNS\n[1]\n[]\n[ 1]\n") == [
        Puzzle.unchecked(rows=((1, 1),), columns=((1,), (), (1,)))
    ]


@pytest.mark.parametrize(
    "text",
    [
        VERBOSE_FIVE,
        "[clues]\ncolumns=3 1,1 1 1,1 1 1,1 3\nrows=4,1,4,1,4\n",
        "[clues]\nRows: '4', \"1\"\n  4, 1,\n4\ncolumns =\n  '3 1', '1 1 1',\n\n\n  '1 1 1', '1 3',\n",
        "[clues]\nrows = \"4,1,4,1,4\"\ncolumns = '3 1,1 1 1,1 1 1,1 3'  # so\n",
        '[clues]\ncolumns = """\n  3 1, "1 1 1"  ; two\n\n  \'1 1 1\',\n  1 3"""\nrows = """4\n 1, 4, 1 # \'five\'\n 4\n"""\n[colors]\n',
        "[colors]\ndefs = [\n  'b = (black) X',\n]\n[clues]\nrows = '''4,1,4,1,4'''\ncolumns = '''3 1,1 1 1,1 1 1,1 3''' ; end\n",
    ],
)
def test_the_five_of_pynogram_and_nonogrid(text):
    assert puzzles(text) == [FIVE]


def test_what_is_written_is_ini_and_toml_as_their_programs_read_them():
    parser = RawConfigParser(inline_comment_prefixes="#;")
    parser.read_string(formats.write([Record(FIVE)], "pynogram").data.decode())
    document = tomllib.loads(formats.write([Record(FIVE)], "nonogrid").data.decode())
    for clues in (parser["clues"], document["clues"]):
        columns = [line.strip() for line in clues["columns"].splitlines() if line.strip()]
        assert columns == ["3 1", "1 1 1", "1 1 1", "1 3"]
        assert clues["rows"].split() == ["4", "1", "4", "1", "4"]


def test_olsak_black_and_white():
    assert puzzles("Sachove veze, 24 reseni\n:radky\n1\n1\n1\n1\n:sloupce:\n1\n1\n1\n1\n:konec\n") == [ROOKS]
    assert puzzles(OLSAK.format(rows=" 1\n\n 1 ", columns="1\t1\n\n0")) == [
        Puzzle.unchecked(rows=((1,), (), (1,)), columns=((1, 1), (), ()))
    ]


def test_olsak_with_two_colours_is_black_and_white():
    text = "A dot\n#declaration of the colors:\n   m:%  blue   modra\n   0:   white\n   1:*  black\n: rows\n1\n: columns\n1\n: end\n"
    assert puzzles(text) == [Puzzle.unchecked(((1,),), ((1,),))]


def test_mk_and_cwd_have_the_height_first():
    wide = Puzzle.unchecked(rows=((2,), (1, 1)), columns=((1,), (1,), (1,), (1,)))
    assert puzzles("2 4\n2\n1 1\n#\n1\n1\n1\n1\n") == [wide]
    assert puzzles("2\n4\n2\n1 1\n\n1\n1\n1\n1\n") == [wide]
    assert puzzles("# Title: x\n#\n\n4 2\n2\n1 1\n1\n1\n1\n1\n") == [wide], "nin has the width first"


@pytest.mark.parametrize(
    "text",
    [
        "3\n2\n1\n0\n1\n\n1 1\n0\n",
        "3\n2\n1\n\n1\n\n1 1\n\n",
        "\n3\n\n2\n\n1\n0\n\n1\n\n\n1 1\n\n0\n\n\n",
        "3\r\n2\r\n1\r\n0\r\n1\r\n\r\n1 1\r\n0",
        "3 2\n1\n\n1\n# columns\n1 1\n0\n",
        "3 2\n1\n\n0\n\n1\n\n#\n1 1\n\n",
    ],
)
def test_blank_lines_are_space_or_empty_clues_by_the_size(text):
    assert puzzles(text) == [Puzzle.unchecked(rows=((1,), (), (1,)), columns=((1, 1), ()))]


def test_a_board_of_empty_clues_may_be_blank_lines_alone():
    for name, text in (("nin", "2 1\n\n\n\n"), ("mk", "1 2\n\n#\n\n\n"), ("cwd", "1\n2\n\n\n\n\n")):
        assert said(text, name) == ["ok"]


# What is wrong with them

G = "A title\n: rows\n{}\n: columns\n{}\n: end\n"
INI = "[clues]\ncolumns = {}\nrows = {}\n"


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        # parts that are missing, and one too many
        ("picross", "GRID\nROWS\n[ 1 ]\n", "$1: line 1: no line 'COLUMNS'"),
        ("picross", "# no grid\n\nGRID Two notes\n", "$1: line 3: no line 'ROWS' (and 1 more in this puzzle)"),
        ("picross", "GRID\nROWS\nCOLUMNS\n[ 1 ]\n", "$1: line 1: no clues of rows"),
        ("picross", "GRID\n[ 1 ]\nROWS\n[ 1 ]\nCOLUMNS\n[ 1 ]\n", "$1: line 2: '[ 1 ]' stands under no 'ROWS' or 'COLUMNS'"),
        ("picross", "GRID\nROWS\n[ 1 ]\nCOLUMNS\n[ 1 ]\nROWS\n[ 1 ]\n", "$1: line 6: a second 'ROWS'; each puzzle starts with a line 'GRID'"),
        ("picross", "GRID\nROWS\n[ 1 ]\nCOLUMNS\n[ 1 ]\nGRILL Beaf\n", "$1: line 6: 'GRILL Beaf' has no place here; expected GRID, ROWS, COLUMNS or a clue such as [ 2 1 ]"),
        ("pynogram", "[clues]\nrows = 1\n", "$1: line 1: no 'columns =' under [clues]"),
        ("pynogram", "# nothing\n[clues]\n", "$1: line 1: no 'columns =' under [clues] (and 1 more in this puzzle)"),
        ("pynogram", "[clues]\nrows =\n\ncolumns = 1\n", "$1: line 1: no clues of rows"),
        ("pynogram", "[clues]\nrows = 1\ncolumns = 1\nrows = 1\n", "$1: line 4: a second 'rows'; such a file holds one puzzle"),
        ("pynogram", "[clues]\n1\nrows = 1\ncolumns = 1\n", "$1: line 2: '1' stands behind no 'columns =' or 'rows ='"),
        ("pynogram", "rows = 1\n[clues]\ncolumns = 1\n", "$1: line 1: 'rows' stands under no [clues]"),
        ("nonogrid", '[clues]\nrows = """\n1\n"""\n', "$1: line 1: no 'columns =' under [clues]"),
        ("nonogrid", '[clues]\nrows = "1"\n1\ncolumns = "1"\n', "$1: line 3: '1' stands behind no 'columns =' or 'rows ='"),
        ("nonogrid", '[clues]\nrows = "1" 1\ncolumns = "1"\n', "$1: line 2: '1' stands behind no 'columns =' or 'rows ='"),
        ("nonogrid", '[clues]\ncolumns = "1"\nrows = """\n1\n', '$1: line 3: the text that starts here has no """ at its end'),
        ("nonogrid", '[clues]\ncolumns = "1\nrows = "1"\n', '$1: line 2: a text that is not ended by " on its line'),
        ("nonogrid", '[clues]\ncolumns = [1]\nrows = "1"\n', "$1: line 2: the clues of 'columns' stand in no quotes, such as \"\"\""),
        ("g", "A title\n:\n1\n:\n1\n", "$1: line 1: no line ':' for the end"),
        ("g", "A title\n:\n1\n", "$1: line 1: no line ':' for the columns"),
        ("g", "A title\n1\n", "$1: line 1: no line ':' for the rows"),
        ("g", ":\n:\n1\n:\n", "$1: line 1: no clues of rows"),
        ("mk", "1 1\n1\n1\n", "$1: line 1: no line '#' between the rows and the columns"),
        ("mk", "2 3\n1\n1\n1\n#\n1\n2\n", "$1: line 4: expected 2 clue lines for the 2 rows before '#', found 3: too many from '1' on (and 1 more in this puzzle)"),
        ("mk", "1 1\n1\n#\n", "$1: line 1: expected 1 clue lines for the 1 columns after '#', found 0"),
        ("cwd", "1\n2\n2\n1\n1\n", "$1: line 5: expected 1 rows, a blank line and 2 columns, found 3 clue lines"),
        ("cwd", "2\n3\n1\n1\n1\n\n2\n1\n", "$1: line 8: expected 2 rows, a blank line and 3 columns, found 3 and 2 clue lines"),
        ("cwd", "9\n9\n1\n\n1\n\n1\n\n1\n\n1\n", "$1: line 11: expected 9 rows, a blank line and 9 columns, found 5 clue lines in 5 parts"),
        ("cwd", "1\n1\n", "$1: line 1: expected 1 rows, a blank line and 1 columns, found 0 clue lines"),
        # sizes
        ("mk", "3\n1\n", "$1: line 1: '3' is not a height and a width, such as '25 25'"),
        ("mk", "0 5\n#\n", "$1: line 1: a board of 5x0; sides are 1 to 9999"),
        ("cwd", "3 4\n1\n", "$1: line 1: '3 4 1' is not a height and a width, a number on each of the first two lines"),
        ("cwd", "\n\n7\n", "$1: line 3: '7' is not a height and a width, a number on each of the first two lines"),
        ("cwd", "1000000000\n2\n1\n", "$1: line 1: a board of 2x1000000000; sides are 1 to 9999"),
        ("picross", "GRID\nROWS\n" + "[ 1 ]\n" * 10_000 + "COLUMNS\n[ 1 ]\n", "$1: line 10002: more than 9999 rows"),
        ("pynogram", INI.format("1", "1," * 10_000), "$1: line 3: more than 9999 rows"),
        ("g", G.format("1", "1\n" * 10_000), "$1: line 10004: more than 9999 columns (and 1 more in this puzzle)"),
        # clues that cannot be
        ("picross", "GRID\nROWS\n[ 1 1 ]\n[ 2 ]\nCOLUMNS\n[ 2 ]\n[ 2 ]\n", "$1: line 3: the clue of row 1 needs 3 cells, the row has 2"),
        ("pynogram", INI.format("1, 2\n  1", "1"), "$1: line 2: the clue of column 2 needs 2 cells, the column has 1"),
        ("nonogrid", '[clues]\nrows = """\n1\n\n3"""\ncolumns = "2"\n', "$1: line 5: the clue of row 2 needs 3 cells, the row has 1"),
        ("g", G.format("1\n", "2\n"), "$1: line 1: the columns count 2 black cells, the rows 1; both must be the same"),
        ("cwd", "1\n1\n1\n\n0\n", "$1: line 1: the columns count 0 black cells, the rows 1; both must be the same"),
        # words that are no numbers
        ("picross", "GRID\nROWS\n[ a ]\nCOLUMNS\n[ 1 ]\n", "$1: line 3: clue 'a' is not a number"),
        ("picross", "GRID\nROWS\n[ 1\nCOLUMNS\n[ 1 ]\n", "$1: line 3: '[ 1' is no clue in brackets, such as [ 2 1 ]"),
        ("picross", "GRID\nROWS\n[\nCOLUMNS\n[ 1 ]\n", "$1: line 3: '[' is no clue in brackets, such as [ 2 1 ]"),
        ("picross", "GRID\nROWS\n[ 1 0 ]\nCOLUMNS\n[ 1 ]\n", "$1: line 3: a 0 beside other block lengths; a 0 alone is an empty clue"),
        ("pynogram", INI.format("1,,1", "1"), "$1: line 2: '1,,1' has a comma without a clue; an empty clue is written 0"),
        ("pynogram", INI.format("''", "1"), "$1: line 2: \"''\" has a comma without a clue; an empty clue is written 0"),
        ("pynogram", INI.format("'1", "1"), "$1: line 2: clue \"'1\" is not a number"),
        ("g", G.format("1.5", "1"), "$1: line 3: clue '1.5' is not a number"),
        ("mk", "1 1\n-1\n#\n1\n", "$1: line 2: clue '-1' is negative; block lengths are 1 or more"),
        ("cwd", "1\n1\nx\n\n1\n", "$1: line 3: clue 'x' is not a number"),
        # colours
        ("picross", "GRID\nROWS\n[ 1r ]\nCOLUMNS\n[ 1 ]\n", "$1: line 3: clue '1r' names a colour; only black and white puzzles are read"),
        ("pynogram", "[colors]\n  g=(0, 204, 0) %\n[clues]\ncolumns =\n  2g 1r\nrows = 1g\n", "$1: line 5: clue '2g 1r' names a colour; only black and white puzzles are read (and 1 more in this puzzle)"),
        ("nonogrid", "[clues]\nrows = '''\n15r, 15r'''\ncolumns = '1'\n", "$1: line 3: clue '15r' names a colour; only black and white puzzles are read (and 1 more in this puzzle)"),
        ("g", "Raketa\n#deklarace barev\n   r:&  red    cervena\n:\n1 1r 1\n:\n1\n:\n", "$1: line 5: clue '1 1r 1' has colours or triangles; only black and white puzzles are read"),
        ("g", "#d\n @:@  #0000FF\n:radky:\n5@ \n:sloupce:\n1\n:konec\n", "$1: line 4: clue '5@' has colours or triangles; only black and white puzzles are read"),
        ("g", "#d\n  /:a   white/black  <<\n:\n/4\n:\n1\n:\n", "$1: line 4: clue '/4' has colours or triangles; only black and white puzzles are read"),
        ("g", "\n#Triddler\n\n#d\n 1:* yellow\n: ==\n6\n: --\n1\n", "$1: line 2: a triddler; only grids are read"),
        ("g", "A colour\n: rows\n1m\n: columns\n1\n:\n", "$1: line 3: clue '1m' names a colour; only black and white puzzles are read"),
        # bytes
        ("picross", b"GRID\nROWS\n[ \xff ]\nCOLUMNS\n[ 1 ]\n", "$1: line 3: bytes that are not text; expected block lengths"),
        ("g", b":\n\xff\n:\n1\n:\n", "$1: line 2: bytes that are not text; expected block lengths"),
        ("picross", "GRID\nROWS\n[" + "1 " * 40_000 + "]\nCOLUMNS\n[ 1 ]\n", "$1: line 3: a clue of over 65536 characters"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_place(name, data, fault):
    assert only_fault(data, name) == fault


def test_a_fault_costs_no_other_grid():
    text = "GRID\nROWS\n[ 2 ]\nCOLUMNS\n[ 1 ]\nGRID\nROWS\n[ 1 ]\nCOLUMNS\n[ 1 ]\n"
    assert said(text, "picross") == ["$1: line 3: the clue of row 1 needs 2 cells, the row has 1", "ok"]


@pytest.mark.parametrize(
    ("name", "data", "remarks"),
    [
        ("picross", b"GRID \xe9\nROWS\n[ 1 ]\nCOLUMNS\n[ 1 ]\n", ["$1: line 1: the name has bytes that are not UTF-8 text"]),
        ("pynogram", "[meta]\nby = me\n[clues]\nrows = 1\ncolumns = 1\nmood = 1\n", ["$1: line 1: the section 'meta' is not kept", "$1: line 6: 'mood' is not kept"]),
        ("nonogrid", "[clues]\nmood = '''\nx\n'''\nrows = '1'\ncolumns = '1'\n", ["$1: line 2: 'mood' is not kept"]),
    ],
)  # fmt: skip
def test_what_is_left_out_of_a_good_puzzle_is_said(name, data, remarks):
    assert said(data, name) == ["ok", *(f"remark: {remark}" for remark in remarks)]


# What is of no format, and looks like one

CWD = "looks most like cwd (height, width, rows, a blank line, columns), but its first two lines, {} and {}, are not its height and its width"


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("2\n2 1\n\n1\n2\n1\n", CWD.format("'2'", "'2 1'")),
        ("1 1\n1\n\n1\n1\n1\n", CWD.format("'1 1'", "'1'")),
        ("1\n1\n\n1\n1\n1\n", CWD.format("'1'", "'1'")),
        ("# columns first\n1 1 1\n9\n\n\n1\n", CWD.format("'1 1 1'", "'9'")),
        ("2 2\n1\n1\n1\n1\n1\n", "looks most like nin, but '2 2' asks for 4 clue lines and there are 5"),
        ("25 25\n", "looks most like nin, but '25 25' asks for 50 clue lines and there are 0"),
        ("2 2\n1\nx\n", "looks most like nin, but 'x' is no clue"),
        ("1 2 3\n1\n2\n", "has 3 lines of numbers and neither a size nor headings: nothing says which are the rows"),
        ("1\n1\n", "has 2 lines of numbers and neither a size nor headings: nothing says which are the rows"),
        ("1\n", "has 1 line of numbers and neither a size nor headings: nothing says which are the rows"),
        ("GRID Two notes\n\n", "looks most like picross, but has no line 'ROWS'"),
        ("The bird\nGRID one\nROWS\n1\n", "looks most like picross, but has no line 'COLUMNS'"),
        ("Bicykl\n:\n3\n5\n", "looks most like g, but has 1 of the lines with ':' before the rows and before the columns"),
        ("ROWS:\n3\n1 1\nCOLUMNS:\n2\n", "looks most like hv, but has 'ROWS:' and 'COLUMNS:' where that has H and V"),
        ("Rows:\n3\n1 1\n", "has a line 'Rows:', but none for the columns"),
        ("columns: 3\n", "has a line 'columns: 3', but none for the rows"),
        ("columns = 3\nrows = 1, 1, 1\n", "looks most like pynogram, but has no line '[clues]'"),
        ("// C\nint x[] = {{1}}\n", "looks most like lists, but 'int x[] = {{1}}' starts neither with a bracket nor with a name such as 'rows ='"),
        ("Dear Sir or Madam\n", None),
        ("#\n", None),
    ],
)  # fmt: skip
def test_what_is_of_no_format_is_told_what_it_looks_most_like(text, like):
    with pytest.raises(formats.UnknownFormatError) as raised:
        formats.detect(text.encode())
    if like:
        assert str(raised.value) == f"the content is of no known format; it {like}"
    else:
        assert str(raised.value).startswith("the content is of no known format; known are cwd, ")


@given(text=st.text(alphabet="01 \n:#=,[]{}GRIDOWScolumnsrows", max_size=40))
def test_what_is_of_no_format_is_told_in_one_line(text):
    try:
        told = formats.detect(text.encode())
    except formats.FormatError as error:
        told = str(error)
    assert told.isprintable()  # no line end among them
    assert 0 < len(told) < 400
