"""What the page's Python answers; here without a browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nonobot.harness.page.questions import answered
from nonobot.protocol.formats import formats, read

pytestmark = pytest.mark.usefixtures("compiled")

ROBOT = (Path(__file__).parent.parent / "docs/samples/robot.non").read_bytes()
ONE = {"rows": [[1]], "columns": [[1]]}
TWO = {"rows": [[1], [1]], "columns": [[1], [1]]}
NONE = {"rows": [[2], []], "columns": [[2], []]}
USUAL = {"seconds": 10.0, "solutions": 2, "number": 1}


def told(what, board=None, data=b"", **question):
    return json.loads(answered(what, json.dumps({**USUAL, "board": board, **question}), data))


def test_a_text_becomes_a_board_and_the_board_a_verdict():
    answer = told("solve", told("read", data=ROBOT)["board"])
    assert (answer["verdict"], answer["exhausted"], len(answer["solutions"])) == ("unique", True, 1)
    assert told("solve", TWO)["verdict"] == "multiple"
    assert told("solve", TWO, solutions=1)["solutions"] == ["0110"]
    answer = told("solve", NONE)
    assert (answer["verdict"], answer["conflict"]["wrong"]) == ("unsolvable", [["column", 1], ["column", 2]])
    given = told("solve", {**TWO, "cells": "11??"})
    assert (given["verdict"], given["without_start"]) == ("unsolvable", "multiple")


def test_a_puzzle_is_picked():
    assert told("set", name="boardgen:7x9x20:seed=3", number=3)["board"]["title"] == "boardgen:7x9x20:seed=3 $3"
    assert told("set", name="nothing")["faults"][0][1].startswith("there is no set")


def test_the_browser_makes_cells_of_a_picture_and_python_a_puzzle():
    assert told("read", data=b"\x89PNG\r\n\x1a\n")["format"] == "picture"
    size = told("size", width=600, height=300, columns=6)
    assert size == {"columns": 6, "rows": 3}
    board = told("picture", data=bytes([9, 9, 9, 200, 201, 255] * 3), **size)["board"]
    assert (board["rows"], board["goal"]) == ([[3]] * 3, "111000" * 3)


def test_steps_hints_and_what_is_still_right():
    assert [step["kind"] for step in told("steps", ONE)["steps"]] == ["painted"]
    assert told("hint", ONE, cells="?")["hint"] == {"line": ["row", 1], "black": [0], "white": []}
    assert told("check", TWO, cells="1???") == {"right": True, "wrong": []}
    found = told("check", TWO, cells="11??")
    assert (found["right"], len(found["wrong"]), found["only"]) == (False, 1, False)
    assert told("check", NONE, cells="1???") == {"right": None, "wrong": []}


def test_every_format_a_picture_and_a_link_are_taken_away():
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
    ("what", "question", "why"),
    [
        ("solve", {"board": {"rows": [[9]], "columns": [[1]]}}, "needs 9 cells"),
        ("solve", {"board": ONE, "solutions": 0}, "number of solutions must be at least 1"),
        ("hint", {"board": ONE, "cells": "xyz"}, "cells: expected one of"),
        ("write", {"board": ONE, "format": "x"}, "unknown format 'x'"),
        ("size", {"width": 0, "height": 3, "columns": None}, "the picture has no pixels"),
    ],
)
def test_what_cannot_be_answered_is_said_in_a_line(what, question, why):
    error = told(what, **question)["error"]
    assert why in error
    assert "\n" not in error
