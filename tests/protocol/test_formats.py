"""File formats: the same puzzle in all of them, what each one holds, which one a file has."""

import ast
import io
import json
import re
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.harness.pictures.image_cells import read_cells
from nonobot.protocol import PartialGrid, Puzzle, Record, Solution, formats
from nonobot.protocol.clues import Fault
from nonobot.protocol.puzzle import TEXT_FIELDS
from tests.helpers.boards import digits, grids
from tests.helpers.pictured import LETTER_P, P_PUZZLE, cells_from
from tests.helpers.places import PUZZLES, REPOSITORY
from tests.helpers.strict_readers import READERS

NAMES = [format.name for format in formats.formats()]
NAMES_OF_SEVERAL = [format.name for format in formats.formats() if format.several]

PICTURE_OF_P = Solution(cells_from(LETTER_P))
SEVERAL = [
    Puzzle.unchecked(rows=((1,), (), (1,)), columns=((1, 1), (), ())),
    Puzzle.unchecked(rows=((1,), (1,), (5,), (1,), (1,)), columns=((1,), (1,), (5,), (1,), (1,))),
    Puzzle.unchecked(rows=((1,), (1,)), columns=((1,), (1,))),
]

MODULES = (REPOSITORY / "protocol/formats").glob("[a-z]*.py")
PAGES = REPOSITORY / "docs"
PAGE = (PAGES / "formats.md").read_text(encoding="utf-8")
SMILE = Puzzle(rows=((2,), (), (1, 1)), columns=((1,), (1,), (1,), (1,)))

SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
EXAMPLES = [
    (name, block)
    for name, section in SECTIONS.items()
    for block in re.findall(r"^```text\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
]


def read(name: str, size: tuple[int, int] | None = None) -> list[formats.Found]:
    return list(formats.read((PUZZLES / name).read_bytes(), size=size))


def only(name: str, size: tuple[int, int] | None = None) -> Record:
    (record,) = read(name, size)
    assert isinstance(record, Record), str(record)
    return record


@pytest.mark.parametrize("file", sorted(path.name for path in PUZZLES.glob("p*")))
def test_the_sample_letter_p_is_the_same_puzzle_in_every_format(file):
    record = only(file, (8, 11))
    assert record.puzzle == P_PUZZLE
    assert record.warnings == ()


def test_both_samples_exist_in_every_format_with_their_metadata():
    for start, wanted in (("p", NAMES), ("several", NAMES_OF_SEVERAL)):
        files = [path for path in PUZZLES.iterdir() if path.name.startswith(start + ".")]
        assert {formats.detect(path.read_bytes()) for path in files} == set(wanted)
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


@pytest.mark.parametrize("path", sorted(PUZZLES.iterdir()), ids=lambda path: path.name)
def test_the_extension_of_every_sample_matches_its_content(path):
    format = formats.by_extension(path.name)
    assert format
    assert format.name == formats.detect(path.read_bytes())


@pytest.mark.parametrize("file", sorted(path.name for path in PUZZLES.glob("several*")))
def test_several_puzzles_are_read_in_order_with_numbers_and_lines(file):
    records = read(file)
    assert [record.puzzle for record in records] == SEVERAL
    assert [record.number for record in records] == [1, 2, 3]
    lines = [record.line for record in records]
    assert lines == sorted(set(lines))
    assert lines[0] <= 5


@pytest.mark.parametrize(
    ("file", "row", "cells"),
    [
        ("p-partly.grid", 1, "0?111??0"),
        ("p-contradictory.grid", 3, "01111??0"),
        ("p.xml", 1, "0?111??0"),
        ("p.xml", 4, "011???10"),
    ],
)
def test_a_partly_solved_board_is_the_start_whether_it_can_be_solved_or_not(file, row, cells):
    start = only(file).start
    assert start is not None
    assert start.cells.shape == (11, 8)
    assert "".join("?01"[cell + 1] for cell in start.cells[row]) == cells


SPECIAL = ["rows", "====", ": x", "[grid]", '"quoted"', "&amp; &lt;", "<b>]]>", "$1", "a\nb", "#"]
TEXTS = st.none() | st.text(max_size=12) | st.sampled_from(SPECIAL)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Records with any of what a file may say."""
    cells = draw(grids())
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
    return Record(record.puzzle, **{name: getattr(record, name) for name in format.holds})


@given(record=records())
def test_written_puzzles_are_read_back_even_by_an_independent_strict_reader(record):
    for name in NAMES:  # drawing a record takes longer than writing and reading it
        written, kept = formats.write([record], name), kept_of(record, formats.format_named(name))
        assert formats.detect(written.data) == name
        assert list(formats.read(written.data, size=record.size)) == [kept]
        lost = kept != record
        assert any("cannot hold the" in warning.message for warning in written.warnings) == lost
        assert (written.count, written.faults) == (1, ())
        fields = {field: getattr(kept, field) for field in (*TEXT_FIELDS, "start", "solution")}
        expected = {field: value for field, value in fields.items() if value is not None}
        expected |= {field: value.numbers() for field, value in expected.items() if not isinstance(value, str)}
        expected |= {part: [[*clue] for clue in getattr(kept.puzzle, part)] for part in ("rows", "columns")}
        assert READERS[name](written.data.decode(), *[kept.size] if name == "taai" else []) == expected


@given(several=st.lists(records(), min_size=2, max_size=4))
def test_several_puzzles_in_lists_are_json_and_python(several):
    text = formats.write(several, "lists").data.decode()
    alone = [json.loads(formats.write([record], "lists").data) for record in several]
    assert json.loads(text) == ast.literal_eval(text) == alone


@given(name=st.sampled_from(NAMES_OF_SEVERAL), several=st.lists(records(), min_size=1, max_size=5))
def test_several_puzzles_are_read_again_in_their_order(name, several):
    format = formats.format_named(name)
    if not format.states_size:
        several = [record for record in several if record.size == (4, 4)]
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


def test_a_block_longer_than_the_alphabet_has_no_letter():
    long, alphabet = (Record(Puzzle.from_grid([[1] * length])) for length in (27, 26))
    written = formats.write([alphabet, long], "letters")
    assert [fault.message for fault in written.faults] == [
        "cannot be written as letters: a block of 27 cells; letters allows at most 26"
    ]
    assert list(formats.read(written.data)) == [alphabet]
    assert formats.write([long], "letters").data == b""


def test_the_taai_format_keeps_numbers_and_warns_that_it_has_no_size():
    square, flat = Record(SEVERAL[0], number=5), Record(P_PUZZLE, number=9)
    assert formats.write([square, square], "taai").data.startswith(b"$5\n1\t1\n")
    (warning,) = formats.write([flat], "taai").warnings
    assert str(warning) == "taai does not state the size of the boards; to be read with --size 8x11"
    (warning,) = formats.write([Record(puzzle) for puzzle in SEVERAL], "taai").warnings
    assert str(warning) == "taai does not state the sizes of the boards; to be read with --size auto"
    with pytest.raises(formats.FormatError, match="only square boards, not 3x3, 8x11"):
        formats.write([square, flat], "taai")
    official = Record(Puzzle.from_grid([[1] * 25] * 25))
    assert formats.write([official], "taai").warnings == ()


def test_no_puzzles_give_an_empty_file_and_one_line_identifies_taai():
    for name in NAMES:
        assert formats.write([], name) == formats.Written(b"", 0, (), ())
    for start in (b"$", b"\xef\xbb\xbf$1", b"\r\n \n $ 1\n", b"$one"):
        assert formats.detect_prefix(start) == "taai"
    for start in (b"", b"\n\n", b"8x11", b"# $1", b"<"):
        assert formats.detect_prefix(start) is None


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"h:\n1\nv:\n1\n", "hv"),
        (b"V\n1\nH\n1\n", "hv"),
        (b"H\nA A A A A A A A\n", "letters"),
        (b"H\n0 A A A A A A A A\n", "letters"),
        (b"V\n0 AAA\n", "letters"),
        (b"@ @\n@ @\n", "letters"),
        (b"0 0\n0 0\n", "letters"),
        (b":1-,1\n", "oneline"),
        (b"10 X 9\nrows", "grid"),
        ("3\u00d73\n".encode(), "grid"),
        (b"rows: [[1]]\ncolumns: [[1]]\n", "lists"),
        (b"# Python\nx = [[1]]; y = [[1]]\n", "lists"),
        (b"((1,),),((1,),)", "lists"),
        (b"rows\n", "non"),
        (b"rows 1\nwidth 1\n", "non"),
        (b"mood sunny\nwidth 1\nheight 1\nrows\n1\ncolumns\n1\n", "non"),
        (b"<html></html>", "webpbn"),
        (b"0\n", "letters"),
        (b"# by hand\nROWS\n[ 1 ]\n", "picross"),
        (b"GRID HEAP\nA A\n", "letters"),
        (b"1 2\n1\n1\n", "nin"),
        (b"# a\n#\n1 2\n1\n1\n", "nin"),
        (b"# a\n1 2\n1\n#\n1\n", "mk"),
        (b"# a\n1\n2\n1\n1\n", "cwd"),
        (b"2\n2\n2\n2\n\n2\n2\n", "cwd"),
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
def test_the_format_is_detected_from_the_content(data, name):
    assert formats.detect(data) == name


def test_a_format_can_be_forced():
    assert list(formats.read(b"A\nA\n", "letters")) == [Record(Puzzle.unchecked(((1,),), ((1,),)))]
    (fault,) = formats.read(b"A\nA\n", "nin")
    assert isinstance(fault, Fault)
    with pytest.raises(formats.FormatError, match="unknown format 'no such'; known are cwd, g, grid, hv"):
        formats.write([], "no such")


def test_a_stream_is_read_to_its_end_or_the_size_limit():
    class Slow(io.RawIOBase):
        def __init__(self) -> None:
            self.left = list(b"1:1-2")

        def read(self, size: int = -1) -> bytes:
            return bytes([self.left.pop(0)]) if self.left else b""

    assert list(formats.read(Slow())) == [Record(Puzzle.unchecked(((2,),), ((1,), (1,))))]

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


def test_every_format_is_in_the_table_and_every_extension_is_of_one_format():
    modules = [import_module(f"nonobot.protocol.formats.{path.stem}") for path in MODULES]
    declared = {id(value): value for module in modules for value in vars(module).values()}.values()
    assert sorted(value.name for value in declared if isinstance(value, formats.Format)) == NAMES
    extensions = [extension for format in formats.formats() for extension in format.extensions]
    assert len(set(extensions)) == len(extensions)
    assert formats.by_extension("PUZZLE.XML").name == "webpbn"
    assert formats.by_extension("puzzle") is None


def test_every_format_has_a_section_with_an_example_and_a_line_in_the_table():
    assert {name for name, _ in EXAMPLES} == {format.name for format in formats.formats()}
    for format in formats.formats():
        (cells,) = re.findall(rf"^\| \[`{format.name}`\]\(#{format.name}\) \|(.*)\|$", PAGE, re.MULTILINE)
        extensions, many, kept = (cell.strip() for cell in cells.split("|"))
        assert tuple(re.findall(r"`([.\w]+)`", extensions)) == format.extensions
        assert many == ("many" if format.several else "one")
        fields = set(re.findall(r"\w+", kept))
        assert format.holds == fields & {*Record.__dataclass_fields__}


def test_the_bitmap_is_the_puzzle_of_the_page():
    page = PAGES.joinpath("pictures.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```text\n(P1\n.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert Puzzle.from_grid(read_cells(text.encode()).cells.astype(int)) == SMILE


@pytest.mark.parametrize(("name", "text"), EXAMPLES)
def test_an_example_is_the_puzzle_of_the_page(name, text):
    assert formats.detect(text.encode()) == name
    (record,) = formats.read(text.encode(), size=(4, 3))
    assert isinstance(record, Record), str(record)
    assert record.puzzle == SMILE
    assert record.warnings == ()


@pytest.mark.parametrize("name", ["non", "grid", "webpbn", "picross"])
def test_the_first_example_shows_all_that_the_format_keeps(name):
    text = next(block for owner, block in EXAMPLES if owner == name)
    (record,) = formats.read(text.encode())
    missing = {field for field in formats.format_named(name).holds if getattr(record, field) is None}
    assert missing <= {"description"}


TITLE, LISTS_OF_ONE = r'"title": "A \"smile\" \u00e9", "author": "N. N."', '"rows": [[1]], "columns": [[1]]'


@pytest.mark.parametrize("text", [f"{{{TITLE}, {LISTS_OF_ONE}}}", f"{{{LISTS_OF_ONE},\n {TITLE}}}"])
def test_a_title_in_json_is_read_at_any_position(text):
    record = Record(Puzzle.from_cells([[1]]), title='A "smile" é', author="N. N.")
    assert list(formats.read(text.encode())) == [record]
    *two, fault = formats.read(f"[{text}, {text}, ?".encode())
    assert two == [record, record]
    assert str(fault).startswith("$3: line ")


@pytest.mark.parametrize("text", ["#.\n##\n", "\r\n.#\r\n##", "##\n#.", "."])
def test_a_drawing_alone_is_the_finished_board(text):
    [record] = formats.read(text.encode())
    assert record == Record(Puzzle.from_cells(text.split()), solution=Solution(text.split()))
