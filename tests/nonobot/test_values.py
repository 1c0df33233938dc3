"""What Python programs pass and get: types, arrays, files, values that compare; wrong names that tools notice."""

import ast
import copy
import dataclasses
import inspect
import io
import os
import pickle
import subprocess
import sys
import threading
import zipfile
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import nonobot
from nonobot import Puzzle, PuzzleError, Solution, check, read, solve
from nonobot.protocol import PartialGrid
from nonobot.protocol.clues import Fault, FaultKind
from tests.helpers.places import REPOSITORY
from tests.helpers.talking import CAPTURED

ROWS, COLUMNS = [[3], [1], [1, 1]], [[1, 1], [2], [1, 1]]
CELLS = [[1, 1, 1], [0, 1, 0], [1, 0, 1]]
PUZZLE = Puzzle(rows=ROWS, columns=COLUMNS)
BATCH = "$1\n1\n1\n"


def test_puzzles_are_dataclasses_like_any_other():
    assert dataclasses.asdict(PUZZLE) == {"rows": ((3,), (1,), (1, 1)), "columns": ((1, 1), (2,), (1, 1))}
    assert dataclasses.replace(PUZZLE, rows=ROWS) == PUZZLE
    match PUZZLE:
        case Puzzle(rows, columns):
            assert (rows, columns) == (PUZZLE.rows, PUZZLE.columns)
    for other in (copy.copy(PUZZLE), copy.deepcopy(PUZZLE), pickle.loads(pickle.dumps(PUZZLE))):
        assert (other, hash(other), repr(other)) == (PUZZLE, hash(PUZZLE), repr(PUZZLE))
    with pytest.raises((AttributeError, TypeError)):
        PUZZLE.other = ()


@pytest.mark.parametrize("board", [Solution(CELLS), PartialGrid([[1, 1, -1], *CELLS[1:]])])
def test_boards_are_immutable_values_but_not_dataclasses(board):
    kind = type(board)
    for other in (copy.copy(board), copy.deepcopy(board), pickle.loads(pickle.dumps(board)), kind(board)):
        assert (other, hash(other), repr(other)) == (board, hash(board), repr(board))
    assert board not in (kind([[1]]), kind.from_bytes(board.content, (9, 1)), board.numbers())
    assert Solution(CELLS) != PartialGrid(CELLS)
    assert not dataclasses.is_dataclass(board)
    match board:
        case Solution(cells) | PartialGrid(cells):
            assert kind(cells) == board
    with pytest.raises(AttributeError, match="cannot be changed"):
        board.size = (1, 9)


def public_values():
    """Return an instance of each public dataclass."""
    wrong = check(PUZZLE, [[0] * 3] * 3)
    fault = Fault(FaultKind.UNREADABLE, "a fault")
    record = nonobot.Record(PUZZLE, start=[[-1] * 3] * 3, solution=CELLS, title="a", warnings=(fault,))
    result = solve(PUZZLE)
    timeout = dataclasses.replace(result, status="timeout", solutions=(), known=record.start)
    explained = [nonobot.hint(PUZZLE), nonobot.steps(PUZZLE)[0], nonobot.difficulty(PUZZLE)]
    return [PUZZLE, record, fault, wrong, wrong.mismatches[0], result, timeout, *explained]


@pytest.mark.usefixtures("compiled")
def test_other_public_values_are_dataclasses_like_any_other():
    values = public_values()
    kinds = {getattr(nonobot, name) for name in nonobot.__all__ if isinstance(getattr(nonobot, name), type)}
    assert kinds - {type(value) for value in values} == {PuzzleError, Solution}
    for value in values:
        kind = type(value)
        taken = {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}
        assert kind.__match_args__ == tuple(inspect.signature(kind).parameters) == tuple(taken)
        made = [dataclasses.replace(value), kind(*taken.values()), copy.copy(value), copy.deepcopy(value)]
        for other in (*made, pickle.loads(pickle.dumps(value))):
            assert (other, hash(other), repr(other)) == (value, hash(value), repr(value))
        assert list(dataclasses.asdict(value)) == list(taken)


@pytest.mark.usefixtures("compiled")
def test_converting_a_result_to_a_dictionary_keeps_its_boards():
    result = solve(PUZZLE)
    found = dataclasses.asdict(result)
    assert (found["puzzle"], found["solutions"]) == (dataclasses.asdict(PUZZLE), result.solutions)
    assert np.array_equal(found["solutions"][0], CELLS)


@pytest.mark.usefixtures("compiled")
def test_results_with_one_outcome_are_equal_and_have_one_hash():
    first, second = solve(PUZZLE), solve(PUZZLE, seconds=5)
    assert (first, hash(first)) == (second, hash(second))
    assert first != solve(Puzzle(rows=ROWS[::-1], columns=[[1, 1], [2], [1, 1]]))


class Frame:
    """What frames and images have in common: iterating over one yields something else than rows."""

    shape = (3, 3)

    def __init__(self, cells):
        self._cells = cells

    def __iter__(self):
        return iter(["a", "b", "c"])

    def __array__(self, dtype=None, copy=None):
        return np.array(self._cells, dtype=dtype)


@pytest.mark.parametrize(
    "cells",
    [np.array(CELLS), np.array(CELLS, bool), np.array(CELLS, float), Frame(CELLS), Frame(np.array(CELLS, bool)),
     np.ma.array(CELLS), tuple(map(tuple, CELLS)), ["###", ".#.", "#.#"], np.array(["###", ".#.", "#.#"]),
     memoryview(np.array(CELLS, np.uint8)), Image.fromarray(np.array(CELLS, bool)),
     Image.fromarray(np.array(CELLS, np.uint8))],
)  # fmt: skip
def test_boards_are_made_from_anything_that_numpy_accepts(cells):
    assert Puzzle.from_cells(cells) == PUZZLE
    assert check(PUZZLE, cells)


class Missing:
    """What pandas.NA has in common with NaN: it equals nothing; and what has not: nothing says so."""

    def __eq__(self, other):
        return self

    __ne__ = __eq__
    __hash__ = object.__hash__

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")


@pytest.mark.parametrize(
    "cells",
    [
        np.ma.array(CELLS, mask=[[0, 0, 1], [0, 0, 0], [0, 0, 0]]),
        np.ma.array(np.where([[0, 0, 1], [0, 0, 0], [0, 0, 0]], np.nan, CELLS)),
        np.where([[0, 0, 1], [0, 0, 0], [0, 0, 0]], np.nan, CELLS),
        Frame(np.array([[1, 1, float("nan")], *CELLS[1:]], object)),
        Frame(np.array([[1, 1, Missing()], *CELLS[1:]], object)),
        [[1, 1, float("nan")], *CELLS[1:]],
        ["##?", ".#.", "#.#"],
    ],
)
@pytest.mark.filterwarnings("error")
def test_masked_missing_and_question_mark_cells_are_unknown(cells):
    assert PartialGrid(cells).numbers() == [[1, 1, -1], *CELLS[1:]]
    assert solve(PUZZLE, start=cells).verdict == "unique"
    if isinstance(cells, list) and cells[0] == "##?":
        with pytest.raises(PuzzleError, match=r"'\?'; a cell is '#' \(black\) or '.' \(white\)"):
            Solution(cells)
        return
    with pytest.raises(PuzzleError, match="a solution holds 0"):
        Solution(cells)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: solve(PUZZLE, stop=3), "stop: 3; expected a threading.Event or None"),
        (lambda: nonobot.solutions(PUZZLE, stop=threading.Event), "stop: <class .*; expected a threading.Event"),
        (lambda: nonobot.steps(PUZZLE, stop=True), "stop: True; expected a threading.Event or None"),
        (lambda: solve(PUZZLE, seconds="3"), "seconds: '3'; expected a number or None"),
        (lambda: nonobot.steps(PUZZLE, seconds="3"), "seconds: '3'; expected a number or None"),
        (lambda: solve(PUZZLE, solutions="2"), "solutions: '2'; expected a whole number"),
        (lambda: solve(PUZZLE, solutions=1.5), "solutions: 1.5; expected a whole number"),
        (lambda: solve(PUZZLE, seconds=float("nan")), "seconds: nan; expected a number or None"),
        (lambda: nonobot.difficulty(PUZZLE, seconds=-1), "seconds: -1; expected a number or None, not below 0"),
        (lambda: nonobot.solve_all([PUZZLE], solutions=0), ".*0; expected 1 or more"),
        (lambda: nonobot.solve_all([PUZZLE], jobs=0), ".*0; expected 1 or more"),
        (lambda: nonobot.count(PUZZLE, most=-1), "most: -1; expected 0 or more"),
        (lambda: nonobot.solve_all([], jobs=1.5), "jobs: 1.5; expected a whole number"),
        (lambda: nonobot.solve_all(b"1-1"), "puzzles: b'1-1'; expected several puzzles"),
        (lambda: nonobot.solve_all(PUZZLE), "puzzles: Puzzle.*; expected several puzzles"),
        (lambda: nonobot.generate((10,), seed=7), r"size: \(10,\); expected a whole number, or a width and a"),
        (lambda: nonobot.generate("10", seed=7), "size: '10'; expected a whole number, or a width and a height"),
        (lambda: nonobot.generate(10, seed=1.5), "seed: 1.5; expected a whole number"),
        (lambda: read("1-1", errors=set()), r"errors: set\(\); expected a list or None"),
        (lambda: nonobot.write(["one.txt"], "x.non"), "puzzles: 'one.txt'; expected a Puzzle or a Record"),
        (lambda: nonobot.write("one.txt", "x.non"), "puzzles: 'one.txt'; expected several puzzles"),
        (lambda: nonobot.write(PUZZLE, b"x.non"), "path: b'x.non'; expected a str or a path object"),
        (lambda: nonobot.draw(PUZZLE, "svg", cell=-3), "cell: -3; expected 1 or more"),
        (lambda: nonobot.draw(PUZZLE, "png", cell=1), "cell: 1; expected 2 or more"),
        (lambda: nonobot.Record(3), "puzzle: 3; expected a Puzzle"),
        (lambda: nonobot.Record(PUZZLE, title=5), "title: 5; expected a str or None"),
        (lambda: Puzzle(rows=None, columns=COLUMNS), "rows: None; expected a list of clues"),
        (lambda: read(5), "source: 5; expected a file name, an open file, or the content as bytes or text"),
        (lambda: read(BATCH, size=3), "size: 3; expected a width and a height of 1 or more, 'auto' or None"),
        (lambda: read(BATCH, size="3x3"), "size: '3x3'; expected a width and a height of 1 or more"),
        (lambda: read(BATCH, size=(3, 0)), r"size: \(3, 0\); expected a width and a height of 1 or more"),
        (lambda: read(BATCH, size=(2, 1)), r".* 2x1 board, found 2; perhaps size=\(1, 1\)$"),
        (lambda: read(BATCH, size=(1, 0.5)), r"size: \(1, 0.5\); expected a width and a height"),
        (
            lambda: nonobot.generate(0, seed=7),
            "size: 0; expected a whole number, or a width and a height, of 1 or",
        ),
        (lambda: nonobot.generate(5, -1, seed=7), "count: -1; expected 0 or more"),
        (lambda: nonobot.write(PUZZLE, io.BytesIO()), "path: <_io.BytesIO .*>; expected a str or a path object"),
        (lambda: check(PUZZLE, solve(PUZZLE)), "grid: a solution has two dimensions"),
        (lambda: solve(PUZZLE, start=[[1, "?"]]), r"start: a partly .* -1 \(unknown\), .* only, not '\?'"),
        (lambda: nonobot.hint(PUZZLE, 5), "cells: a partly painted board has two dimensions"),
        (lambda: nonobot.draw(PUZZLE, "svg", cells=[[255]]), "cells: a partly .* only, not 255"),
    ],
)
@pytest.mark.usefixtures("compiled")
def test_a_wrong_argument_is_named_with_what_is_expected(call, message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        call()


def test_numbers_of_other_types_are_numbers(tmp_path, caplog):
    number = np.int64(2)
    assert solve(PUZZLE, solutions=number, seconds=Decimal(1)).verdict == "unique"
    assert list(nonobot.generate(number, number, seed=number)) == list(nonobot.generate(2, 2, seed=2))
    assert nonobot.count(PUZZLE, most=10**30) == 1
    nonobot.write(PUZZLE, tmp_path / "x.txt")
    assert caplog.messages[0].endswith("to be read with size=(3, 3)")


def test_a_size_may_be_an_array():
    assert read(BATCH, size=np.array([1, 1]))[0].puzzle == read(BATCH, size=(1, 1))[0].puzzle


@pytest.mark.parametrize(
    "rows",
    [
        np.array([[3, 0], [0, 1], [1, 1]]),
        Frame([[3, 0], [0, 1], [1, 1]]),
        [[0, 3], [1, 0, 0], (1, 1)],
        ((3,), range(1, 2), iter([1, 1])),
    ],
)
def test_clues_may_be_padded_with_zeros(rows):
    assert Puzzle(rows=rows, columns=COLUMNS) == PUZZLE


def test_read_accepts_text_bytes_or_an_open_file(tmp_path):
    text = "H\n3\n1\n1 1\nV\n1 1\n2\n1 1\n"
    (tmp_path / "p.hv").write_text(text)
    with (tmp_path / "p.hv").open("rb") as file, (tmp_path / "p.hv").open() as texts:
        sources = [text, text.encode(), bytearray(text.encode()), memoryview(text.encode()), file, texts]
        sources += [io.StringIO(text), io.BytesIO(text.encode()), tmp_path / "p.hv", str(tmp_path / "p.hv")]
        assert [[record.puzzle for record in read(source)] for source in sources] == [[PUZZLE]] * len(sources)


@pytest.mark.parametrize("source", ["", b"", " "])
def test_empty_input_is_reported_as_empty(source):
    with pytest.raises(PuzzleError, match=r"^(the file is empty|nothing but blank lines)$"):
        read(source)


@pytest.mark.parametrize("source", ["nowhere.non", Path("nowhere.non")])
def test_a_missing_file_raises_an_error_that_is_both_puzzle_and_os_error(source):
    for kind in (PuzzleError, FileNotFoundError):
        with pytest.raises(kind, match=r"^cannot read 'nowhere\.non': no such file$") as caught:
            read(source)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # as a pool of processes does
    kind = type(caught.value)
    assert isinstance(kind.__new__(kind, "no such file"), kind)  # as dask does


def test_dir_shows_the_public_names_and_no_others():
    assert [name for name in dir(nonobot) if not name.startswith("__")] == sorted(nonobot.__all__)
    stub = ast.parse((REPOSITORY / "nonobot/__init__.pyi").read_text())
    imported = [
        name.name for statement in stub.body if isinstance(statement, ast.ImportFrom) for name in statement.names
    ]
    assert sorted(imported) == sorted(nonobot.__all__)


RIGHT = """
import threading
from pathlib import Path
import numpy as np
import nonobot
from nonobot import Check, Difficulty, Hint, Puzzle, PuzzleError, Record, Result, Solution, Step
puzzle: Puzzle = Puzzle(rows=[[1]], columns=[[1]])
records: list[Record] = nonobot.read(Path("x.non"), errors=[])
result: Result = nonobot.solve(records[0], solutions=2, seconds=None, stop=threading.Event())
boards: tuple[Solution, ...] = result.solutions
verdicts: list[str] = [result.verdict for result in nonobot.solve_all([puzzle], jobs=None)]
hard: Difficulty = nonobot.difficulty(puzzle)
right: Check = nonobot.check(puzzle, np.zeros((1, 1)))
nonobot.write([puzzle], "x.non", format="non")
stop = threading.Event()
first: Solution = next(nonobot.solutions(puzzle, start=[[-1]], stop=stop))
number: int = nonobot.count(puzzle, most=5)
record = nonobot.Record(puzzle, start=[[-1]], solution=[[1]], title="x")
kinds: list[Step] = nonobot.steps(puzzle, seconds=1)
clue: Hint = nonobot.hint(puzzle, np.zeros((1, 1)))
cells: list[tuple[int, int]] = [*clue.black, *kinds[0].white]
made: list[Record] = [*nonobot.generate((5, 6), 3, seed=7), *nonobot.read_lazily(b"1:1-1:1")]
picture: bytes = nonobot.draw(result, "png", dark=True) + nonobot.draw(made[0], "svg", cells=first)
errors: list[PuzzleError] = []
left: list[Result] = [*nonobot.solve_all([puzzle], errors=errors.append), *nonobot.solve_all([], errors="skip")]
known: object = result.known
try:
    Puzzle.from_cells([[1]])
except PuzzleError:
    pass
"""
WRONG = [
    "from nonobot import Puzle", "nonobot.slove('x')", "v: nonobot.Verdict", "nonobot.solve_al([])",
    "nonobot.reed('x')", "nonobot.Puzzle(row=[[1]], columns=[[1]])", "nonobot.Puzzle([[1]])", "nonobot.solve(1)",
    "nonobot.solve('x', second=1)",
    "nonobot.solve('x').verdit", "nonobot.solve('x').solutions[0].cels()", "nonobot.solve('x', stop=True)",
    "nonobot.solve_all(5)", "nonobot.difficulty('x').lvl", "nonobot.write([], format='non')", "nonobot.read(5)",
    "nonobot.check('x')", "nonobot.solve('x', seconds='1')", "nonobot.solve('x', starts=1)",
    "x: str = nonobot.read('x')", "nonobot.draw('x', 'gif')", "nonobot.generate(5)", "nonobot.hint('x').cells",
    "nonobot.count('x', at_most=3)", "nonobot.solve_all([], errors='ignore')", "nonobot.steps('x')[0].lines",
]  # fmt: skip


@pytest.mark.slow  # with the developers' tools, which README's tests do without
@pytest.mark.parametrize(
    ("checker", "options"),
    [("mypy", ["--strict", "--no-error-summary"]), ("pyright", ["--pythonpath", sys.executable])],
)
def test_type_checkers_accept_right_programs_and_no_wrong_use(tmp_path, checker, options):
    if not find_spec(checker):
        pytest.skip(f"needs {checker}")
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text("import nonobot\n" + "\n".join(WRONG) + "\n")
    command = [sys.executable, "-m", checker, *options, "right.py", "wrong.py"]
    done = subprocess.run(command, cwd=tmp_path, text=True, **CAPTURED)
    lines = [
        line.strip().removeprefix(f"{tmp_path}{os.sep}") for line in done.stdout.splitlines() if " error: " in line
    ]
    assert lines, done.stderr
    assert [line for line in lines if line.startswith("right.py")] == []
    found = {int(line.split(":")[1]) for line in lines if line.startswith("wrong.py")}
    assert [WRONG[number] for number in range(len(WRONG)) if number + 2 not in found] == []


@pytest.mark.slow  # with the developers' tools, which README's tests do without
def test_editors_complete_the_public_names_and_show_signatures():
    jedi = pytest.importorskip("jedi", reason="needs jedi")
    script = jedi.Script("import nonobot\nnonobot.", environment=jedi.InterpreterEnvironment())
    names = {completion.name for completion in script.complete(2, 8)}
    assert {*nonobot.__all__} <= names
    for name in nonobot.__all__:
        text = f"import nonobot\nnonobot.{name}("
        [signature, *_] = jedi.Script(text, environment=jedi.InterpreterEnvironment()).get_signatures()
        assert signature.params
        assert signature.docstring()


def test_running_from_a_zip_file_is_a_one_line_error(tmp_path):
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as file:
        for folder in ("", "/bot", "/protocol"):
            for path in (REPOSITORY / f"nonobot{folder}").glob("**/*.py"):
                file.write(path, path.relative_to(REPOSITORY))
        file.writestr("__main__.py", "import nonobot; nonobot.solve(nonobot.Puzzle(rows=[[1]], columns=[[1]]))")
    done = subprocess.run([sys.executable, "-I", str(tmp_path / "app.zip")], text=True, **CAPTURED)
    last = done.stderr.splitlines()[-1]
    assert last == "ImportError: nonobot cannot solve from within a zip file: unpack it, or install nonobot"
