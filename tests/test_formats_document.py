"""docs/formats.md: its examples are read as the formats that they stand for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nonobot.harness.pictures.image_cells import read_cells
from nonobot.protocol import Puzzle, Record, formats

PAGE = (Path(__file__).parent.parent / "docs" / "formats.md").read_text(encoding="utf-8")
SMILE = Puzzle(rows=((2,), (), (1, 1)), columns=((1,), (1,), (1,), (1,)))

SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL))
EXAMPLES = [
    (name, block)
    for name, section in SECTIONS.items()
    for block in re.findall(r"^```text\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
]


def test_every_format_has_a_section_with_an_example_and_a_line_in_the_table():
    assert {name for name, _ in EXAMPLES} == {format.name for format in formats.formats()}
    for format in formats.formats():
        (cells,) = re.findall(rf"^\| \[`{format.name}`\]\(#{format.name}\) \|(.*)\|$", PAGE, re.MULTILINE)
        extensions, many, kept = (cell.strip() for cell in cells.split("|"))
        assert tuple(re.findall(r"`([.\w]+)`", extensions)) == format.extensions
        assert many == ("many" if format.several else "one")
        words = set(re.findall(r"\w+", kept))
        assert format.holds == words & {*Record.__dataclass_fields__}


def test_the_bitmap_is_the_puzzle_of_the_page():
    (text,) = re.findall(r"^```text\n(P1\n.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert Puzzle.from_grid(read_cells(text.encode()).cells.astype(int)) == SMILE


@pytest.mark.parametrize(("name", "text"), EXAMPLES)
def test_an_example_is_the_puzzle_of_the_page(name, text):
    assert formats.detect(text.encode()) == name
    (record,) = formats.read(text.encode(), size=(4, 3))
    assert isinstance(record, Record), str(record)
    assert record.puzzle == SMILE
    assert record.remarks == ()


@pytest.mark.parametrize("name", ["non", "grid", "webpbn", "picross"])
def test_the_first_example_shows_all_that_the_format_keeps(name):
    text = next(block for one, block in EXAMPLES if one == name)
    (record,) = formats.read(text.encode())
    missing = {field for field in formats.format_named(name).holds if getattr(record, field) is None}
    assert missing <= {"description"}
