"""The sets of a match: what is void and why, and files that are refused in one line."""

import os
from pathlib import Path

import pytest

from nonobot.harness import UnusableError, cli
from nonobot.harness.puzzles import handed_in
from nonobot.harness.puzzles.grading import GradingBot
from nonobot.harness.puzzles.handed_in import DECIDED, sets_handed_in
from nonobot.harness.tournament.definition import Entrant, Limits, Tournament
from nonobot.harness.tournament.scheduled_runs import scheduled_runs
from nonobot.protocol import Puzzle, format_answer, format_puzzle
from nonobot.tournament_data import Recipe
from tests.helpers.places import sparse
from tests.helpers.talking import NONE

pytestmark = pytest.mark.usefixtures("own_folder")

BOARDS = [list(Recipe(2, 2, 40, seed=seed, p1=0.25, p2=0.75).boards()) for seed in (1, 2)]
DIFFERENT = list(dict.fromkeys(puzzle for boards in BOARDS for puzzle, _ in boards))
SOLUTIONS = {puzzle: solution for boards in BOARDS for puzzle, solution in boards}
BLACK = Puzzle(columns=((2,), (2,)), rows=((2,), (2,)))


def written(name: str, puzzles, numbers=None) -> str:
    texts = [
        format_puzzle(number, puzzle) for number, puzzle in zip(numbers or range(1, 99), puzzles, strict=False)
    ]
    Path(name).write_bytes(b"".join(texts))
    return name


def match(*puzzles: str, puzzles_each: int = 3, size: str = "2x2", solutions: str | None = None) -> Tournament:
    names = ("甲", "乙", "c", "d")
    bots = [Entrant(name, "true", puzzles=path) for name, path in zip(names, puzzles, strict=False)]
    bots[0] = Entrant("甲", "true", puzzles=puzzles[0], setter_solutions=solutions)
    return Tournament("m", bots, format="match", puzzles_each=puzzles_each, size=size, limits=Limits())


def checked(*puzzles: str, **more):
    Path("results").mkdir(exist_ok=True)
    return sets_handed_in(match(*puzzles, **more), Path("results"))


@pytest.fixture
def others() -> str:
    return written("others.txt", DIFFERENT[3:6])


def test_unplayable_puzzles_are_void_and_the_others_go_to_a_new_file(others, capsys):
    good = DIFFERENT[0]
    text = format_puzzle(1, good) + format_puzzle(2, NONE) + b"$3\n1\nx\n1\n1\n" + format_puzzle(4, good)
    Path("mine.txt").write_bytes(text.replace(b"\n", b"\r\n") + format_puzzle(7, DIFFERENT[1]))
    mine, _ = checked("mine.txt", others, puzzles_each=5)
    void = {2: "no solution", 3: "line 13: clue 'x' is not a number", 4: "the same puzzle as $1"}
    assert mine.void == void | {5: "missing"}
    assert (mine.setter, mine.text) == ("甲", format_puzzle(1, good))
    err = capsys.readouterr().err
    assert "甲: mine.txt: only $1 to $5 count, not $7\n" in err
    meaning = "no bot plays them, and they count as solved by every opponent; press Ctrl-C to replace them"
    assert f"甲: mine.txt: 4 void puzzles: {meaning}\n" in err
    assert "\n  $2: no solution\n" in err
    assert "乙: others.txt: 2 void puzzles" in err


def test_the_second_puzzle_of_a_number_is_left_out_and_named(others, capsys):
    mine, _ = checked(written("mine.txt", DIFFERENT[:3], [1, 2, 2]), others, puzzles_each=2)
    assert [question.puzzle for question in mine.puzzles] == DIFFERENT[:2]
    named = "甲: mine.txt: $2: line 11: the puzzle of line 6 has this number already\n"
    assert named in capsys.readouterr().err


def test_adjacent_void_puzzles_with_one_reason_share_a_line(others, capsys):
    checked(written("mine.txt", DIFFERENT[:2], numbers=(1, 4)), others, puzzles_each=100)
    err = capsys.readouterr().err
    assert "\n  $2 to $3: missing\n  $5 to $100: missing\n" in err


def test_a_refused_match_leaves_no_folder(others):
    Path("m.toml").write_text(
        'name = "m"\nformat = "match"\ncontain = "no"\nsize = "2x2"\n'
        + "".join(f'[[bots]]\nname = "{name}"\ncommand = "true"\npuzzles = "{others}"\n' for name in ("a", "b"))
    )
    assert cli.run(["tournament", "m.toml"]) == 2
    assert not Path("results/m").exists()


def test_a_resumed_match_does_not_check_puzzles_again(others, monkeypatch):
    mine = written("mine.txt", [DIFFERENT[0], NONE])
    before = checked(mine, others, puzzles_each=2)
    lines = Path("results", DECIDED).read_text()
    assert sorted(line.split()[1] for line in lines.splitlines()) == ["solvable"] * 3 + ["unsolvable"]
    Path("results", DECIDED).write_text(lines + "0123 solv")  # a judge that was killed
    monkeypatch.setattr(handed_in, "grading_bot", None)
    assert checked(mine, others, puzzles_each=2) == before


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda name: Path(name).symlink_to("/dev/zero"), sparse])
def test_an_unreadable_file_of_checked_puzzles_is_a_one_line_error(others, make):
    Path("results").mkdir()
    make(f"results/{DECIDED}")
    with pytest.raises(UnusableError, match=rf"cannot read results/{DECIDED}: .*; remove it, and nonobot decides"):
        checked(written("mine.txt", DIFFERENT[:3]), others)


def test_a_setters_solution_makes_a_puzzle_valid_and_a_wrong_one_is_reported(others, monkeypatch, capsys):
    mine = written("mine.txt", DIFFERENT[:3])
    monkeypatch.setattr(GradingBot, "solvable", lambda *_: None)  # as after the limit; it solves all of these
    answers = format_answer(3, SOLUTIONS[DIFFERENT[2]]) + format_answer(1, SOLUTIONS[DIFFERENT[0]])
    Path("s.txt").write_bytes(answers + b"$2\n1\t1\n1\t1\n")
    with pytest.raises(UnusableError, match="no puzzle is left"):
        checked(mine, others, solutions="s.txt")
    err = capsys.readouterr().err
    assert "甲: s.txt: 1 solution not right; nonobot looks for others\n  $2: wrong: " in err
    assert "甲: mine.txt: 1 void puzzle: " in err
    assert "$2: nonobot found no solution in 3,000,000 line solves; setter-solutions can show one" in err


def test_solutions_of_other_puzzles_are_reported(others, capsys):
    Path("s.txt").write_bytes(b"$8\n1\t1\n1\t1\n")
    checked(written("mine.txt", DIFFERENT[:3]), others, solutions="s.txt")
    assert "甲: s.txt: no solution of a puzzle in mine.txt; nonobot looks for them\n" in capsys.readouterr().err


def test_puzzles_that_two_sets_share_are_named_and_count(others, capsys):
    sets = checked(others, written("mine.txt", [*DIFFERENT[3:5], DIFFERENT[0]]))
    assert [len(puzzle_set.puzzles) for puzzle_set in sets] == [3, 3]
    assert "乙: mine.txt: 2 puzzles also in 甲's others.txt; they count\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda name: None, "No such file or directory; correct the file, or leave the bot out"),
        (os.mkfifo, "not a regular file; correct the file"),
        (lambda name: Path(name).symlink_to("/dev/zero"), "not a regular file; correct"),
        (lambda name: Path(name).symlink_to(name), "Too many levels of symbolic links; correct"),
        (
            lambda name: Path(name).symlink_to("others.txt"),
            "others.txt: the same puzzles as 甲's mine.txt; each bot needs",
        ),
        (sparse, "more than 64 MiB; correct"),
        (Path.mkdir, "Is a directory; correct"),
        (lambda name: Path(name).touch(), "correct the file, or leave the bot out"),
        (
            lambda name: written(name, DIFFERENT[:3], [1, 1, 1]),
            "$1: line 6: the puzzle of line 1 has this number already; correct",
        ),
        (
            lambda name: written(name, [Puzzle.from_grid([[1, 0, 1]] * 3)] * 3),
            "$1: line 2: the clue of column 1 needs 3 cells, the column has 2; correct",
        ),
        (lambda name: written(name, [NONE]), "$1: no solution; no puzzle is left: correct the file"),
        (lambda name: written(name, DIFFERENT[:3], [0, 101, 102]), "$1: missing; no puzzle is left: correct"),
    ],
)
def test_a_file_that_is_no_set_is_refused_in_one_line(others, make, said):
    make(Path("mine.txt"))
    with pytest.raises(UnusableError) as caught:
        checked("mine.txt", others)
    assert said in str(caught.value)
    beginnings = ("甲: mine.txt: ", "甲: cannot read the set mine.txt: ", "乙: others.txt: the")
    assert str(caught.value).startswith(beginnings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("make", [lambda name: None, os.mkfifo, lambda name: Path(name).symlink_to("/dev/zero")])
def test_solutions_that_cannot_be_read_are_refused_in_one_line(others, make):
    make("s.txt")
    said = r"甲: cannot read the answers .*s\.txt: .*; correct .* or remove setter-so"
    with pytest.raises(UnusableError, match=said):
        checked(written("mine.txt", DIFFERENT[:3]), others, solutions="s.txt")


def test_no_bot_plays_its_own_set_and_all_sets_and_solutions_are_hidden(others):
    Path("s.txt").touch()
    tournament = match(written("mine.txt", DIFFERENT[:3]), others, solutions="s.txt")
    Path("results").mkdir()
    sets = sets_handed_in(tournament, Path("results"))
    runs = scheduled_runs(tournament, Path("results"), handed_in=sets)
    assert [run.name for run in runs] == ["乙 on mine.txt", "甲 on others.txt"]
    hidden = {str(Path(name).absolute()) for name in ("mine.txt", "s.txt", "others.txt")}
    assert all(set(run.sets) == hidden for run in runs)


def test_the_command_reports_an_unusable_set_in_one_line(others, capsys):
    Path("m.toml").write_text(
        'name = "m"\nformat = "match"\nbots = [{name = "a", command = "a", puzzles = "none.txt"}, '
        '{name = "b", command = "b", puzzles = "others.txt"}]'
    )
    assert cli.run(["tournament", "m.toml"]) == 2
    said = "a: cannot read the set none.txt: No such file or directory; correct the file, or leave the bot out"
    assert capsys.readouterr().err.splitlines()[-1] == f"nonojudge: {said}"
