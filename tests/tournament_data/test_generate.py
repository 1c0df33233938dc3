"""The official generator, compared with files that the original made, and the command."""

import hashlib
import io
import json
import os
import signal
import subprocess
import sys

import pytest

from nonobot.harness import cli
from nonobot.harness.commands import generate as command
from nonobot.harness.process.bot_process import sandbox_note
from nonobot.harness.results.conditions import Contain
from nonobot.protocol import Puzzle, format_answer, format_puzzle, read_answers, read_batch
from nonobot.tournament_data import Recipe, SetError, generate, load_set, write_set
from nonobot.tournament_data.generate import black_cells
from nonobot.tournament_data.select import drawn_board
from tests import naive
from tests.helpers.places import GOLDEN
from tests.helpers.sandboxes import no_sandbox
from tests.helpers.waiting import finished, running, wait_until

SEEDS = {"long": int("31415926535897932384" * 10), "mersenne": 2**19937 - 1}
MADE_BY_PYTHON_2 = (GOLDEN / "python_2_sets.txt").read_text().splitlines()[2:]


@pytest.mark.parametrize("line", MADE_BY_PYTHON_2, ids=range(len(MADE_BY_PYTHON_2)))
def test_generated_files_equal_those_of_the_original_python_2_program(line):
    board, p1, p2, seed, *digests = line.split()
    width, height, count = map(int, board.split("x"))
    questions, solutions = io.BytesIO(), io.BytesIO()
    boards = generate((width, height), count, float(p1), float(p2), seed=SEEDS.get(seed) or int(seed))
    write_set(boards, questions, solutions)
    assert [hashlib.sha256(file.getvalue()).hexdigest() for file in (questions, solutions)] == digests


def test_a_recipe_is_printed_as_it_was_parsed():
    long = f"25x25x10:seed=-{'9' * 6002}"
    for terms in ("25x25x1000:seed=7", "25x20x3:seed=-12:p1=0.6", "5x5x1:seed=0:p1=0.25:p2=0.75", long):
        assert str(Recipe.parse(f"boardgen:{terms}")) == f"boardgen:{terms}"


def test_a_generated_set_equals_the_file_that_write_set_writes(tmp_path):
    path = tmp_path / "set.txt"
    with path.open("wb") as file:
        write_set(generate((6, 4), 5, seed=3), file)
    from_file, made = load_set(str(path), (6, 4)), load_set("boardgen:6x4x5:seed=3")
    assert from_file.text == made.text == path.read_bytes()
    assert from_file.puzzles == made.puzzles
    assert from_file.sha256 == made.sha256
    assert [puzzle.number for puzzle in made.puzzles] == [1, 2, 3, 4, 5]
    assert made.puzzles[0].puzzle == next(generate((6, 4), 5, seed=3))[0]
    puzzle = Puzzle(columns=((1,), ()), rows=((1,), ()))
    text = b"\xef\xbb\xbf\n" + format_puzzle(1, puzzle).replace(b"\n", b"\r\n") + b"\n" + format_puzzle(5, puzzle)
    path = tmp_path / "set.txt"
    path.write_bytes(text)
    one_set = load_set(str(path), (2, 2))
    assert one_set.text == text
    assert [(question.number, question.puzzle) for question in one_set.puzzles] == [(1, puzzle), (5, puzzle)]
    assert one_set.puzzles[1].text == format_puzzle(5, puzzle)


def test_a_given_size_must_match_the_recipe_and_the_sign_of_a_seed_is_ignored():
    assert list(generate(5, 3, seed=-41)) == list(generate(5, 3, seed=41))
    assert load_set("boardgen:5x4x1:seed=1", (5, 4)).width == 5
    with pytest.raises(SetError, match="5x4, not 4x5"):
        load_set("boardgen:5x4x1:seed=1", (4, 5))


pytestmark = pytest.mark.usefixtures("own_folder")


def names_here():
    return sorted(os.listdir())  # noqa: PTH208


def test_the_command_writes_what_the_generator_makes(tmp_path, capfd):
    command = ["generate", "6x4x5", "--seed", "3", "--p1", "0.6"]
    assert cli.run([*command, "-o", "q.txt", "--solutions-out", "s.txt"]) == 0
    questions, solutions = io.BytesIO(), io.BytesIO()
    write_set(generate((6, 4), 5, p1=0.6, seed=3), questions, solutions)
    assert (tmp_path / "q.txt").read_bytes() == questions.getvalue()
    assert (tmp_path / "s.txt").read_bytes() == solutions.getvalue()
    assert names_here() == ["q.txt", "s.txt"]
    capfd.readouterr()
    assert cli.run(["generate", "boardgen:6x4x5:seed=3:p1=0.6", "-o", "by-name.txt"]) == 0
    assert capfd.readouterr().out == "questions: by-name.txt (5 puzzles)\n"
    assert (tmp_path / "by-name.txt").read_bytes() == questions.getvalue()
    assert cli.run([*command, "-o", "-"]) == 0
    assert capfd.readouterr().out == questions.getvalue().decode()
    assert names_here() == ["by-name.txt", "q.txt", "s.txt"]


def test_unique_puzzles_have_one_solution_and_keep_their_places(compiled, tmp_path, capfdbinary):
    command = ["generate", "7x6x8", "--seed", "11", "--unique", "--p2", "0.4"]
    assert cli.run([*command, "-o", "q.txt", "--solutions-out", "s.txt"]) == 0
    with (tmp_path / "q.txt").open("rb") as questions, (tmp_path / "s.txt").open("rb") as solutions:
        entries = list(read_batch(questions, (7, 6)))
        answers = list(read_answers(solutions, 7, 6))
    assert [entry.number for entry in entries] == [answer.number for answer in answers] == list(range(1, 9))
    for index, (entry, answer) in enumerate(zip(entries, answers, strict=True)):
        assert naive.solutions(entry.puzzle, limit=2) == [answer.solution.cells.tolist()]
        assert answer.solution.cells.sum() == black_cells(index, 8, 0.5, 0.4, 7, 6)
    capfdbinary.readouterr()
    assert cli.run(command) == 0
    assert capfdbinary.readouterr().out == (tmp_path / "q.txt").read_bytes()


def test_hard_puzzles_are_those_with_the_most_painted_lines(compiled, tmp_path):
    choices, count, size, seed = 4, 5, 12, 8
    recipe = Recipe(size, size, count, seed)
    drawn = [drawn_board(recipe, index, draw) for index in range(count) for draw in range(choices)]
    # All the boards as one batch, whose order and numbers must not matter to what each of them costs.
    text = b"".join(format_puzzle(number, puzzle) for number, (puzzle, _) in enumerate(drawn, 1))
    bot = [sys.executable, "-m", "nonobot", "--size", "12x12", "--stats", "stats.jsonl"]
    subprocess.run(bot, input=text, stdout=subprocess.DEVNULL, check=True)
    costs = [json.loads(line)["line_solves"] for line in (tmp_path / "stats.jsonl").read_text().splitlines()]
    assert len(set(costs)) > count
    expected = b""
    for index in range(count):
        among = range(index * choices, (index + 1) * choices)
        hardest = max(among, key=lambda number: (costs[number], -number))
        expected += format_answer(index + 1, drawn[hardest][1])
    command = ["generate", "12x12x5", "--seed", "8", "--hard", "4"]
    assert cli.run([*command, "-o", "q.txt", "--solutions-out", "s.txt"]) == 0
    assert (tmp_path / "s.txt").read_bytes() == expected


@pytest.mark.usefixtures("compiled")
def test_a_search_for_too_rare_unique_boards_ends_without_writing_a_file(tmp_path, capfd):
    (tmp_path / "q.txt").write_bytes(b"old")
    command = ["generate", "25x25x2", "--seed", "1", "--p1", "0.35", "--unique", "--draws", "20"]
    assert cli.run([*command, "-o", "q.txt", "--solutions-out", "s.txt"]) == 2
    assert capfd.readouterr().err.splitlines()[-1] == (
        "nonojudge: puzzle 1: of 20 boards of 25x25 with 218 black cells none has exactly one solution: "
        "try denser (--p1, --p2) or smaller boards, or more --draws than 20"
    )
    assert names_here() == ["q.txt"]
    assert (tmp_path / "q.txt").read_bytes() == b"old"


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("limit", "more"),
    [("--line-limit 1", ""), ("--puzzle-limit 0.0001", "; another machine may write another file")],
)
def test_boards_that_are_given_up_are_counted_with_their_limit(capfd, limit, more):
    command = ["generate", "60x60x1", "--seed", "1", "--p1", "0.35", "--hard", "2", "--draws", "3", *limit.split()]
    assert cli.run([*command, "-o", "q.txt"]) == 2
    *_, given_up, _ = capfd.readouterr().err.splitlines()
    assert given_up == f"nonojudge: 3 boards were given up at {limit}{more}"
    assert names_here() == []


def test_a_size_that_the_bot_refuses_leaves_nothing_behind(compiled, capfd):
    assert cli.run(["generate", "--seed", "1", "1100x11x1", "--hard", "2"]) == 2
    assert "nonobot ended: nonobot: --size: 1100x11 is too" in capfd.readouterr().err.splitlines()[-1]
    assert names_here() == []


@pytest.mark.parametrize(("choice", "number"), [([], signal.SIGTERM), (["--hard", "20"], signal.SIGINT)])
def test_an_interrupted_run_leaves_no_half_written_file(compiled, tmp_path, choice, number):
    (tmp_path / "q.txt").write_bytes(b"old")
    arguments = ["generate", "25x25x100000000", "--seed", "1", "-o", "q.txt", *choice]
    with running([sys.executable, "-m", "nonobot.harness", *arguments], stderr=subprocess.PIPE) as run:
        wait_until(lambda: any(path.stat().st_size for path in tmp_path.glob(".q.txt.*")), run)
        run.send_signal(number)
        _, err = finished(run)
    assert run.returncode == 130
    assert b"Traceback" not in err
    assert names_here() == ["q.txt"]
    assert (tmp_path / "q.txt").read_bytes() == b"old"


@no_sandbox
@pytest.mark.parametrize(
    ("options", "lines"), [(["--unique"], 1), (["--unique", "--contain", "no"], 0), (["--contain", "auto"], 0)]
)
def test_a_missing_sandbox_is_noted_in_one_line(monkeypatch, capsys, options, lines):
    note = sandbox_note(Contain.AUTO)
    monkeypatch.setattr(command, "_write", lambda *_: None)
    assert cli.run(["generate", "5x5x1", "--seed", "1", *options]) == 0
    assert capsys.readouterr().err.count(note) == lines
