"""What the page makes of texts, files, pictures and sets, and what its Python answers; without a browser."""

import io
import json

import pytest

from nonobot.harness import UnusableError
from nonobot.harness.page import boards, worker_calls
from nonobot.harness.page.boards import Board, puzzle_of_file, puzzle_of_picture, puzzle_of_set, size_of_picture
from nonobot.harness.page.worker_calls import answered
from nonobot.harness.pictures.image_cells import read_cells
from nonobot.protocol import Puzzle
from nonobot.protocol.formats import formats, read
from nonobot.tournament_data import load_set
from tests.helpers.places import PUZZLES, REPOSITORY

P = next(read((PUZZLES / "p.non").read_bytes()))
FILES = [path for path in sorted(PUZZLES.glob("p.*")) if path.suffix != ".txt"]  # .txt is for square boards


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_of_any_format_becomes_a_board(path):
    selection = puzzle_of_file(path.read_bytes())
    assert (selection.count, selection.number, selection.faults) == (1, 1, [])
    assert selection.format in {form.name for form in formats()}
    assert selection.board.record.puzzle == P.puzzle


def test_a_board_converted_for_the_browser_is_restored_unchanged():
    for record in read((PUZZLES / "p-partly.grid").read_bytes()):
        assert record.start
        back = Board.of(record).record
        assert (back.puzzle, back.start, back.solution) == (record.puzzle, record.start, record.solution)
    empty_clues = Puzzle(columns=((1,), ()), rows=((), (1,)))
    assert Board([[], [1]], [[1], []]).record.puzzle == empty_clues


def test_any_puzzle_of_a_file_can_be_chosen():
    content = (PUZZLES / "several.non").read_bytes()
    every = list(read(content))
    for number, record in enumerate(every, 1):
        chosen = puzzle_of_file(content, number)
        assert (chosen.count, chosen.number, len(chosen.titles)) == (len(every), number, len(every))
        assert chosen.board == Board.of(record)
    assert puzzle_of_file(content, len(every) + 1).board is None


def test_errors_on_the_page_mention_no_command_line_option():
    assert puzzle_of_file(b"$1\n1\n1\n1\n").faults == [
        (1, "3 clue lines cannot make a square board; expected an even number")
    ]


def test_malformed_puzzles_are_skipped_and_the_list_of_puzzles_is_limited(monkeypatch):
    selection = puzzle_of_file(b"1:2-1:1,1\n3:x-1:1\n1:1-1:1\n")
    assert selection.faults[0] == (1, "the clue of column 2 needs 3 cells, the column has 2")
    assert selection.faults[1][0] == 2
    assert (selection.count, selection.board.rows) == (1, [[1], [1]])
    monkeypatch.setattr(boards, "MOST_LISTED", 3)
    selection = puzzle_of_file(b"1-1\n" * 5)
    assert (selection.count, selection.titles) == (3, ["1x1"] * 3)
    assert selection.warnings == ["only the first 3 puzzles are listed"]


@pytest.mark.parametrize(
    ("source", "number", "why"),
    [
        (b"", 1, "the file is empty"),
        (b"what is this", 1, "unknown format"),
        (b"300-" + b":".join([b"1"] * 300), 1, "a 300x1 board; on this page a side has 1 to 254 cells"),
        ("/etc/passwd", 1, "cannot find the set: /etc/passwd; choose"),
        ("docs/samples/robot.non", 1, "cannot find the set"),
        ("boardgen:7x9x20:seed=3", 21, "has 20 puzzles"),
        ("boardgen:7x9x20", 1, "no seed; expected boardgen:"),
        ("boardgen:900x900x900:seed=1", 1, "on this page a side has 1 to 254 cells"),
        ("boardgen:200x200x1000:seed=1", 1000, "comes after too many others"),
        ("boardgen:1x2x2000000:seed=1", 2_000_000, "comes after too many others"),
    ],
)
def test_a_missing_puzzle_of_a_file_or_set_is_a_one_line_error(source, number, why):
    selection = (puzzle_of_file if isinstance(source, bytes) else puzzle_of_set)(source, number)
    assert selection.board is None
    [(_, fault)] = selection.faults
    assert why in fault
    assert "\n" not in fault


def test_a_picture_becomes_the_same_board_as_with_the_command():
    assert [size_of_picture((6, 2), None), size_of_picture((600, 300), None)] == [(6, 2), (40, 20)]
    assert [size_of_picture((600, 300), 10), size_of_picture((900, 1), 3)] == [(10, 5), (3, 1)]
    with pytest.raises(UnusableError, match="side has 1 to 254"):
        size_of_picture((600, 300), 255)
    image = pytest.importorskip("PIL.Image").radial_gradient("L").resize((40, 30))
    file = io.BytesIO()
    image.save(file, "PNG")
    board = puzzle_of_picture(image.tobytes(), (40, 30)).board
    assert board.record.solution.cells.tolist() == read_cells(file.getvalue()).cells.astype(int).tolist()


def test_a_generated_set_by_name_and_number_and_an_official_one_that_is_not_here(monkeypatch, tmp_path):
    selection = puzzle_of_set("boardgen:7x9x20:seed=3", 17)
    assert selection.count == 20
    assert selection.board.record.puzzle == load_set("boardgen:7x9x20:seed=3").puzzles[16].puzzle
    assert told("set", name="boardgen:7x9x20:seed=3", number=3)["board"]["title"] == "boardgen:7x9x20:seed=3 $3"
    monkeypatch.setenv("NONOBOT_DATA", str(tmp_path))
    boards._known_set.cache_clear()
    assert "nonojudge data fetch taai2011" in puzzle_of_set("taai2011", 1).faults[0][1]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"rows": [[2]]}, "the clue of row 1 needs 2 cells, the row has 1"),
        ({"rows": [[-1]]}, "row 1: a block of -1 cells; block lengths are 1 or more"),
        ({"rows": []}, "a 1x0 board"),
        ({"rows": [[1]] * 255}, "a 1x255 board"),
        ({"rows": [[]]}, "the columns count 1 black cells, the rows 0"),
        ({"cells": "11"}, "cells: expected one of 1, 0 and ?"),
        ({"cells": "x"}, "cells: expected one of 1, 0 and ?"),
        ({"goal": "?"}, "a solution holds 0 "),
    ],
)
def test_a_malformed_board_is_refused(fields, why):
    with pytest.raises(UnusableError, match=f"^{why}".replace("?", r"\?")):
        _ = Board(**{"rows": [[1]], "columns": [[1]], **fields}).record


ROBOT = (REPOSITORY / "docs/samples/robot.non").read_bytes()
ONE = {"rows": [[1]], "columns": [[1]]}
TWO = {"rows": [[1], [1]], "columns": [[1], [1]]}
NONE = {"rows": [[2], []], "columns": [[2], []]}
USUAL = {"seconds": 10.0, "solutions": 2, "number": 1}


def told(call, board=None, data=b"", **question):
    return json.loads(answered(call, json.dumps({**USUAL, "board": board, **question}), data))


def test_a_text_becomes_a_board_and_the_board_a_verdict():
    answer = told("solve", told("read", data=ROBOT)["board"])
    assert (answer["verdict"], answer["exhausted"], len(answer["solutions"])) == ("unique", True, 1)
    assert told("solve", TWO)["verdict"] == "multiple"
    assert told("solve", TWO, solutions=1)["solutions"] == ["0110"]
    answer = told("solve", NONE)
    assert (answer["verdict"], answer["conflict"]["wrong"]) == ("unsolvable", [["column", 1], ["column", 2]])
    given = told("solve", {**TWO, "cells": "11??"})
    assert (given["verdict"], given["without_start"]) == ("unsolvable", "multiple")


def test_the_browser_turns_a_picture_into_cells_and_python_into_a_puzzle():
    assert told("read", data=b"\x89PNG\r\n\x1a\n")["format"] == "picture"
    size = told("size", width=600, height=300, columns=6)
    assert size == {"columns": 6, "rows": 3}
    board = told("picture", data=bytes([9, 9, 9, 200, 201, 255] * 3), **size)["board"]
    assert (board["rows"], board["goal"]) == ([[3]] * 3, "111000" * 3)
    named = told("picture", data=bytes(1), columns=1, rows=1, title="A box")
    assert (named["board"]["title"], named["link"]) == ("A box", "1x1\ntitle: A box\nrows\n1\ncolumns\n1")


def test_steps_hints_and_checks_of_a_board_are_answered():
    assert [step["kind"] for step in told("steps", ONE)["steps"]] == ["painted"]
    assert told("hint", ONE, cells="?")["hint"] == {"line": ["row", 1], "black": [0], "white": []}
    assert told("check", TWO, cells="1???") == {"right": True, "wrong": []}
    assert told("check", TWO, cells="1?11") == {"right": False, "wrong": [2], "only": False}
    assert told("check", NONE, cells="1???") == {"right": None, "wrong": []}


def test_the_page_asks_for_no_more_steps_than_a_browser_shows(monkeypatch):
    every = told("steps", TWO)["steps"]
    assert len(every) > 1
    monkeypatch.setattr(worker_calls, "MOST_STEPS", len(every) - 1)
    assert told("steps", TWO) == {"truncated": True, "steps": every[:-1]}
    monkeypatch.setattr(worker_calls, "MOST_STEPS", len(every))
    assert told("steps", TWO) == {"truncated": False, "steps": every}


def test_a_puzzle_is_exported_in_every_format_as_picture_and_as_link():
    robot = told("read", data=ROBOT)["board"]
    for form in formats():
        [record] = read(told("write", robot, format=form.name)["text"].encode(), form.name)
        assert [list(clue) for clue in record.puzzle.rows] == robot["rows"]
    assert told("write", TWO, format="link") == {"text": "1:1-1:1\n"}
    linked = told("write", {**TWO, "cells": "1???", "title": "A & b"}, format="link")["text"]
    board = told("read", data=linked.encode())["board"]
    assert (board["rows"], board["cells"], board["title"]) == (TWO["rows"], "1???", "A & b")
    cells = told("solve", robot)["solutions"][0]
    assert told("write", robot, format="svg", cells=cells, dark=True)["text"].startswith("<svg ")


@pytest.mark.parametrize(
    ("call", "question", "why"),
    [
        ("solve", {"board": {"rows": [[9]], "columns": [[1]]}}, "needs 9 cells"),
        ("solve", {"board": ONE, "solutions": 0}, "number of solutions must be at least 1"),
        ("hint", {"board": ONE, "cells": "xyz"}, "cells: expected one of"),
        ("write", {"board": ONE, "format": "x"}, "unknown format 'x'"),
        ("size", {"width": 0, "height": 3, "columns": None}, "the picture has no pixels"),
    ],
)
def test_an_unusable_request_is_a_one_line_error(call, question, why):
    error = told(call, **question)["error"]
    assert why in error
    assert "\n" not in error
