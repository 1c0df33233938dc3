"""The opponents as processes: the protocol, limits, ends from outside, and what they say."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nonobot.arguments import missing
from nonobot.harness.opponents.__main__ import OPPONENTS, main, summary
from nonobot.protocol import Puzzle
from tests.harness.opponents.test_opponents import ENGINES, opponent
from tests.helpers.boards import random_grid
from tests.helpers.places import REPOSITORY
from tests.helpers.talking import CAPTURED, GOOD, GRID, NONE, answers, batch, hard
from tests.helpers.waiting import PATIENCE_SECONDS, finished, next_bytes, running

pytestmark = [pytest.mark.usefixtures("compiled"), pytest.mark.slow]

PACKAGES = {"sat": "python-sat", "cp_sat": "ortools"}
ZEROS = [[0, 0], [0, 0]]


def command(name: str, *options: str) -> list[str]:
    return [sys.executable, "-m", f"nonobot.harness.opponents.{name}", *options]


def run(name: str, text: bytes, *options: str, **more: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command(name, *options), input=text, **CAPTURED, **more)


def too_hard(name: str) -> tuple[Puzzle, Puzzle, int]:
    """Return a board that takes an opponent seconds or more, an all white one of the same size, and the size."""
    # For the tables of `csp` a larger board would be refused.
    puzzle = Puzzle.from_grid(random_grid(random.Random(1), 30, 30, 0.5)) if name == "csp" else hard()
    size = puzzle.width
    return puzzle, Puzzle.unchecked(columns=((),) * size, rows=((),) * size), size


@pytest.fixture(params=OPPONENTS)
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of each opponent; skip where its engine is not installed."""
    opponent(request.param)
    return str(request.param)


def test_every_opponent_speaks_the_protocol(name):
    done = run(name, batch(GOOD, NONE, b"2x\n\n\n\n", GOOD), "--size", "2x2")
    assert done.stdout == answers(GRID, ZEROS, ZEROS, GRID)
    assert done.stderr == (b"$2: line 6: the puzzle has no solution\n$3: line 12: clue '2x' is not a number\n")
    assert done.returncode == 1


def test_every_answer_comes_before_the_next_puzzle(name):
    streams = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    with running(command(name, "--size", "2x2"), bufsize=0, **streams) as process:
        for _ in range(2):
            process.stdin.write(batch(GOOD))
            assert next_bytes(process, len(answers(GRID))) == answers(GRID)
        finished(process)
    assert process.returncode == 0


def test_every_opponent_gives_a_puzzle_up_at_its_limit_and_goes_on(name):
    puzzle, white, size = too_hard(name)
    done = run(name, batch(puzzle, white), "--size", f"{size}x{size}", "--puzzle-limit", "0.5")
    zeros = [[0] * size] * size
    assert done.stdout == answers(zeros, zeros)
    assert (done.stderr, done.returncode) == (b"$1: line 1: not solved within the limit of 0.5 s\n", 1)


@pytest.mark.parametrize("propagator", ["bt", "gac"])
def test_tables_that_are_too_large_are_refused_in_a_line(propagator):
    clue = (1,) * 8
    big = Puzzle.unchecked(columns=((1,),) * 8 + ((),) * 38, rows=(clue,))
    small = Puzzle.unchecked(columns=((1,),) * 46, rows=((46,),))
    done = run("csp", batch(big, small), "--size", "46x1", "--propagator", propagator)
    assert done.stdout == answers([[0] * 46], [[1] * 46])
    assert done.stderr == b"$1: line 1: the table of row 1 has 61,523,748 tuples; up to 1,000,000 are kept\n"
    assert done.returncode == 1


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_every_opponent_at_once_and_quietly(name, end, tmp_path):
    puzzle, white, size = too_hard(name)
    errors = tmp_path / "stderr"
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    hard_one = command(name, "--size", f"{size}x{size}")
    with errors.open("wb") as stderr, running(hard_one, stderr=stderr, **streams) as process:
        process.stdin.write(batch(white, puzzle))
        first = answers([[0] * size] * size)
        assert next_bytes(process, len(first)) == first  # started, and on to the hard one
        process.send_signal(end)
        process.wait(PATIENCE_SECONDS)
    assert process.returncode == -end
    assert b"Traceback" not in errors.read_bytes()
    assert b"Interrupt" not in errors.read_bytes()


def test_a_closed_stdout_ends_every_opponent_quietly(name):
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(command(name, "--size", "2x2"), bufsize=0, **streams)
    process.stdout.close()
    process.stdin.write(batch(GOOD))
    process.wait(PATIENCE_SECONDS)
    assert (finished(process)[1], process.returncode) == (b"", 1)


@pytest.mark.parametrize("name", ENGINES)
def test_an_opponent_without_its_extra_names_the_install_command(name, tmp_path):
    # A package of the engine's name that cannot be imported stands in front of the real one, if there is any.
    (tmp_path / f"{ENGINES[name]}.py").write_text("raise ImportError")
    path = os.pathsep.join([str(tmp_path), str(REPOSITORY)])
    done = run(name, batch(GOOD), "--size", "2x2", env={**os.environ, "PYTHONPATH": path})
    assert done.stderr.decode() == missing(name, PACKAGES[name]) + "\n"
    assert (done.stdout, done.returncode) == (b"", 2)


def test_options_choose_the_sat_solver_and_the_size():
    opponent("sat")
    done = run("sat", batch(GOOD), "--size", "2x2", "--solver", "cadical195")
    assert (done.stdout, done.returncode) == (answers(GRID), 0)
    done = run("line_logic", batch(GOOD, Puzzle.from_grid([[1]])), "--size", "auto")
    assert (done.stdout, done.returncode) == (answers(GRID, [[1]]), 0)


def test_the_list_has_a_line_for_every_module_that_can_be_started(output_of, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["opponents"])
    lines = [line.split(maxsplit=1) for line in output_of(main).out.splitlines()]
    assert all(len(summary(name)) > 20 and [name, summary(name)] in lines for name in OPPONENTS)
    folder = Path(main.__code__.co_filename).parent
    started = {path.stem for path in folder.glob("*.py") if '__name__ == "__main__"' in path.read_text()}
    assert started - {"__main__"} == set(OPPONENTS)


def test_the_help_of_every_opponent_has_source_example_and_exit_status(name):
    done = run(name, b"", "--help")
    assert done.returncode == 0
    for part in (summary(name), "Source:", f"python -m nonobot.harness.opponents.{name} --size", "exit status:"):
        assert part in done.stdout.decode()
