"""Solving for Python programs, against enumeration; Ctrl-C, and programs that want no more."""

import itertools
import logging
import os
import random
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from nonobot import Difficulty, Puzzle, PuzzleError, Record, api, difficulty, solve, solve_all
from tests import naive
from tests.helpers.boards import random_grid
from tests.helpers.places import REPOSITORY
from tests.helpers.talking import CAPTURED, hard
from tests.helpers.waiting import PATIENCE_SECONDS, finished, next_line, running

pytestmark = pytest.mark.usefixtures("compiled")

ONE = Puzzle(rows=[[1], [2]], columns=[[2], [1]])
TWO = Puzzle(rows=[[1], [1]], columns=[[1], [1]])
SIX = Puzzle(rows=[[1]] * 3, columns=[[1]] * 3)
NONE = Puzzle(rows=[[2], []], columns=[[2], []])


def test_a_missing_numba_is_a_missing_module_and_not_an_error_of_the_puzzle(monkeypatch):
    monkeypatch.setattr(api, "_idle", [])
    monkeypatch.setattr("nonobot.bot.kernels.shipped.has_kernels", lambda: False)
    monkeypatch.setattr("nonobot.bot.kernels.compiler.find_spec", lambda _: None)
    with pytest.raises(ImportError, match="compiling the kernels needs numba, not installed; install with: "):
        solve(ONE)


@pytest.mark.parametrize(
    ("puzzle", "verdict", "status"),
    [
        (ONE, "unique", "solved"),
        (TWO, "multiple", "solved"),
        (SIX, "multiple", "solved"),
        (NONE, "unsolvable", "unsolvable"),
    ],
)
def test_solve_looks_for_two_solutions_to_find_the_verdict(puzzle, verdict, status):
    right = naive.solutions(puzzle)
    result = solve(puzzle)
    assert (result.verdict, result.status) == (verdict, status)
    assert result.exhausted or len(right) >= 2
    assert len(set(result.solutions)) == len(result.solutions) == min(2, len(right))
    assert all(solution.cells.tolist() in right for solution in result.solutions)


def test_solve_accepts_the_name_of_a_file_with_one_puzzle(tmp_path):
    file = tmp_path / "x.oneline"
    file.write_text("1:2-2:1\n")
    assert solve(str(file)).solutions == solve(file).solutions == solve(ONE).solutions
    assert [result.solutions for result in solve_all(str(file))] == [solve(ONE).solutions]
    assert difficulty(file).level == "lines"
    file.write_text("1:2-2:1\n1:2-2:1\n")
    for wrong, why in (
        (str(file), "the file contains 2 puzzles; .* solve_all"),
        ("x.non", "cannot read 'x.non': no such file"),
        ("x", "not a file, and not a puzzle"),
        ([ONE], "not a puzzle: a list"),
    ):
        with pytest.raises(PuzzleError, match=why):
            solve(wrong)


def test_results_print_themselves():
    assert str(solve(ONE)).splitlines()[:2] == ["unique", "    2 1"]
    assert solve(ONE)._repr_svg_().startswith("<svg")
    result = solve(hard(), seconds=0.01)
    assert (result.status, str(result)) == ("timeout", "unknown")
    assert result._repr_svg_().startswith("<svg")


def test_solve_respects_the_start_board():
    [left, right] = [[[1, -1], [-1, -1]], [[0, -1], [-1, -1]]]
    found = {solve(TWO, start=start).solutions[0].cells.tolist()[0][0] for start in (left, right)}
    assert found == {0, 1}
    record = Record(TWO, start=np.array(left, np.int8))
    assert solve(record).verdict == "unique"
    assert solve(record).solutions[0].cells[0, 0] == 1
    assert solve(record, start=right).solutions[0].cells[0, 0] == 0
    assert next(solve_all([record])).verdict == "unique"


def test_a_time_limit_may_be_longer_than_any_search():
    for seconds in (1e10, 1e15, float("inf")):
        assert solve(TWO, seconds=seconds).verdict == "multiple"


@pytest.mark.parametrize("jobs", [1, 3, None])
def test_solve_all_keeps_order_and_counts_with_any_number_of_jobs(jobs):
    puzzles = [Puzzle.from_cells(random_grid(random.Random(seed), 12, 12, 0.5)) for seed in range(40)]
    together = list(solve_all(puzzles, jobs=jobs))
    for puzzle, result in zip(puzzles, together, strict=True):
        alone = solve(puzzle)
        assert result.puzzle == puzzle
        assert (result.solutions, result.counts) == (alone.solutions, alone.counts)


def test_closing_solve_all_early_leaves_the_solver_usable():
    results = solve_all(itertools.repeat(ONE), jobs=2)
    assert next(results).verdict == "unique"
    results.close()
    assert solve(ONE).verdict == "unique"


def test_ctrl_c_ends_a_search_at_once_and_the_program_continues():
    code = (
        "import nonobot, sys\n"
        "from tests.helpers.talking import CAPTURED, hard\n"
        "hard = hard()\n"
        "nonobot.solve(nonobot.Puzzle(rows=[[1]], columns=[[1]]))\n"
        "try:\n"
        "    print('ready', flush=True)\n"
        "    nonobot.solve(hard, seconds=None)\n"
        "except KeyboardInterrupt:\n"
        "    print(nonobot.solve(nonobot.Puzzle(rows=[[1]], columns=[[1]])).verdict)\n"
    )
    with running([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as program:
        assert next_line(program) == "ready\n"
        program.send_signal(signal.SIGINT)
        assert finished(program)[0] == "unique\n"
    assert program.returncode == 0


def test_a_program_exits_while_searches_are_running():
    code = (
        "import nonobot\n"
        "from tests.helpers.talking import CAPTURED, hard\n"
        "easy = nonobot.Puzzle(rows=[[1]], columns=[[1]])\n"
        "for result in nonobot.solve_all([easy, hard(), hard()], jobs=2, seconds=None):\n"
        "    raise SystemExit(result.verdict)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "unique\n")


@pytest.mark.parametrize(
    "ending",
    [
        "print(next(nonobot.solve_all([easy] + [hard] * 4, jobs=2, seconds=None)).verdict)",
        "threading.Thread(target=nonobot.solve, args=[hard], kwargs={'seconds': None}, daemon=True).start()\n"
        "while not _thread._count() > 1: time.sleep(0.01)\n"
        "print('unique')",
        "solved = threading.Event()\n"
        "def solve_on():\n"
        "    while True: nonobot.solve(easy), solved.set()\n"
        "threading.Thread(target=solve_on, daemon=True).start()\n"
        "solved.wait()\n"  # Python 3.11.2 itself can crash where it ends while a thread starts
        "print('unique')",
    ],
)
def test_an_exit_during_searches_prints_no_error(ending):
    done = subprocess.run([sys.executable, "-c", f"{HARD}import _thread\n{ending}"], text=True, **CAPTURED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "unique\n", "")


def test_a_million_jobs_are_accepted():
    assert [result.verdict for result in solve_all([ONE] * 3, jobs=10**6)] == ["unique"] * 3


def test_one_job_reads_no_puzzle_ahead():
    results = []

    def puzzles():
        for number in range(3):
            assert len(results) == number
            yield ONE

    for result in solve_all(puzzles()):
        results.append(result)
    assert len(results) == 3


def test_compiling_is_logged(caplog, monkeypatch):
    monkeypatch.setattr(api, "_idle", [])
    strategy = api._strategy()
    caplog.clear()  # of kernels that were compiled just now
    with caplog.at_level(logging.WARNING, "nonobot"):
        for share in (0.0, 0.5, 1.0):
            strategy._on_compile("line logic", share, 12.4)
    assert caplog.messages == ["compiling line logic (once per version and machine; about 10 s) ..."]


def test_difficulty_levels_equal_those_of_the_slow_reference():
    levels = set()
    for seed in (33, 55, 56, 57, 58, 61):
        puzzle = Puzzle.from_cells(random_grid(random.Random(seed), 12, 12, 0.55))
        found = difficulty(puzzle).level
        assert found == naive.least_method(puzzle)
        levels.add(found)
    assert levels == {"lines", "probing", "search"}


@pytest.mark.parametrize(
    ("start", "level"),
    [
        (None, "probing"),
        ([[-1] * 7] * 4, "probing"),  # nothing is given
        ([[-1] * 7, [-1] * 7, [-1] * 7, [0] + [-1] * 6], "probing"),
        ([[0, 1, 0, 0, 1, 1, 0]] + [[-1] * 7] * 3, "lines"),
        ("solution", "lines"),
        ([[0] * 7] + [[-1] * 7] * 3, "unknown"),  # contradicts the clues
    ],
)
def test_probing_starts_from_the_given_cells(start, level):
    puzzle = Puzzle([[1, 2], [2, 1], [1, 1], [3]], [[1], [1, 1], [1], [1, 1], [2], [1, 1], [1]])
    if start == "solution":
        start = solve(puzzle).solutions[0].numbers()
    assert difficulty(Record(puzzle, start=start)).level == level


def test_difficulty_respects_the_time_limit_and_the_start_board():
    assert difficulty(TWO).level == "search"
    assert difficulty(Record(TWO, start=np.array([[1, -1], [-1, -1]], np.int8))).level == "lines"
    assert difficulty(NONE) == Difficulty("unknown", 0, "unsolvable")
    assert difficulty(hard(), seconds=0.01).level == "unknown"


# Stopping

HARD = f"""
import os, random, sys, threading, time, nonobot
rng = random.Random(3)
hard = nonobot.Puzzle.from_cells([[rng.random() < .45 for _ in range(60)] for _ in range(60)])
easy = nonobot.Puzzle(rows=[[1]], columns=[[1]])
def is_idle():
    for _ in range({PATIENCE_SECONDS} * 10):
        before = time.process_time()
        time.sleep(0.1)
        if time.process_time() - before < 0.02:
            return True
"""

RECIPES = (REPOSITORY / "docs" / "python.md").read_text()
[SOLVED_WITHIN] = re.findall(r"```python\n(async def solved_within.*?)```", RECIPES, re.DOTALL)

STOPS = {
    "a loop that is left": """
results = nonobot.solve_all([easy] + [hard] * 4, seconds=None)
for result in results: break
""",
    "a loop of several jobs": """
results = nonobot.solve_all([easy] + [hard] * 4, seconds=None, jobs=2)
for result in results: break
""",
    "an error in the loop": """
results = nonobot.solve_all([easy] + [hard], seconds=None)
try:
    for result in results: raise OSError
except OSError: pass
""",
    "an event": """
stop = threading.Event()
threading.Timer(0.2, stop.set).start()
assert nonobot.solve(hard, seconds=None, stop=stop).verdict == "unknown"
assert [result.verdict for result in nonobot.solve_all([hard, hard], seconds=None, stop=stop)] == ["unknown"]
assert nonobot.difficulty(hard, seconds=None, stop=stop).level == "unknown"
assert nonobot.solve(easy).verdict == "unique"
""",
    "asyncio": f"""
import asyncio, contextlib
{SOLVED_WITHIN}
async def main():
    assert (await solved_within(hard, 0.2)).verdict == "unknown"
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(solved_within(hard, None), 0.2)  # which cancels it
asyncio.run(main())
""",
    "a child of fork": """
threading.Thread(target=lambda: nonobot.solve(hard, seconds=1), daemon=True).start()
time.sleep(0.3)
if not os.fork():
    sys.exit(0)
os.wait()
time.sleep(1)
""",
}  # fmt: skip


@pytest.mark.parametrize("ending", STOPS)
def test_no_search_runs_after_a_loop_over_results_is_left(ending):
    program = f"{HARD}{STOPS[ending]}\nassert is_idle()"
    # -W: from Python 3.12 on, a fork beside threads warns.
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], text=True, **CAPTURED)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_stop_ends_a_compilation(tmp_path):
    program = """
import logging
stop = threading.Event()
class StopAtSearch(logging.Handler):
    def emit(self, record):
        if "compiling the search" in record.getMessage():
            stop.set()
logging.getLogger("nonobot").addHandler(StopAtSearch())
print(nonobot.solve(hard, seconds=None, stop=stop).verdict)
"""
    environment = {**os.environ, "NONOBOT_CACHE_DIR": str(tmp_path), "NONOBOT_KERNELS": "native"}
    done = subprocess.run([sys.executable, "-c", HARD + program], text=True, env=environment, **CAPTURED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "unknown\n", "")
    assert [path.name.partition("-")[0] for path in tmp_path.rglob("*.code")] == ["propagate_root"]


def test_puzzles_are_read_in_the_callers_thread():
    threads = []

    def puzzles():
        for _ in range(3):
            threads.append(threading.get_ident())
            yield ONE

    assert len([*solve_all(puzzles(), jobs=2)]) == 3
    assert set(threads) == {threading.get_ident()}


def test_searches_after_a_stop_have_the_same_results_as_before():
    stop = threading.Event()
    stop.set()
    for jobs in (1, 3):
        for _ in range(20):
            assert len([*solve_all([ONE] * 9, jobs=jobs, stop=stop)]) == 1
            results = [*solve_all([ONE, TWO, SIX] * 3, jobs=jobs)]
            assert [result.verdict for result in results] == ["unique", "multiple", "multiple"] * 3
