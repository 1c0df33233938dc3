"""Faults of a TAAI batch: each is named with its place, and costs no other puzzle."""

from __future__ import annotations

import pytest

from nonobot.protocol import Fault, Puzzle, format_puzzle
from nonobot.protocol.batch import MOST_LINE_BYTES
from nonobot.protocol.clues import FaultKind
from tests.test_batch import GOOD_3, facts, read

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
    (b"2\n%b\n\n2\n1\n1\n" % (b"9" * 4000), "TOO_LARGE_NUMBER", f"line 8: clue '{'9' * 40}...' is longer than"),
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
def test_each_fault_is_named_with_its_place_and_costs_no_other_puzzle(lines, kind, message):
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
    place, what = message.split(": ", 1)
    if place == "line {next}":
        return f"line {header + 1 + len(lines.splitlines())}: {what}"
    return f"line {int(place.removeprefix('line ')) - 6 + header}: {what}"


@pytest.mark.parametrize(
    ("text", "place", "what", "more"),
    [
        (b"$4\nx\n-1\n\n2 0\n1\n1\n", (4, 2), "clue 'x' is not a number", 2),
        (b"$4\nx\n", (4, 2), "expected 6 clue lines for a 3x3 board, found 1", 1),
        (b"$4\n1\n1\n", (4, 3), "expected 6 clue lines for a 3x3 board, found 2; perhaps --size 1x1", 0),
        (b"$0\n1\n\n\n1\n1\n", (0, 6), "expected 6 clue lines for a 3x3 board, found 5", 0),
        (b"$1\n\x1b[31mred\n1\n1\n1\n1\n1\n", (1, 2), "clue '\\x1b[31mred' is not a number", 0),
        (b"$1\n1\n1\n1\n1\n1\n%b\n" % (b"x" * 41), (1, 7), f"clue '{'x' * 40}...' is not a number", 0),
        (b"$1\n1\n1\n1\n1\n1\n%b\n" % (b"x" * 40), (1, 7), f"clue '{'x' * 40}' is not a number", 0),
    ],
)
def test_missing_lines_or_else_the_first_fault_is_named_and_the_others_are_counted(text, place, what, more):
    (entry,) = read(text)
    assert (entry.number, entry.line, entry.more, entry.is_in_place) == (*place, more, True)
    others = f" (and {more} more in this puzzle)" if more else ""
    assert str(entry) == f"${place[0]}: line {place[1]}: {what}{others}"


def test_a_fault_of_no_line_or_no_puzzle_says_what_there_is():
    assert str(Fault(FaultKind.FORMAT, "what", 7)) == "$7: what"
    assert str(Fault(FaultKind.FORMAT, "what")) == "what"


def test_extra_lines_are_left_out_said_once_and_cost_no_puzzle():
    text = format_puzzle(1, GOOD_3) + b"3\n3\n\n3\n" + format_puzzle(2, GOOD_3)
    first, extra, second = read(text)
    assert (first.puzzle, second.puzzle) == (GOOD_3, GOOD_3)
    assert (extra.kind.name, extra.is_in_place) == ("EXTRA_LINES", False)
    assert str(extra) == (
        "$1: line 8: '3' comes after the 6 clue lines of a 3x3 board and is ignored; check --size"
    )


def test_stray_text_before_the_first_puzzle_is_said_once():
    stray, entry = read(b"\n# questions\n1 2 3\n" + format_puzzle(1, GOOD_3))
    assert (stray.kind.name, stray.is_in_place, entry.puzzle) == ("STRAY_TEXT", False, GOOD_3)
    assert str(stray) == "line 2: '# questions' is before the first '$'; expected '$1'"
    [alone] = read(b"hello", None)
    assert str(alone) == "line 1: 'hello' is before the first '$'; expected '$1'"


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
