"""`nonobot --dialogue`: what a program is answered about single boards."""

import json
import random
import shlex
import subprocess

import numpy as np
import pytest

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.dialogue import _checked, _parsed, answer
from nonobot.protocol import Puzzle
from tests import naive
from tests.helpers.boards import random_grid
from tests.helpers.talking import CAPTURED, COMMAND, NONE, TWO

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def strategy():
    return ChampionStrategy()


def request(do: str, puzzle: Puzzle, cells: str | None = None, **numbers) -> bytes:
    board = {"rows": puzzle.rows, "columns": puzzle.columns, "cells": cells}
    return json.dumps({"do": do, **board, **numbers}).encode()


def answered(strategy, *asked, **numbers):
    return answer(strategy, json.loads(request(*asked, **numbers)))


def text(grid) -> str:
    return "".join(str(int(cell)) for row in grid for cell in row)


def random_puzzles(count: int, longest: int = 7):
    chance = random.Random(5)
    for _ in range(count):
        width, height = chance.randint(1, longest), chance.randint(1, longest)
        yield chance, Puzzle.from_grid(random_grid(chance, width, height, 0.55))


def lines_of(puzzle: Puzzle, cells: str):
    """Yield each line's name, the numbers of its cells, its clue, and its cells as `naive` has them."""
    numbers = np.arange(puzzle.width * puzzle.height).reshape(puzzle.height, puzzle.width)
    for kind, clues, lines in (("row", puzzle.rows, numbers), ("column", puzzle.columns, numbers.T)):
        for number, (clue, places) in enumerate(zip(clues, lines.tolist(), strict=True), 1):
            yield [kind, number], places, clue, tuple(naive_cell(cells[place]) for place in places)


def naive_cell(character: str):
    return {"1": 1, "0": 0, "?": None}[character]


def wrong_lines(puzzle: Puzzle, cells: str):
    return [name for name, _, clue, line in lines_of(puzzle, cells) if naive.paint_line(clue, line) is None]


def test_solutions_and_verdicts_are_those_of_an_exhaustive_search(strategy):
    verdicts = set()
    for _, puzzle in random_puzzles(60, longest=5):
        every = {text(grid) for grid in naive.solutions(puzzle)}
        answer = answered(strategy, "solve", puzzle)
        assert set(answer["solutions"]) <= every
        assert len(answer["solutions"]) == min(2, len(every))
        assert answer["verdict"] == ("unique" if len(every) == 1 else "multiple")
        verdicts.add(answer["verdict"])
    assert verdicts == {"unique", "multiple"}


def test_answers_respect_the_given_cells(strategy):
    assert answered(strategy, "solve", TWO, "1???")["solutions"] == ["1001"]
    assert answered(strategy, "solve", TWO, "11??")["verdict"] == "unsolvable"
    assert not answered(strategy, "steps", TWO, "11??")["truncated"]
    with pytest.raises(ValueError, match="the clue of row 1 needs 3 cells, the row has 1"):
        answered(strategy, "solve", Puzzle.unchecked(columns=((1,),), rows=((3,),)))


def test_steps_lead_to_the_solution_and_each_follows_from_its_line(strategy):
    kinds = set()
    for _, puzzle in random_puzzles(80):
        cells = ["?"] * puzzle.width * puzzle.height
        answer = answered(strategy, "steps", puzzle)
        for step in answer["steps"]:
            before = "".join(cells)
            for name, character in (("black", "1"), ("white", "0"), ("unknown", "?")):
                for cell in step.get(name, ()):
                    cells[cell] = character
            if step.get("line"):
                [(places, clue, line)] = [rest for name, *rest in lines_of(puzzle, before) if name == step["line"]]
                told = naive.paint_line(clue, line)
                assert told == tuple(naive_cell(cells[place]) for place in places)
                assert {position for position, cell in enumerate(cells) if cell != before[position]} <= set(places)
            kinds.add(step["kind"])
        assert not answer["truncated"]
        assert "".join(cells) in {text(grid) for grid in naive.solutions(puzzle)}
    assert {"painted", "guessed"} <= kinds


def test_the_number_of_steps_is_limited_and_boards_may_have_any_width(strategy):
    puzzle = Puzzle.from_grid(random_grid(random.Random(1), 9, 9, 0.6))
    every = answered(strategy, "steps", puzzle)["steps"]
    assert answered(strategy, "steps", puzzle, most_steps=2) == {"truncated": True, "steps": every[:2]}
    assert answered(strategy, "steps", puzzle, most_steps=len(every)) == {"truncated": False, "steps": every}
    wide = Puzzle.from_grid([[1] * 3 + [0] * 67, [0] * 70])
    hint = answered(strategy, "hint", wide)["hint"]
    assert hint["line"] == ["row", 2]
    assert hint["white"] == list(range(70, 140))


def test_a_hint_names_the_line_with_the_most_new_cells(strategy):
    empty_handed = 0
    for chance, puzzle in random_puzzles(80):
        solution = text(naive.solutions(puzzle)[0])
        cells = "".join(cell if chance.random() < 0.3 else "?" for cell in solution)
        new = {}
        for name, places, clue, line in lines_of(puzzle, cells):
            told = naive.paint_line(clue, line)
            cells_of_line = zip(places, told, line, strict=True)
            new[tuple(name)] = {place: now for place, now, was in cells_of_line if now != was}
        answer = answered(strategy, "hint", puzzle, cells)
        assert answer["wrong"] == []
        most = max(map(len, new.values()))
        if most == 0:
            assert answer["hint"] is None
            empty_handed += 1
            continue
        hint = answer["hint"]
        colours = {"black": 1, "white": 0}
        assert new[tuple(hint["line"])] == {cell: colours[name] for name in colours for cell in hint[name]}
        assert len(new[tuple(hint["line"])]) == most
    assert empty_handed


def test_contradictory_lines_are_listed_instead_of_a_hint(strategy):
    named = 0
    for chance, puzzle in random_puzzles(80):
        cells = "".join(chance.choice("01???") for _ in range(puzzle.width * puzzle.height))
        wrong = wrong_lines(puzzle, cells)
        answer = answered(strategy, "hint", puzzle, cells)
        assert answer["wrong"] == wrong
        assert answer["hint"] is None or not wrong
        named += bool(wrong)
    assert 20 < named < 80


def test_a_conflict_names_the_lines_without_a_placement(strategy):
    found = 0
    for chance, puzzle in random_puzzles(150):
        rows = [list(row) for row in puzzle.rows]
        chance.shuffle(rows)
        other = Puzzle.unchecked(columns=puzzle.columns, rows=tuple(map(tuple, rows)))
        answer = answered(strategy, "conflict", other)
        wrong = wrong_lines(other, answer["cells"])
        assert answer["wrong"] == wrong
        if wrong:
            assert naive.solutions(other) == []
        else:
            told = [naive.paint_line(clue, line) == line for _, _, clue, line in lines_of(other, answer["cells"])]
            assert all(told)
        found += bool(wrong)
    assert found > 10


EMPTY, EMPTY_LINES = b'{"do": "hint", "rows": [%s[]], "columns": [%s[]]}', b"[]," * 300_000


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"hello", "not JSON at character 1; send one"),
        (b"\xff", "not JSON; send one"),
        (b"[" * 100_000, "not JSON: it is nested too deeply"),
        (b"[]", "not a JSON object"),
        (b'{"do": "solve"}', "rows is missing"),
        (b'{"do": "solve", "rows": [[1]], "columns": null}', "columns is missing"),
        (b'{"do": "solve", "rows": 5, "columns": []}', "rows: '5'; expected a list of clues"),
        (b'{"do": "solve", "rows": [[1]], "columns": "ab"}', "column 1: 'a' is not a list"),
        (b'{"do": "solve", "rows": [[1.5]], "columns": [[1]]}', "row 1: .* is not a list"),
        (b'{"do": "solve", "rows": [[1]], "columns": [[1]], "solutions": 1e400}', "solutions: 'inf'; expected"),
        (b'{"do": "solve", "rows": [[1]], "columns": [[1]], "seconds": -1}', "seconds: -1; expected a positive"),
        (b'{"do": "solve", "rows": [[1]], "columns": [[1]], "seconds": "nan"}', "seconds: nan; expected a "),
        (b'{"do": "steps", "rows": [[1]], "columns": [[1]], "most_steps": -1}', "most_steps: -1; expected a n"),
        (b'{"do": "steps", "rows": [[1]], "columns": [[1]], "most_steps": -%d}' % 10**20, "most_steps: -1"),
        pytest.param(EMPTY % (EMPTY_LINES, EMPTY_LINES), "the board is too large; boards have", id="too large"),
        (b'{"do": "dance", "rows": [[1]], "columns": [[1]]}', "do: 'dance'; expected one of solve, steps"),
        (b'{"do": "solve", "rows": [], "columns": [[1]]}', "no rows"),
        (b'{"do": "solve", "rows": [[-1]], "columns": [[0]]}', "row 1: .* block lengths are 1 or more"),
        (b'{"do": "solve", "rows": [[1]], "columns": [[1]], "cells": "11"}', "cells: '11'; expected one of 1, 0"),
        (b'{"do": "solve", "rows": [[1]], "columns": [[1]], "cells": "x"}', "cells: 'x'; expected one of 1, 0"),
        (b'{"do": "solve", "rows": [[1]], "columns": [[1]], "cells": 5}', "cells: '5'; expected one of 1, 0"),
    ],
)
def test_an_unusable_request_is_a_one_line_error(line, why):
    with pytest.raises(ValueError, match=f"^{why}"):
        _checked(_parsed(line))


@pytest.mark.parametrize(
    ("line", "status", "why"),
    [
        ("exec {} <&-", 0, b""),
        ("ulimit -v 200000; exec {}", 2, b"nonobot: 25x25: not enough memory for the tables"),
        ("exec {} > /dev/full", 2, b"nonobot: input or output failed: No space left on device"),
    ],
)
def test_a_dialogue_that_cannot_be_ends_with_a_line(line, status, why):
    command = ["sh", "-c", line.format(shlex.join([*COMMAND, "--dialogue"]))]
    done = subprocess.run(command, input=request("conflict", NONE), **CAPTURED)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (status, b"", status // 2)
    assert done.stderr.startswith(why)


def test_the_process_answers_line_by_line_and_goes_on_after_a_bad_one():
    lines = [request("solve", TWO), b"hello", b"[" + b" " * (1 << 25) + b"]", request("conflict", NONE)]
    done = subprocess.run([*COMMAND, "--dialogue"], input=b"\n".join(lines), **CAPTURED)
    assert (done.returncode, done.stderr) == (0, b"")
    said = [line for line in done.stdout.splitlines() if b"compiling" not in line]
    first, second, third, fourth = map(json.loads, said)
    assert first["verdict"] == "multiple"
    assert second == {"error": "not JSON at character 1; send one JSON object in each line"}
    assert third == {"error": "the request is longer than 16 MiB; send a smaller one"}
    assert fourth["wrong"] == [["column", 1], ["column", 2]]
