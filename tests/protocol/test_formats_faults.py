# ruff: noqa: E501 - the tables have a case on each line
"""Bad input to every file format: each fault with its place, nothing raised; and files as other solvers write them."""

import contextlib
import random
from collections import Counter
from itertools import islice

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nonobot.protocol import Puzzle, Record, formats
from nonobot.protocol.clues import Fault, FaultKind
from nonobot.protocol.formats.base import MOST_WARNINGS
from nonobot.protocol.formats.lists import MOST_DEPTH
from tests.helpers.mutated_formats import problems, read_anything

NAMES = [format.name for format in formats.formats()]
DOT = Puzzle.unchecked(rows=((1,),), columns=((1,),))

FIVE = Puzzle.unchecked(columns=((3, 1), (1, 1, 1), (1, 1, 1), (1, 3)), rows=((4,), (1,), (4,), (1,), (4,)))
"""The digit that pynogram's documentation draws."""


def said(data: bytes | str, name: str | None) -> list[str]:
    """Return what reading comes to: 'ok' for a puzzle, with its warnings, and the words of a fault."""
    lines = []
    for found in formats.read(data if isinstance(data, bytes) else data.encode(), name):
        lines.append("ok" if isinstance(found, Record) else str(found))
        if isinstance(found, Record):
            lines += [f"warning: {warning}" for warning in found.warnings]
    return lines


def only_fault(data: bytes | str, name: str | None) -> str:
    (line,) = said(data, name)
    assert line != "ok"
    return line


# Large files; golden/messages.txt has a small one for everything that can be wrong

XML = "<puzzleset>\n<puzzle>\n{}\n</puzzle>\n</puzzleset>\n"


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        ("hv", "H\n" + "1\n" * 10_000 + "V\n1\n", "$1: line 10001: more than 9999 rows"),
        ("letters", "A\n" + "A " * 10_000, "$1: line 2: more than 9999 columns"),
        ("oneline", "1-" + "1:" * 10_000 + "1", "$1: line 1: more than 9999 columns"),
        ("lists", "[[1]]\n[" + "[1]," * 10_000 + "]", "$1: line 2: more than 9999 columns"),
        ("taai", "$1\n" + "1\n" * 20_000, "$1: line 1: board size 10000x10000: width and height must be 1 to 9999"),
        ("webpbn", XML.format("<solution><image>" + "|X|" * 15_000 + "</image></solution>"), "$1: line 3: an image of more than 9999 rows"),
        ("webpbn", XML.format("<solution><image>|" + "X|" * 10_000 + "</image></solution>"), "$1: line 2: 10000 rows are too many; the limit is 9999"),
        ("webpbn", XML.format("<solution><image>|" + "X" * 10_000 + "|</image></solution>"), "$1: line 2: 10000 columns are too many; the limit is 9999"),
        ("webpbn", XML.format('<clues type="rows">' + "<line/>" * 10_000 + "</clues>"), "$1: line 3: more than 9999 rows"),
        ("lists", "[" * 100_000, f"$1: line 1: lists nested more than {MOST_DEPTH} deep"),
        ("webpbn", "<puzzleset>" + "<a>" * 100_000, "$1: line 1: elements nested more than 16 deep"),
        ("nin", "1 1\n" + "1," * 40_000 + "\n1\n", "$1: line 2: a clue of over 65536 characters"),
        ("lists", "[[" + "1," * 10_000 + "]] [[1]]", "$1: line 1: a clue of over 9999 numbers"),
        ("picross", "GRID\nROWS\n" + "[ 1 ]\n" * 10_000 + "COLUMNS\n[ 1 ]\n", "$1: line 10002: more than 9999 rows"),
        ("pynogram", "[clues]\ncolumns = 1\nrows = " + "1," * 10_000, "$1: line 3: more than 9999 rows"),
        ("g", ": rows\n1\n: columns\n" + "1\n" * 10_000 + ": end\n", "$1: line 10003: more than 9999 columns"),
        (None, "." * 10_000, "$1: line 1: a row of 10000 cells is too long; the limit is 9999"),
        (None, ".\n" * 10_001, "$1: line 1: 10000 rows are too many; the limit is 9999"),
        ("picross", "GRID\nROWS\n[" + "1 " * 40_000 + "]\nCOLUMNS\n[ 1 ]\n", "$1: line 3: a clue of over 65536 characters"),
    ],
)  # fmt: skip
def test_each_error_has_its_position(name, data, fault):
    assert only_fault(data, name) == fault


def test_remarks_on_one_puzzle_are_bounded_and_counted():
    keys = "".join(f"key{number} x\n" for number in range(1000))
    _, *warnings = said(f"{keys}width 1\nheight 1\nrows\n1\ncolumns\n1\n", "non")
    assert len(warnings) == MOST_WARNINGS
    assert warnings[-1] == "warning: $1: line 20: 'key19' is dropped (and 980 more in this puzzle)"


def test_a_dtd_is_neither_fetched_nor_missed(tmp_path):
    dtd = tmp_path / "pbn.dtd"
    dtd.write_text("<!ENTITY secret 'of the DTD'>")
    elements = "<title>&copy; &eacute; &secret; end</title><solution><image>X</image></solution>"
    data = f'<!DOCTYPE pbn SYSTEM "{dtd.as_uri()}"><puzzle>{elements}</puzzle>'
    (record,) = formats.read(data.encode())
    assert record.title == "\u00a9 \u00e9 &secret; end"
    assert record.puzzle == DOT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "start", "filling"),
    [
        ("nin", b"9999 9999\n1\n", b"\n"),
        ("nin", b"9999 9999\n", b"1\n"),
        ("hv", b"H\n", b"\n"),
        ("hv", b"H\n", b"x\n"),
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
        ("pynogram", b"[clues]\nrows =\n", b","),
        ("pynogram", b"", b"[a]\n"),
        ("nonogrid", b'[clues]\nrows = """', b"1\n"),
        ("g", b"#d\n", b"a:a\n"),
        ("g", b":\n", b"\n"),
        ("mk", b"9999 9999\n", b"1\n"),
        ("cwd", b"9999\n9999\n", b"1\n\n"),
    ],
)
def test_half_a_megabyte_of_blanks_is_one_error(name, start, filling):
    only_fault(start + filling * ((1 << 19) // len(filling)), name)


@pytest.mark.parametrize("filling", ["%\n", "#\n", "\n[", "\n'", "\n=", " \n(", "1\n", "a\n", "a:\n"])
def test_format_detection_does_not_take_quadratic_time(filling):
    with pytest.raises(formats.FormatError, match="unknown format"):
        [*formats.read(b"a\n" + filling.encode() * (1 << 16))]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hv", f"H\n1\nV\n1\na{' ' * 300_000}!\n"),
        ("hv", f"H\n1\nV\n1\n[{' ' * 300_000}a{' ' * 300_000}!\n"),
        ("g", ": rows\n" + ("1" * 65_000 + "xx\n") * 4 + ": columns\n1\n: end\n"),
        ("picross", f"GRID{' ' * 300_000}\0\nROWS\n[1]\n"),
        ("nonogrid", f"[clues]\nrows = 1\ncolumns = 1\n[colors]\nx = {'(' * 300_000}\n"),
        (None, f"a{' ' * 300_000}!\n"),
    ],
)
def test_a_line_is_read_in_a_time_that_grows_with_its_length(name, text):
    with contextlib.suppress(formats.FormatError):
        assert [*formats.read(text.encode(), name)]


@pytest.mark.parametrize("name", [None, *NAMES])
@settings(max_examples=50)
@given(data=st.binary(max_size=200) | st.text("01 \n:#=,[]{}GRIDOWScolumnsrows", max_size=40).map(str.encode))
@example(b"\xef\xbb\xbf")
@example(b"\x1c")
@example(b"\0" * 50)
@example(b"\xff\xfe$\x001\x00")
@example(b'height 1\nrows\n1\ncolumns\n1\ngoal ""\n')
def test_random_bytes_raise_only_the_expected_error(name, data):
    read_anything(data, name, Counter())


@pytest.mark.parametrize(("seed", "number"), [(7, 1500), pytest.param(1, 100_000, marks=pytest.mark.nightly)])
def test_damaged_samples_are_read_with_a_line_for_each_fault(seed, number):
    counts: Counter[str] = Counter()
    assert not any(islice(problems(random.Random(seed), counts), number))
    kinds = ("puzzles", "faults and warnings", "files of no format")
    assert all(counts[kind] > number // 100 for kind in kinds), counts


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda data, name: [1 / 0], "ZeroDivisionError"),
        (lambda data, name: [Fault(FaultKind.FORMAT, "two\nlines")], "not one short line"),
        (lambda data, name: (_ for _ in ()).throw(TimeoutError), "TimeoutError"),
    ],
)
def test_the_fuzz_check_detects_exceptions_and_multiline_messages(read, said, monkeypatch):
    monkeypatch.setattr(formats, "read", read)
    assert [said in problem for problem in islice(problems(random.Random(1), Counter()), 2)] == [True, True]


# Files as other solvers write them and their documentation shows them


def puzzles(text: str) -> list[Puzzle]:
    """Return the puzzles of a file whose format its content says; none of them has a fault or a warning."""
    found = list(formats.read(text.encode()))
    assert all(isinstance(record, Record) and not record.warnings for record in found), [*map(str, found)]
    return [record.puzzle for record in found]


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


def test_picross_solver_files_are_read():
    first, second = formats.read(PICROSS.encode())
    assert (first.title, second.title) == ('"Dot" (Picross, Normal mode, level 11-G)', None)
    assert puzzles(PICROSS) == [
        Puzzle.unchecked(rows=((), (1,)), columns=((1,), ())),
        Puzzle.unchecked(rows=((1,), (1,)), columns=((2,), ())),
    ]
    assert (first.line, second.line) == (2, 10)
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
def test_the_five_formats_of_pynogram_and_nonogrid_are_read(text):
    assert puzzles(text) == [FIVE]


def test_olsak_files_are_read():
    assert puzzles(OLSAK.format(rows=" 1\n\n 1 ", columns="1\t1\n\n0")) == [
        Puzzle.unchecked(rows=((1,), (), (1,)), columns=((1, 1), (), ()))
    ]
    text = "A dot\n#declaration of the colors:\n   m:%  blue   modra\n   0:   white\n   1:*  black\n: rows\n1\n: columns\n1\n: end\n"
    assert puzzles(text) == [DOT]


@pytest.mark.parametrize(
    "text",
    [
        "3\n2\n1\n0\n1\n\n1 1\n0\n",
        "3\n2\n1\n\n1\n\n1 1\n\n",
        "\n3\n\n2\n\n1\n0\n\n1\n\n\n1 1\n\n0\n\n\n",
        "3\r\n2\r\n1\r\n0\r\n1\r\n\r\n1 1\r\n0",
        "3 2\n1\n\n1\n# columns\n1 1\n0\n",
        "3 2\n1\n\n0\n\n1\n\n#\n1 1\n\n",
        "# Title: nin has the width first\n#\n\n2 3\n1\n0\n1\n1 1\n0\n",
    ],
)
def test_blank_lines_are_space_or_empty_clues_by_the_size(text):
    assert puzzles(text) == [Puzzle.unchecked(rows=((1,), (), (1,)), columns=((1, 1), ()))]
