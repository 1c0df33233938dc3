# ruff: noqa: E501 - the tables have a case on each line
"""Files as other solvers write them and their documentation shows them; what is wrong with them; what is like them."""

from __future__ import annotations

import tomllib
from configparser import RawConfigParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.protocol import Puzzle, Record, formats
from tests.test_formats_faults import said

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


# What is of no format, and looks like one


@given(text=st.text(alphabet="01 \n:#=,[]{}GRIDOWScolumnsrows", max_size=40))
def test_what_is_of_no_format_is_told_in_one_line(text):
    try:
        told = formats.detect(text.encode())
    except formats.FormatError as error:
        told = str(error)
    assert told.isprintable()  # no line end among them
    assert 0 < len(told) < 400
