"""The kernels for browsers: the pure wheel in Pyodide, run by Node, does what the bot does natively."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from zipfile import ZipFile

import pytest

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.champion.state import SMALL, champion_map
from nonobot.bot.dialogue import answer
from nonobot.bot.kernels import shipped
from nonobot.bot.kernels.shipped import WASM32
from nonobot.harness import UnusableError
from nonobot.harness.page.pyodide import pyodide_folder
from nonobot.protocol import Puzzle
from tests.helpers.talking import GOOD, PATIENCE_SECONDS
from tools import golden_counts
from tools.release import level_kernels

TRIAL = Path(__file__).with_name("in_pyodide.mjs")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("compiled"),
    pytest.mark.skipif(not shutil.which("node"), reason="there is no Node here"),
]


@pytest.fixture(name="pyodide", scope="module")
def _pyodide():
    try:
        return pyodide_folder()
    except UnusableError as error:
        pytest.skip(str(error))


@pytest.fixture(name="kernels", scope="module")
def _kernels():
    """The folder of the kernels for browsers; they are not built here, while other tests may read them."""
    from tools.release import wheel

    folder = wheel.ROOT / level_kernels.FOLDER
    if level_kernels.stale(folder, wasm=True):
        pytest.skip("python -m tools.release.level_kernels has not been run with wasm-ld")
    return folder / WASM32


@pytest.fixture(name="wheel", scope="module")
def _wheel(kernels, tmp_path_factory):
    from tools.release.wheel import build_pure

    return build_pure(tmp_path_factory.mktemp("dist"))


def in_pyodide(pyodide: Path, wheel: Path, folder: Path, program: str) -> tuple[str, str]:
    """Run a program in Pyodide with the wheel installed; return what it prints and its stderr."""
    (folder / "main.py").write_text(program)
    command = ["node", TRIAL, pyodide, wheel, folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=4 * PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


COUNT = """
from golden_counts import GOLDEN, counted, to_text
from pathlib import Path
for name, golden in GOLDEN.items():
    Path("/trial", f"{name}.txt").write_text(to_text(name, counted(*golden)))
"""


def test_both_strategies_have_the_same_counts_in_wasm(pyodide, wheel, tmp_path):
    shutil.copy(golden_counts.__file__, tmp_path)
    in_pyodide(pyodide, wheel, tmp_path, COUNT)
    for name in golden_counts.GOLDEN:
        file = f"{name}.txt"
        assert (tmp_path / file).read_text() == (golden_counts.FOLDER / file).read_text()


DIAGONAL = [[1 if x in (y, y + 1) else 0 for x in range(126)] for y in range(3)]
REQUESTS = [
    {"do": do, "rows": puzzle.rows, "columns": puzzle.columns, **facts}
    for puzzle in (GOOD, Puzzle.from_grid([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), Puzzle.from_grid(DIAGONAL))
    for do in ("solve", "steps", "hint", "conflict")
    for facts in ({}, {"most_steps": 3, "solutions": 3})
] + [{"do": "solve", "rows": [[1]] * 255, "columns": [[255]]}, {"do": "dance"}]
DIALOGUE = """
import json
from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.dialogue import answer
strategy = ChampionStrategy()
for request in json.loads(open("/trial/requests").read()):
    try: print(json.dumps(answer(strategy, request)))
    except ValueError as error: print(json.dumps(str(error)))
"""


def test_requests_have_the_same_answers_in_wasm(pyodide, wheel, tmp_path):
    (tmp_path / "requests").write_text(json.dumps(REQUESTS))
    stdout, stderr = in_pyodide(pyodide, wheel, tmp_path, DIALOGUE)
    *answers, too_large, unknown = map(json.loads, stdout.splitlines())
    strategy = ChampionStrategy()
    for request, found in zip(REQUESTS[:-2], answers, strict=True):
        expected = json.loads(json.dumps(answer(strategy, request)))
        assert found.pop("seconds", None) is not None or "seconds" not in expected
        expected.pop("seconds", None)
        assert found == expected
    assert too_large == "the board is too large; boards have up to 254x254 cells"
    assert unknown.startswith("rows is missing")
    assert not stderr


API = """
import ctypes, json, random, sys, nonobot
from nonobot.bot.champion.strategy import ChampionStrategy
heap = ctypes.CDLL(None).emscripten_get_heap_size
puzzle = nonobot.Puzzle(rows=[[3], [1], [1, 1]], columns=[[1, 1], [2], [1, 1]])
found = nonobot.solve(puzzle)
print(found)
print(bool(nonobot.check(puzzle, found.solutions[0])), nonobot.difficulty(puzzle).level)
rng = random.Random(7)
boards = [[[rng.random() < 0.5 for _ in range(25)] for _ in range(25)] for _ in range(20)]
puzzles = [nonobot.Puzzle.from_cells(["".join(".#"[cell] for cell in row) for row in rows]) for rows in boards]
results = nonobot.solve_all(puzzles, jobs=4)
print(sum(result.counts["decisions"] > 0 for result in results), heap() >> 20)
permutations = nonobot.Puzzle(rows=[[1]] * 12, columns=[[1]] * 12)
print(nonobot.solve(permutations, solutions=10**9, seconds=0.2).exhausted, sys.modules.get("numpy"))
"""


def test_the_public_functions_work_and_a_25x25_board_takes_little_memory(pyodide, wheel, tmp_path):
    stdout, stderr = in_pyodide(pyodide, wheel, tmp_path, API)
    *board, facts, memory, last = stdout.splitlines()
    assert board[0] == "unique"
    assert facts == "True lines"
    searched, megabytes = map(int, memory.split())
    assert searched > 10
    assert megabytes <= 96
    assert last == "False None"
    assert not stderr


WIDTHS = """
import ctypes, random
from nonobot.bot.champion import ChampionStrategy
from nonobot.protocol import Puzzle
heap = ctypes.CDLL(None).emscripten_get_heap_size
rng = random.Random(3)
strategy = ChampionStrategy()
for size in (100, 25, 100, 25, 100):
    board = ["".join(rng.choice("#.") for _ in range(size)) for _ in range(size)]
    result = strategy.solve(Puzzle.from_cells(board), line_limit=200000)
    print(result.counts["descents"] > 0, heap())
"""


def test_the_memory_for_another_board_width_replaces_the_previous_one(pyodide, wheel, tmp_path):
    stdout, _ = in_pyodide(pyodide, wheel, tmp_path, WIDTHS)
    lines = [line.split() for line in stdout.splitlines()]
    assert {searched for searched, _ in lines} == {"True"}
    heaps = [int(size) for _, size in lines]
    assert heaps[2:] == [heaps[2]] * 3


FAULTY = """
import os
from nonobot.bot.champion import ChampionStrategy
for name in ("", "native", "x86-64"):
    os.environ["NONOBOT_KERNELS"] = name
    try: ChampionStrategy().prepare(print)
    except (ValueError, ImportError) as error: print(error)
"""


@pytest.mark.parametrize("damage", ["flipped", "missing"])
def test_an_incomplete_kernel_is_a_one_line_error_and_not_run(pyodide, wheel, tmp_path, damage):
    damaged = tmp_path / wheel.name
    with ZipFile(wheel) as given, ZipFile(damaged, "w") as made:
        for name in given.namelist():
            content = given.read(name)
            if "propagate_root-Champion64" in name:
                if damage == "missing":
                    continue
                content = content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]
            made.writestr(name, content)
    stdout, stderr = in_pyodide(pyodide, damaged, tmp_path, FAULTY)
    plain, native, other = stdout.splitlines()
    problem = "is damaged, or belongs to another version" if damage == "flipped" else "cannot be read"
    assert plain.endswith(f"{WASM32}/propagate_root-Champion64Small.code {problem}; install nonobot again")
    assert native.startswith("a browser compiles no kernels: ")
    assert other == f"NONOBOT_KERNELS=x86-64: no such level; choose native, {WASM32}"
    assert not stderr


def test_missing_kernels_or_a_missing_linker_are_a_one_line_error(pyodide, wheel, tmp_path):
    bare = tmp_path / wheel.name
    with ZipFile(wheel) as given, ZipFile(bare, "w") as made:
        for name in given.namelist():
            if f"/{WASM32}/" not in name:
                made.writestr(name, given.read(name))
    stdout, _ = in_pyodide(pyodide, bare, tmp_path, FAULTY)
    assert stdout.splitlines()[0].startswith(
        "a browser compiles no kernels: install a wheel of nonobot with kernels"
    )


def test_kernels_of_the_clone_are_used_only_if_they_match_its_sources(kernels, tmp_path):
    program = "from nonobot.bot.kernels.shipped import wasm_kernels; print(*wasm_kernels(), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    found = done.stdout.split()
    assert found == sorted(map(str, kernels.glob("*.code")))
    assert sum(len(Path(path).read_bytes()) for path in found if "Champion64" in path) <= 120_000
    assert not shipped.is_whole(b"")
    assert champion_map(64, SMALL).size <= 45 << 20


def test_a_kernel_is_the_same_bytes_each_time(kernels, tmp_path):
    kernel = next(
        kernel for kernel in level_kernels.SHIPPED if kernel.levels == (WASM32,) and kernel.name == "search"
    )
    # In a process of its own: one that has compiled the inner kernels inlines them differently.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        (tmp_path / WASM32).mkdir()
        pool.submit(level_kernels._compile, tmp_path, level_kernels.SHIPPED.index(kernel), 64).result()
    [made] = (tmp_path / WASM32).iterdir()
    assert made.read_bytes() == (kernels / made.name).read_bytes()
