"""Calls of the page to the Python in its Web Worker, by name, in JSON; hints and steps are in `bot/dialogue.py`.

A call is a name, JSON, and bytes (a file, or the cells of a picture); a function of that name answers it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from typing import Any

from nonobot.bot import dialogue
from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.dialogue import Request
from nonobot.bot.kernels.compiler import CompilerError
from nonobot.bot.kernels.shipped import has_kernels
from nonobot.harness import UnusableError
from nonobot.harness.page import boards
from nonobot.harness.page.boards import PICTURE, Board, Selection
from nonobot.harness.pictures.black_white import is_image
from nonobot.protocol import PartialGrid, Record, formats

MOST_STEPS = 4000
MOST_PICTURE_PIXELS = 2000  # on the longer side of a picture to take away

Question = dict[str, Any]


def answered(call: str, question: str, data: bytes = b"") -> str:
    """Return the answer to the call `what`, both in JSON; an error is a line for people."""
    try:
        found = _ANSWERS[call](json.loads(question), bytes(data))
        answer = asdict(found) if isinstance(found, Selection) else found
    except (UnusableError, CompilerError, formats.FormatError, ValueError) as error:
        answer = {"error": str(error)}
    except MemoryError:
        _strategy.cache_clear()
        answer = {"error": "there is no room for this board in the browser's memory"}
    return json.dumps(answer, separators=(",", ":"))


def check_kernels() -> None:
    """Raise ValueError if there are no kernels; they are loaded by the first board that needs them."""
    if not has_kernels():
        raise ValueError("the solver's kernels are missing; export the page again")


def load_kernels() -> None:
    """Load the kernels for boards of the usual sizes, before a board needs them."""
    _strategy().prepare()


_strategy = cache(ChampionStrategy)


# --- a puzzle comes in -------------------------------------------------------------------------------------------


def read(question: Question, data: bytes) -> Selection:
    """Return a puzzle of a text or a file; of a picture, only that it is one: the browser makes cells of it."""
    if is_image(data):
        return Selection(format=PICTURE)
    return boards.puzzle_of_file(data, question["number"])


def size(question: Question, _: bytes) -> Question:
    """Return the columns and rows of the board for a picture."""
    width, height = boards.size_of_picture((question["width"], question["height"]), question["columns"])
    return {"columns": width, "rows": height}


def picture(question: Question, data: bytes) -> Selection:
    """Return the puzzle of a picture's cells."""
    return boards.puzzle_of_picture(data, (question["columns"], question["rows"]), question.get("title"))


def of_set(question: Question, _: bytes) -> Selection:
    """Return a puzzle of an official or a generated set."""
    return boards.puzzle_of_set(question["name"], question["number"])


# --- it is solved ------------------------------------------------------------------------------------------------


def _record(question: Question, **others: Any) -> Record:
    """Return the puzzle of a question, with `others` in place of attributes of its board."""
    return Board(**question["board"] | others).record


def _request(record: Record, seconds: float | None = None, solutions: int = 2) -> Request:
    start = PartialGrid.blank(record.size) if record.start is None else record.start
    return Request(record.puzzle, start, solutions, seconds, MOST_STEPS)


def solve(question: Question, _: bytes) -> Question:
    """Return the verdict on a board, with up to two solutions, or the lines that contradict."""
    record, seconds = _record(question), question["seconds"]
    request = _request(record, seconds, question["solutions"])
    answer = dialogue.solve(_strategy(), request)
    if answer["verdict"] == "unsolvable":
        answer["conflict"] = dialogue.conflict(_strategy(), request)
        if record.start is not None:
            without = _request(Record(record.puzzle), seconds)
            answer["without_start"] = dialogue.solve(_strategy(), without)["verdict"]
    return answer


def steps(question: Question, _: bytes) -> Question:
    """Return the steps of a search for one solution."""
    return dialogue.steps(_strategy(), _request(_record(question), question["seconds"]))


def hint(question: Question, _: bytes) -> Question:
    """Return the next line from which cells follow, on the board of `cells`."""
    return dialogue.hint(_strategy(), _request(_record(question, cells=question["cells"])))


def check(question: Question, _: bytes) -> Question:
    """Return whether the cells that the user has set are still right, and which are not."""
    record, seconds = _record(question, cells=question["cells"]), question["seconds"]
    answer = dialogue.solve(_strategy(), _request(record, seconds, solutions=1))
    if answer["solutions"]:
        return {"right": True, "wrong": []}
    if record.start is not None and answer["verdict"] != "unknown":
        answer = dialogue.solve(_strategy(), _request(_record(question), seconds))
    if not answer["solutions"]:
        return {"right": None, "wrong": []}
    cells = list(enumerate(question["cells"] or ""))
    wrong = [
        [index for index, cell in cells if cell not in ("?", solution[index])] for solution in answer["solutions"]
    ]
    return {"right": False, "wrong": min(wrong, key=len), "only": answer["verdict"] == "unique"}


# --- it is taken away --------------------------------------------------------------------------------------------


def write(question: Question, _: bytes) -> Question:
    """Return the puzzle in a format, as a link, or its picture as an SVG."""
    form, record = question["format"], _record(question)
    if form == "svg":
        return {"text": _drawn(_record(question, cells=question["cells"]), question["dark"])}
    if form == "link":
        return {"text": f"{boards.link_of(record)}\n"}
    return {"text": boards.text_in(record, form)}


def _drawn(record: Record, is_dark: bool) -> str:
    from nonobot.protocol.scene import SMALLEST_CELL_WITH_CLUES, Picture, scene_of  # few visitors need it
    from nonobot.protocol.svg import DARK, LIGHT, svg_of

    cell = max(2, min(24, MOST_PICTURE_PIXELS // max(record.size)))
    scene = scene_of(Picture(record.puzzle, record.start), cell=cell, clues=cell >= SMALLEST_CELL_WITH_CLUES)
    return svg_of(scene, DARK if is_dark else LIGHT)


_ANSWERS: dict[str, Callable[[Question, bytes], Question | Selection]] = {
    "set": of_set,
    **{function.__name__: function for function in (read, size, picture, solve, steps, hint, check, write)},
}
