"""What a fault says."""

from __future__ import annotations

import pytest

from nonobot.protocol.clues import Fault, FaultKind, shown


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault(FaultKind.FORMAT, "what", 7, 345), "$7: line 345: what"),
        (Fault(FaultKind.FORMAT, "what", 7), "$7: what"),
        (Fault(FaultKind.FORMAT, "what", None, 345), "line 345: what"),
        (Fault(FaultKind.FORMAT, "what"), "what"),
        (Fault(FaultKind.FORMAT, "what", 0, 1), "$0: line 1: what"),
        (Fault(FaultKind.FORMAT, "what", 7, 345, more=2), "$7: line 345: what (and 2 more in this puzzle)"),
    ],
)
def test_a_fault_says_puzzle_line_and_what(fault, text):
    assert str(fault) == text


def test_a_fault_keeps_its_kind_and_words_when_it_gets_its_place():
    fault = Fault(FaultKind.CLUE_TOO_LONG, "too long").at(3, 4)
    assert fault.kind is FaultKind.CLUE_TOO_LONG
    assert str(fault) == "$3: line 4: too long"


def test_shown_text_is_quoted_escaped_and_cut():
    assert shown("2x") == "'2x'"
    assert shown("a\tb\x1b\0") == r"'a\tb\x1b\x00'"
    assert shown("x" * 40) == "'" + "x" * 40 + "'"
    assert shown("x" * 41) == "'" + "x" * 40 + "...'"
    assert shown("x" * 41, limit=3) == "'xxx...'"


def test_a_fault_stands_in_the_place_of_its_puzzle_or_belongs_to_none():
    assert Fault(FaultKind.MISSING_LINES, "what", 0).is_in_place
    assert not Fault(FaultKind.STRAY_TEXT, "what", line=1).is_in_place
    assert not Fault(FaultKind.EXTRA_LINES, "what", 7).is_in_place
