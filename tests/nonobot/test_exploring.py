"""All solutions, steps, hints, generated puzzles and pictures for Python programs."""

import _thread
import contextlib
import itertools
import random
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import nonobot
from nonobot import (
    Hint,
    Puzzle,
    PuzzleError,
    Record,
    api,
    count,
    difficulty,
    draw,
    generate,
    hint,
    read_lazily,
    solutions,
    steps,
)
from nonobot.bot import dialogue
from nonobot.harness import cli
from nonobot.protocol import PartialGrid
from tests import naive
from tests.helpers.boards import random_grid
from tests.helpers.places import REPOSITORY
from tests.helpers.talking import CAPTURED, hard
from tests.helpers.waiting import wait_until

pytestmark = pytest.mark.usefixtures("compiled")

SMILE = Puzzle(rows=[[3], [1], [1, 1]], columns=[[1, 1], [2], [1, 1]])
MANY = Puzzle(rows=[[1]] * 30, columns=[[1]] * 30)  # the orders of thirty things
TOO_LARGE = Puzzle.from_cells([[0] * 1023])


def grids(found):
    return sorted(tuple(map(tuple, solution.numbers())) for solution in found)


# All solutions


@pytest.mark.parametrize("side", [2, 3, 4, 5])
def test_all_solutions_equal_those_of_enumeration(side):
    rng = random.Random(side)
    for _ in range(30):
        puzzle = Puzzle.from_cells(random_grid(rng, side, rng.randint(1, 5)))
        right = sorted(tuple(map(tuple, grid)) for grid in naive.solutions(puzzle))
        assert grids(solutions(puzzle)) == right
        assert (count(puzzle), count(puzzle, most=1)) == (len(right), 1)
        given = [list(row) for row in right[0]]
        assert (tuple(map(tuple, given)),) == tuple(grids(solutions(puzzle, start=given)))


def test_all_720_solutions_are_counted_and_impossible_puzzles_have_0():
    assert count(Puzzle(rows=[[1]] * 6, columns=[[1]] * 6)) == 720
    assert list(solutions(Puzzle(rows=[[2], []], columns=[[2], []]))) == []
    assert count("1:1-1:1\n") == 2
    with pytest.raises(PuzzleError, match="too large"):
        count(TOO_LARGE)


def others_that_run():
    """Return the other threads of this process that run, or could: a search always does."""
    states = {}
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has ended
            states[task.name] = (task / "stat").read_text().rpartition(")")[2].split()[0]
    return [name for name, state in states.items() if state == "R" and name != str(threading.get_native_id())]


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="needs the states of threads, as in Linux's /proc"
)
def test_no_search_runs_between_two_solutions_or_after_the_loop():
    left = solutions(MANY)
    first = [next(left) for _ in range(3)]
    wait_until(lambda: not others_that_run())
    assert grids(first) == grids(itertools.islice(solutions(MANY), 3))
    threads = _thread._count()  # of all threads, not only of those from `threading`
    for _ in solutions(MANY):
        break
    wait_until(lambda: _thread._count() == threads)
    left.close()
    wait_until(lambda: _thread._count() == threads - 1)


def test_a_stop_ends_the_solutions_and_a_search_for_the_next_one():
    stop = threading.Event()
    found = []
    for solution in solutions(MANY, stop=stop):
        found.append(solution)
        if len(found) == 5:
            stop.set()
    assert len(found) == 5
    timer = threading.Timer(0.2, stop.set)
    stop.clear()
    timer.start()
    list(solutions(hard(), stop=stop))
    assert stop.is_set()
    assert ([*solutions(MANY, stop=stop)], steps(MANY, stop=stop), count(MANY, stop=stop)) == ([], [], 0)


def test_a_process_exits_even_if_an_iterator_is_unfinished():
    code = (
        "import nonobot; left = nonobot.solutions(nonobot.Puzzle(rows=[[1]] * 30, columns=[[1]] * 30)); next(left)"
    )
    done = subprocess.run([sys.executable, "-c", code], **CAPTURED)
    assert (done.returncode, done.stderr) == (0, b"")


# Known cells


@pytest.mark.parametrize("side", [5, 8, 20])
def test_cells_known_at_a_limit_agree_with_every_solution(side):
    rng = random.Random(side)
    strategy = api._strategy()
    known_cells = 0
    for number in range(60):
        grid = random_grid(rng, side, side)
        puzzle = Puzzle.from_cells(grid)
        for limit in (1, 2 * side, 5 * side, 20 * side):
            result = strategy.solve(puzzle, solutions=1 + number % 2, line_limit=limit)
            assert (result.known is None) == (result.status != "timeout")
            if result.known is not None:
                for cell, right in zip(result.known.content, itertools.chain(*grid), strict=True):
                    # With several solutions, this one has the cell as well as all others.
                    assert cell in (255, right)
                    known_cells += cell != 255
    assert known_cells
    api._idle.append(strategy)


# Steps and hints


def test_steps_lead_from_the_given_cells_to_the_solution():
    cells = [[-1] * 3 for _ in range(3)]
    for step in steps(SMILE):
        assert step.kind == "painted"
        assert not step.unknown
        for colour, places in ((1, step.black), (0, step.white)):
            for row, column in places:
                assert cells[row][column] == -1
                cells[row][column] = colour
                assert step.line in (None, f"row {row + 1}", f"column {column + 1}")
    assert nonobot.check(SMILE, cells)


def test_steps_of_a_search_undo_failed_guesses(caplog):
    found = steps(Puzzle(rows=[[1]] * 4, columns=[[1]] * 4))
    assert {"guessed"} < {step.kind for step in found}
    assert not caplog.records


def test_steps_after_a_stop_are_left_out(monkeypatch):
    whole, stop = steps(SMILE), threading.Event()
    of_dialogue, explanation = dialogue.steps, dialogue._explanation

    def steps_until_stop(strategy, request):
        def explanation_until_stop(*arguments):
            stop.set()
            wait_until(lambda: strategy.is_stopped)
            return explanation(*arguments)

        monkeypatch.setattr(dialogue, "_explanation", explanation_until_stop)
        return of_dialogue(strategy, request)

    monkeypatch.setattr(dialogue, "steps", steps_until_stop)
    assert steps(SMILE, stop=stop) == whole[:1]


def test_steps_after_the_time_limit_are_left_out(monkeypatch):
    whole, now = steps(SMILE), 0.0
    explanation = dialogue._explanation

    def explanation_after_a_minute(*arguments):
        nonlocal now
        now = 60.0
        return explanation(*arguments)

    monkeypatch.setattr(dialogue, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(dialogue, "_explanation", explanation_after_a_minute)
    assert steps(SMILE, seconds=None) == whole
    now = 0.0
    assert steps(SMILE, seconds=50) == whole[:1]


def test_a_hint_names_the_best_line_and_the_wrong_ones():
    assert hint(SMILE) == Hint("row 1", ((0, 0), (0, 1), (0, 2)), (), ())
    assert hint(SMILE, [[1, 1, 1], [-1, -1, -1], [-1, 1, -1]]) == Hint(None, (), (), ("row 3", "column 2"))
    assert not hint(SMILE, [[1, 1, 1], [0, 1, 0], [1, 0, 1]])
    with pytest.raises(PuzzleError, match="a 1x1 board for a 3x3 puzzle"):
        hint(SMILE, [[1]])


# Generated puzzles, files, pictures


def test_generated_puzzles_equal_those_of_the_command(tmp_path, capfdbinary):
    assert cli.run(["generate", "7x5x4", "--seed", "9", "--p1", "0.3"]) == 0
    printed = capfdbinary.readouterr().out
    made = list(generate((7, 5), 4, seed=9, p1=0.3))
    assert [record.puzzle for record in made] == [record.puzzle for record in nonobot.read(printed, size=(7, 5))]
    assert all(nonobot.check(record, record.solution) for record in made)
    assert [record.number for record in made] == [1, 2, 3, 4]
    assert next(generate(seed=1)).size == (25, 25)


def test_files_of_many_puzzles_are_read_one_at_a_time(tmp_path):
    path = tmp_path / "many.txt"
    path.write_text("1:1-1:1\n" * 3 + "2:1-1:1\n" + "1:1-1:1\n")
    left = read_lazily(path)
    assert [next(left).number for _ in range(3)] == [1, 2, 3]
    with pytest.raises(PuzzleError, match=r"many.txt: \$4: line 4"):
        next(left)
    errors = []
    assert [record.number for record in read_lazily(path, errors=errors)] == [1, 2, 3, 5]
    assert len(errors) == 1


def test_a_bad_puzzle_stops_solve_all_only_if_errors_are_raised(tmp_path):
    path = tmp_path / "many.txt"
    path.write_text("1:1-1:1\n2:1-1:1\n1:1-1:1\n")
    for jobs in (1, 2):
        assert len(list(nonobot.solve_all(path, errors="skip", jobs=jobs))) == 2
        errors = []
        puzzles = [SMILE, TOO_LARGE, "no-such-file.non", "1:1-1:1\n", Record(SMILE), 7]
        found = list(nonobot.solve_all(puzzles, errors=errors.append, jobs=jobs))
        assert [result.puzzle.size for result in found] == [(3, 3), (2, 2), (3, 3)]
        assert [type(error).__name__ for error in errors] == ["PuzzleError", "MissingFileError", "PuzzleError"]
        left = nonobot.solve_all([SMILE, TOO_LARGE, SMILE], jobs=jobs)
        assert next(left).verdict == "unique"
        with pytest.raises(PuzzleError, match="is too large"):
            next(left)
    with pytest.raises(ValueError, match="errors: 'ignore'; expected 'raise', 'skip' or a function"):
        nonobot.solve_all([], errors="ignore")
    with pytest.raises(FileNotFoundError):
        nonobot.solve_all("no-such-file.non", errors="skip")


def test_pictures_equal_those_of_the_command(tmp_path, capsys):
    pytest.importorskip("PIL", reason="the extra `pictures` is not installed")
    nonobot.write(SMILE, tmp_path / "smile.non")
    for end in ("svg", "png"):
        path = tmp_path / f"smile.{end}"
        assert cli.run(["render", str(tmp_path / "smile.non"), "-o", str(path), "--theme", "light"]) == 0
        record = Record(SMILE, number=1)
        assert len(draw(record, end)) == pytest.approx(len(path.read_bytes()), abs=10)  # but for the name
    result = nonobot.solve(SMILE)
    solved = draw(result, "svg")
    assert solved == draw(SMILE, "svg", cells=result.solutions[0])
    assert solved == draw(SMILE, "svg", cells=np.array([[1, 1, 1], [0, 1, 0], [1, 0, 1]]))
    assert solved != draw(SMILE, "svg") != draw(SMILE, "svg", dark=True)
    given = Record(SMILE, start=PartialGrid([[1, -1, -1], [-1] * 3, [-1] * 3]))
    assert draw(given, "svg") != draw(SMILE, "svg")
    with pytest.raises(ValueError, match="format: 'gif'; expected 'png' or 'svg'"):
        draw(SMILE, "gif")
    with pytest.raises(ValueError, match="size"):
        draw(SMILE, "svg", cells=[[1]])


# The recipes of docs/python.md


def recipes():
    """Return the code of the table of recipes, without the dots that stand for a caller's own lines."""
    page = (REPOSITORY / "docs/python.md").read_text()
    table = page.partition("\n## Recipes\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[1] for line in table.splitlines() if line.startswith("| ") and "`" in line]
    found = [code for row in rows for code in re.findall(r"`([^`]*nonobot\.[^`]*|pandas[^`]*)`", row)]
    assert len(found) >= 12
    return found


@pytest.mark.parametrize("code", recipes())
def test_each_documented_recipe_works(code, tmp_path, monkeypatch):
    if "png" in code:
        pytest.importorskip("PIL", reason="the extra `pictures` is not installed")
    monkeypatch.chdir(tmp_path)
    nonobot.write(SMILE, "puzzle.non")
    Path("many.txt").write_text("1:1-1:1\n2:1-1:1\n")
    board = [[1, 1, 1], [-1] * 3, [-1] * 3]
    if ".check(" in code:
        board = [[1, 1, 1], [0, 1, 0], [1, 0, 1]]
    result = nonobot.solve(SMILE)
    names = {"nonobot": nonobot, "Path": Path, "puzzle": SMILE, "board": board, "result": result}
    names |= {"array": np.eye(3), "results": [result], "pandas": SimpleNamespace(DataFrame=list)}
    exec(code.replace("one for one in nonobot.generate(10, 1000", "one for one in nonobot.generate(5, 20"), names)


def test_threads_explain_puzzles_at_the_same_time():
    rng = random.Random(1)
    puzzles = [Puzzle.from_cells(random_grid(rng, 20, 20, 0.5)) for _ in range(20)]

    def explained(puzzle):
        return [(hint(puzzle), difficulty(puzzle)) for _ in range(5)]

    alone = [[(hint(puzzle), difficulty(puzzle))] * 5 for puzzle in puzzles]
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(explained, puzzles)] == alone
