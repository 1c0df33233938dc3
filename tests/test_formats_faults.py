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
from nonobot.protocol.clues import Fault, FaultKind
from nonobot.protocol.formats.base import MOST_REMARKS, MOST_SIDE
from nonobot.protocol.formats.many import MOST_DEPTH
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


# Large files; golden/messages.txt has a small one for everything that can be wrong

XML = "<puzzleset>\n<puzzle>\n{}\n</puzzle>\n</puzzleset>\n"
CLUES = (
    '<clues type="rows"><line><count>1</count></line></clues>'
    '<clues type="columns"><line><count>1</count></line></clues>\n'
)


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        ("hv", "H\n" + "1\n" * 10_000 + "V\n1\n", "$1: line 10001: more than 9999 rows"),
        ("letters", "A\n" + "A " * 10_000, "$1: line 2: more than 9999 clues"),
        ("oneline", "1-" + "1:" * 10_000 + "1", "$1: line 1: more than 9999 clues"),
        ("lists", "[[1]]\n[" + "[1]," * 10_000 + "]", "$1: line 2: more than 9999 columns"),
        ("taai", "$1\n" + "1\n" * 20_000, "$1: line 1: a board of 10000x10000; sides are 1 to 9999"),
        ("webpbn", XML.format("<solution><image>" + "|X|" * 15_000 + "</image></solution>"), "$1: line 3: an image of more than 9999 rows"),
        ("webpbn", XML.format("<solution><image>|" + "X|" * 10_000 + "</image></solution>"), "$1: line 2: a board of 10000 rows; sides are 1 to 9999"),
        ("webpbn", XML.format("<solution><image>|" + "X" * 10_000 + "|</image></solution>"), "$1: line 2: a board of 10000 columns; sides are 1 to 9999"),
        ("webpbn", XML.format('<clues type="rows">' + "<line/>" * 10_000 + "</clues>"), "$1: line 3: more than 9999 rows"),
        ("lists", "[" * 100_000, f"$1: line 1: lists nested more than {MOST_DEPTH} deep"),
        ("webpbn", "<puzzleset>" + "<a>" * 100_000, "$1: line 1: elements nested more than 16 deep"),
        ("nin", "1 1\n" + "1," * 40_000 + "\n1\n", "$1: line 2: a clue of over 65536 characters"),
        ("lists", "[[" + "1," * 10_000 + "]] [[1]]", "$1: line 1: a clue of over 9999 numbers"),
        ("picross", "GRID\nROWS\n" + "[ 1 ]\n" * 10_000 + "COLUMNS\n[ 1 ]\n", "$1: line 10002: more than 9999 rows"),
        ("pynogram", "[clues]\ncolumns = 1\nrows = " + "1," * 10_000, "$1: line 3: more than 9999 rows"),
        ("g", ": rows\n1\n: columns\n" + "1\n" * 10_000 + ": end\n", "$1: line 10003: more than 9999 columns"),
        ("picross", "GRID\nROWS\n[" + "1 " * 40_000 + "]\nCOLUMNS\n[ 1 ]\n", "$1: line 3: a clue of over 65536 characters"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_place(name, data, fault):
    assert only_fault(data, name) == fault


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
        (lambda data, name: [Fault(FaultKind.FORMAT, "two\nlines")], "not one short line"),
        (lambda data, name: (_ for _ in ()).throw(TimeoutError), "TimeoutError"),
    ],
)
def test_this_check_finds_tracebacks_and_lines_that_are_none(read, said, monkeypatch):
    monkeypatch.setattr(formats, "read", read)
    assert [said in what for what in problems(2, 1, Counter())] == [True, True]
