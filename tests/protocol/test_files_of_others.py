# ruff: noqa: E501 - the tables have a file on each line
"""Files as people have them: each is read right. A table has a kind with its neighbours; golden/messages.txt what is refused."""

import json
import re

import pytest

from nonobot.protocol import Puzzle, Record, formats
from tests.protocol.test_formats_faults import said

SMILE = Puzzle(rows=[[2], [], [1, 1]], columns=[[1], [1], [1], [1]])
TWO = Puzzle(rows=[[1], [1]], columns=[[1], [1]])
ROWS, COLUMNS = "[[2], [], [1, 1]]", "[[1], [1], [1], [1]]"
LISTS = f'"rows": {ROWS}, "columns": {COLUMNS}'
OF_TWO = '"rows": [[1], [1]], "columns": [[1], [1]]'


def found_in(text: str | bytes) -> list[formats.Found]:
    """Return the puzzles and faults of a file whose format its content shows."""
    return list(formats.read(text if isinstance(text, bytes) else text.encode()))


def only(text: str | bytes) -> Record:
    (record,) = found_in(text)
    assert isinstance(record, Record), str(record)
    return record


def warnings(record: Record) -> list[str]:
    return [warning.message for warning in record.warnings]


def fault(text: str | bytes) -> str:
    (line,) = map(str, found_in(text))
    return line


# Lists


@pytest.mark.parametrize(
    "names",
    [
        ("rows", "columns"), ("row", "column"), ("rows", "cols"), ("row_clues", "col_clues"), ("rowClues", "columnClues"),
        ("rowHints", "colHints"), ("ROWS", "COLS"), ("row-hints", "column-hints"), ("Row Clues", "Column Clues"),
        ("horizontal", "vertical"), ("hor", "ver"), ("horizontalClues", "verticalClues"), ("left", "top"), ("side", "top"),
        ("leftNumbers", "topNumbers"), ("across", "down"), ("x", "y"), ("h", "v"), ("rowclues", "colclues"),
    ],
)  # fmt: skip
def test_rows_and_columns_have_many_names(names):
    rows, columns = names
    assert only(f'{{"{rows}": {ROWS}, "{columns}": {COLUMNS}}}') == Record(SMILE)
    assert only(f'{{"{columns}": {COLUMNS}, "{rows}": {ROWS}}}') == Record(SMILE)
    if rows.isidentifier():
        assert only(f"{rows} = {ROWS}\n{columns} = {COLUMNS}\n") == Record(SMILE)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"rows": 3, "cols": 4, "rowClues": {ROWS}, "colClues": {COLUMNS}}}',
        f"rows = 3\nrow_rule_len = 2\nrow_rules = [[0, 2], [0, 0], [1, 1]]\ncols = 4\ncol_rules = {COLUMNS}\n",
        f"rows = 3\nrow_clues = {ROWS}\ncolumns = 4\ncolumn_clues = {COLUMNS}\n",
        f'{{"columns": 4, "top": {COLUMNS}, "rows": "3", "left": {ROWS}}}',
    ],
)
def test_a_stated_size_must_match_the_clues(text):
    assert only(text).puzzle == SMILE
    wrong = re.sub(r'\b((?:cols|columns)"?[:= ]+)4', r"\g<1>9", text)
    assert fault(wrong).endswith("is '9', but there are 4 columns")
    wrong = re.sub(r'\b(rows"?[:= "]+)3', r"\g<1>5", text)
    assert fault(wrong).endswith("'rows' is '5', but there are 3 rows")


@pytest.mark.parametrize(
    "text",
    [
        f'{{"title": null, "author": null, {LISTS}}}',
        f'{{{LISTS}, "copyright": null}}',
        f"{{'title': None, {LISTS}}}",
        f'{{{LISTS}, "start": null, "id": null, "tags": null}}',
    ],
)
def test_null_values_are_treated_as_absent(text):
    record = only(text)
    assert (record, record.warnings) == (Record(SMILE), ())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("created-at", '"today"'), ("score", "1e-5"), ("score", "-1.5E+10"), ("tags", "[]"), ("tags", '["easy"]'),
        ("tags", "[1, 2]"), ("sizes", "[[4, 3]]"), ("meta", '{"a": {"b": [1]}}'), ("done", "false"), ("n", "NaN"),
        ("big", "1" * 10_000), ("text", '"a, b: [1] {2} # 3 // 4"'), (" ", "0"), ("versions", "[[1], [2]]"),
        ("colors", '["#000"]'), ("collection", "[[1]]"), ("rowHeight", "20"), ("topic", '["a"]'), ("🙂", "{}"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "form", ["{{{0}: {1}, {2}}}", "{{{2}, {0}: {1}}}", "[{{{2}, {0}: {1}}}, {{{2}}}, {{{2}}}]"]
)
def test_unknown_keys_of_an_object_are_dropped_with_a_warning(key, value, form):
    first, *others = found_in(form.format(json.dumps(key, ensure_ascii=False), value, LISTS))
    assert first == Record(SMILE)
    assert warnings(first) == [f"{key!r} is dropped"]
    assert others in ([], [Record(SMILE), Record(SMILE)])


@pytest.mark.parametrize(
    ("key", "value", "start", "solution"),
    [
        ("content", "[0, 0, 1, 0]", [[-1, -1], [1, -1]], None),
        ("content", "[[0, -1], [1, 0]]", [[-1, 0], [1, -1]], None),
        ("content", "[-1, 1, 1, -1]", None, [[0, 1], [1, 0]]),
        ("grid", "[[null, 1], [null, 0]]", [[-1, 1], [-1, 0]], None),
        ("start", '["?1", "??"]', [[-1, 1], [-1, -1]], None),
        ("start", '"?1 ??"', [[-1, 1], [-1, -1]], None),
        ("Grid", '[["?", "#"], ["?", "."]]', [[-1, 1], [-1, 0]], None),
        ("board", "[[false, true], [true, false]]", None, [[0, 1], [1, 0]]),
        ("solution", '[".#", "#."]', None, [[0, 1], [1, 0]]),
        ("start", '"0110"', [[0, 1], [1, 0]], None),
    ],
)
def test_known_cells_and_solutions_in_objects_are_read(key, value, start, solution):
    record = only(f'{{{OF_TWO}, "{key}": {value}}}')
    assert record == Record(TWO, start=start, solution=solution)
    assert record.warnings == ()


@pytest.mark.parametrize(
    "value",
    ["null", "true", "[[1]]", "[1.5]", "[null]", '[["a"]]', '["a"]', '[[1, "red"]]', "[[-1]]", "[1, 0, 1]"],
)
def test_other_values_in_place_of_clues_are_errors_and_not_empty_clues(value):
    for text in (f'{{"rows": [{value}], "columns": [[]]}}', f"rows = [{value}]\ncolumns = [[]]"):
        (found,) = formats.read(text.encode(), "lists")
        assert not isinstance(found, Record)
        assert str(found).startswith("$1: line 1: ")


@pytest.mark.parametrize(
    "broken",
    [
        '{"rows": [[1]] "columns": [[1]]}', '{"rows": [[1]], "columns": [[1]*2]}', '{"rows": [[1]], "rows": [[1]], "columns": [[1]]}',
        "5", '"text"', "null", "{}", '{"rows": [[1]]}', "[[1]]", '{"id": 1}', '{"rows": [[2]], "columns": [[1]]}', "?",
        '{"rows": [[1]], "columns": [[1]], "rowClues": [[1]]}',
    ],
)  # fmt: skip
def test_a_malformed_puzzle_in_a_list_keeps_its_number_and_the_others_are_read(broken):
    first, second, third = found_in(f"[{{{LISTS}}},\n{broken},\n{{{LISTS}}}]")
    assert (first, third) == (Record(SMILE), Record(SMILE))
    assert (first.number, second.number, third.number) == (1, 2, 3)
    assert not isinstance(second, Record)
    assert (first.line, third.line) == (1, 3)


@pytest.mark.parametrize(
    "broken", ["[[[1]], [[x]]]", "[[[1]], [[1, [2]]]]", "[[[1]]]", "[[[2]], [[1]]]", "[]", "[[[1]], 5]"]
)
def test_a_malformed_pair_in_a_list_is_reported_and_the_others_are_read(broken):
    pair = f"[{ROWS}, {COLUMNS}]"
    first, second, third = found_in(f"[{pair}, {broken}, {pair}]")
    assert (first, third) == (Record(SMILE), Record(SMILE))
    assert not isinstance(second, Record)


@pytest.mark.parametrize(
    "text",
    [
        f"{{{LISTS}}}\n{{{LISTS}}}\n", f"[{{{LISTS}}}, {{{LISTS}}}]", f'{{"puzzles": [{{{LISTS}}}, {{{LISTS}}}]}}',
        f'{{"a": {{{LISTS}}}, "b": {{{LISTS}}}}}', f"[[{ROWS}, {COLUMNS}], [{ROWS}, {COLUMNS}]]",
        f"{ROWS} {COLUMNS}\n{ROWS}\n{COLUMNS}\n", f"x = {ROWS}; y = {COLUMNS}; y = {COLUMNS}; x = {ROWS}",
        f'{{"nonograms": [[{ROWS}, {COLUMNS}], [{ROWS}, {COLUMNS}]]}}', f"{{{LISTS}}}, {{{LISTS}}}",
    ],
)  # fmt: skip
def test_several_puzzles_may_be_arranged_in_many_ways(text):
    assert found_in(text) == [Record(SMILE), Record(SMILE)]


@pytest.mark.slow
def test_a_large_file_is_read_in_parts():
    puzzle = f'{{{LISTS}, "title": "Smile", "text": "{"x" * 500}"}}'
    count = 4_000
    for form in (f"[{', '.join([puzzle] * count)}]", f'{{"a": 1, "puzzles": [{", ".join([puzzle] * count)}]}}'):
        assert len(form) > 1 << 21
        found = found_in(form)
        assert (len(found), found[-1], found[-1].number) == (count, Record(SMILE, title="Smile"), count)
    wide = Record(Puzzle.from_grid([[cell % 2 for cell in range(1022)]] * 1022), title="Wide")
    assert list(formats.read(formats.write([wide], "lists").data)) == [wide]


@pytest.mark.parametrize(
    "text",
    [
        "rows = ((2,), (), (1, 1))\ncolumns = ((1,), (1,), (1,), (1,),)\n",
        "{'rows': [[2], [], [1, 1]], 'columns': ((1,), (1,), (1,), (1,))}",
        "{\n  rows: [[2], [], [1, 1]], // JavaScript\n  columns: [[1], [1], [1], [1],],\n}",
        "rows = {{2}, {}, {1, 1}};\ncolumns = {{1}, {1}, {1}, {1}};\n",
        "[[2] [] [1 1]]\n[[1] [1] [1] [1]]",
        "rows: [[2], [], [1, 1]]\ncolumns: [[1], [1], [1], [1]]\n",
        "rows: list[list[int]] = [[2], [], [1, 1]]\ncolumns: List[List[int]] = [[1], [1], [1], [1]]\n",
        '{"rows": ["2", "0", "1 1"], "columns": [["1"], "1", [1], 1]}',
        f'{{"clues": {{{LISTS}}}}}',
        f"# {ROWS}\n\nrows = {ROWS}  # rows = [[1]]\n\n// so\ncolumns = {COLUMNS}\n",
    ],
)
def test_lists_in_the_syntax_of_many_languages_are_read(text):
    assert found_in(text) == [Record(SMILE)]


@pytest.mark.parametrize(
    "pad",
    [
        "[[0, 2], [0, 0], [1, 1]]",
        "[[2, 0], [0], [1, 1]]",
        "[[0, 0, 2, 0], [], [0, 1, 1]]",
        '[["0", "2"], [0], [1, 1]]',
    ],
)
def test_zeros_around_the_numbers_of_a_list_are_padding(pad):
    assert only(f'{{"rows": {pad}, "columns": {COLUMNS}}}') == Record(SMILE)
    assert only(f"{pad}\n{COLUMNS}") == Record(SMILE)


# .non

HEAD = "width 4\nheight 3\nrows\n2\n0\n1,1\ncolumns\n1\n1\n1\n1\n"
CELLS = [[0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 1]]


REMARKS = ("# a remark", "(end)", "; so", "-- 1 --", "* * *", "é", "==", "$", "mood sunny")


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (line, place)
        for line in REMARKS
        for place in (0, 2, 4, 8, 11)
        if line != "mood sunny" or place not in (4, 8)
    ],
)
def test_unknown_lines_of_the_non_format_are_dropped_with_a_warning(line, place):
    lines = HEAD.splitlines()
    text = "\n".join([*lines[:place], line, *lines[place:], ""])
    (record,) = formats.read(text.encode(), "non")
    assert record == Record(SMILE)
    assert warnings(record) == [f"{'mood' if line == 'mood sunny' else line!r} is dropped"]


@pytest.mark.parametrize(
    "goal",
    [
        "goal 011000001001",
        'goal "011000001001"',
        "goal\n0110\n0000\n1001\n",
        "goal 0110\n 0000\n1 0 0 1",
        "goal\n\n011000\n\n001001\n",
    ],
)
def test_goal_and_saved_may_be_drawn(goal):
    assert only(HEAD + goal) == Record(SMILE, solution=CELLS)
    saved = goal.replace("goal", "saved").replace("1", "?", 1)
    assert only(HEAD + saved).start.numbers() == [[0, -1, 1, 0], *CELLS[1:]]
    assert only(f"{HEAD}{goal}\n{saved}\ntitle A\n") == Record(
        SMILE, solution=CELLS, start=only(HEAD + saved).start, title="A"
    )


# Colours

ONE_COLOUR = {
    "g": "One\n#d\n   0:.  white\n   a:X  black\n: rows\n2a\n\n1a 1a\n: columns\n1a\n1a\n1a\n1a\n: end\n",
    "g in %": "#d\n   %:%  blue\n: rows\n2%\n\n1% 1%\n: columns\n1%\n1%\n1%\n1%\n: end\n",
    "g without names": ": rows\n2m\n\n1m 1m\n: columns\n1m\n1m\n1m\n1m\n: end\n",
    "non with letters": "color a #ff0000\nwidth 4\nheight 3\nrows\n2a\n0\n1a,1a\ncolumns\n1a\n1a\n1a\n1a\n",
    "non with words": "color red FF0000 #\nwidth 4\nheight 3\nrows\nred 2\n0\nred: 1, 1\ncolumns\nred 1\nred 1\nRed 1\nred: 1\n",
    "non in black": "width 4\nheight 3\nrows\nblack: 2\n0\nblack: 1, 1\ncolumns\nblack 1\n1\n1\n1\n",
    "picross": "GRID\nROWS\n[ 2r ]\n[ ]\n[ 1r 1r ]\nCOLUMNS\n[ 1r ]\n[ 1r ]\n[ 1r ]\n[ 1r ]\n",
    "pynogram": "[colors]\ng = (green) %\n[clues]\nrows = 2g, 0, 1g 1g\ncolumns = 1g, 1g, 1g, 1g\n",
    "nonogrid": "[clues]\nrows = '2g, 0, 1g 1g'\ncolumns = '1g, 1g, 1g, 1g'\n[colors]\ndefs = [\n 'g = (green) %',\n]\n",
    "webpbn": '<puzzleset><puzzle defaultcolor="red"><clues type="rows"><line><count>2</count></line><line/><line><count color="red">1</count><count>1</count></line></clues>'
    f'<clues type="columns">{4 * "<line><count>1</count></line>"}</clues></puzzle></puzzleset>',
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_COLOUR)
def test_a_puzzle_of_one_colour_is_read(name):
    record = only(ONE_COLOUR[name])
    assert (record.puzzle, record.warnings) == (SMILE, ())


# Headings, in any case

GNO = "[Description]\nA smile\nNobody\n[Dimensions]\n3\n4\n[Row clues]\n2\n0\n1, 1\n[Column clues]\n1\n1\n1\n1\n"


@pytest.mark.parametrize(
    "end",
    ["", "[Solution]\n1 2 2 1\n1 1 1 1\n2 1 1 2\n", "[Working grid]\n0 0 0 0\n[State]\nGAME_STATE_SOLVING\n"],
)
def test_gnonograms_files_are_read(end):
    record = only(GNO + end)
    assert record == Record(SMILE)
    assert warnings(record)[:2] == [f"the section '[{name}]' is dropped" for name in ("Description", "Dimensions")]
    assert len(record.warnings) == 2 + end.count("[")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ROWS:\n2\n0\n1 1\nCOLUMNS:\n1\n1\n1\n1\n", "hv"), ("Columns\n1\n1\n1\n1\n\nRows\n2\n0\n1 1\n", "hv"),
        ("horizontal\n2\n0\n1 1\nvertical\n1\n1\n1\n1\n", "hv"), ("h\n2\n0\n1 1\nv\n1\n1\n1\n1\n", "hv"), (GNO, "hv"),
        ("Grid A\nRows\n[ 2 ]\n[ ]\n[ 1 1 ]\nColumns\n[ 1 ]\n[ 1 ]\n[ 1 ]\n[ 1 ]\n", "picross"),
        ("[CLUES]\nROWS = 2, 0, 1 1\nColumns = 1, 1, 1, 1\n", "pynogram"), ("[Clues]\nRows = '2, 0, 1 1'\nCOLUMNS = '1, 1, 1, 1'\n", "nonogrid"),
        (HEAD.upper(), "non"), ("4X3\nROWS 2 0 1,1\nColumns 1 1 1 1\n", "grid"),
    ],
)  # fmt: skip
def test_headings_may_have_upper_and_lower_case(text, name):
    assert formats.detect(text.encode()) == name
    assert [found.puzzle for found in found_in(text)] == [SMILE]


# Files of no format, and what their message says


@pytest.mark.parametrize(
    ("text", "hint", "wrong", "right"),
    [
        ("import sys\nrows = [[1]]\ncolumns = [[1]]\n", "lists, but line 1: ", "import sys\n", ""),
        ("const rows = [[1]]\ncolumns = [[1]]\n", "lists, but line 1: ", "const ", ""),
        ("1 1\n1\n1\n1\n", "nin, but line 4: expected 2 clue lines", "\n1\n1\n1", "\n1\n1"),
        (
            "columns = 1\nrows = 1\n",
            "pynogram, but line 1: 'columns' is not under [clues]",
            "columns",
            "[clues]\ncolumns",
        ),
        ("Bicycle\n: 1\n1\n1\n", "g, but line 1: no line ':' for the columns", "1\n1\n1\n", "1\n1\n:\n1\n:\n"),
        (
            "GRID one\nROWS\n[ 1 ]\n[ 1 ]\nCOLS\n[ 2 ]\n",
            "picross, but line 5: 'COLS' is unexpected; expected GRID",
            "COLS",
            "COLUMNS",
        ),
        ("2\n0\n1 1\n1\n1\n1\n1\n", "hv, but it has 7 lines of numbers", "2\n0\n1 1\n", "H\n2\n0\n1 1\nV\n"),
        ("1 1 1\n9\n1\n", "hv, but it has 3 lines of numbers", "1 1 1\n9\n1\n", "H\n1\nV\n1\n"),
        ("Rows:\n1\n1\nUp:\n2\n", "hv, but line 4: ", "Up", "Columns"),
    ],
)
def test_the_hint_about_a_file_of_no_format_names_the_line_and_helps(text, hint, wrong, right):
    try:
        (found,) = found_in(text)
        line = f"looks most like {formats.detect(text.encode())}, but {str(found).removeprefix('$1: ')}"
    except formats.UnknownFormatError as error:
        line = str(error)
    assert f"looks most like {hint}" in line
    assert isinstance(only(text.replace(wrong, right)), Record)


@pytest.mark.parametrize("name", ["oneline", "letters", "lists"])
def test_a_line_above_64_kib_is_recognised(name):
    width, height = (26, 9000) if name == "letters" else (600, 300)
    record = Record(Puzzle.from_grid([[x % 2 for x in range(width)], [0] * width] * (height // 2)))
    data = formats.write([record], name).data
    assert len(data.split(b"\n")[0]) > 1 << 16 or name == "lists"
    assert formats.detect(data) == name
    assert list(formats.read(data)) == [record]


# Files that want to harm


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        b"[" * 1_000_000, b'{"rows": ' * 100_000, b"[[" + b"-" * 60_000 + b"1]]", b"[[" + b"1+" * 30_000 + b"1]]", b"x = " + b"a." * 30_000,
        b"rows = " + b"9" * 1_000_000, b'{"rows": [[' + b"9" * 1_000_000 + b"]]}", b"[" + b"[]," * 200_000 + b"]", b"[[" + b"10," * 1_000_000 + b"1]]",
        b"[" + b"[[[1]],[[1]]]," * 40_000 + b"]", b"'" * 1_000_000, b'"\\' * 500_000, b"rows = '\\d'\n" * 10_000, b"1if 1else " * 6_000,
        b"a = [" * 15 + b"1,\n" * 100_000, b"{" * 16 + b"1:" * 30_000, b"# " * 1_000_000, b"[[1]" + b" " * 1_000_000 + b"[1]]",
    ],
    ids=lambda data: repr(data[:12]),
)  # fmt: skip
def test_a_hostile_list_is_read_or_refused_in_one_line(data, capfd):
    lines = said_or_refused(data)
    assert all(line.isprintable() and len(line) < 400 for line in lines)
    assert capfd.readouterr() == ("", "")


def said_or_refused(data: bytes) -> list[str]:
    try:
        return said(data, "lists")
    except formats.FormatError as error:
        return [str(error)]
