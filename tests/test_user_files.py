"""Files that the user names: all commands that read puzzles tell the sizes of their boards alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nonobot.harness import cli
from nonobot.harness.play import machine
from nonobot.tournament_data import Recipe, write_set

COMMANDS = {
    "render": ["render", "questions.txt", "--number", "all"],
    "convert": ["convert", "questions.txt", "-", "--to", "oneline"],
    "run": ["run", "--set", "questions.txt", "--quiet"],
    "verify": ["verify", "questions.txt", "answers.txt"],
}
SETS = ["run", "verify"]
"""Commands for which all boards of a file have one size."""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(machine, "SAMPLE_SECONDS", 0.01)


def outcome(name, *options):
    """Return the exit status of a command; for `run`, with a bot that has the answers."""
    bot = ["--contain", "no", "--", "sh", "-c", "cat answers.txt; cat > input.txt"] if name == "run" else []
    return cli.run([*COMMANDS[name], *options, *bot])


def question_file(*sizes):
    """Write a question file with boards of these sizes, and the answers."""
    boards = [next(Recipe(*size, 1, seed=number).boards()) for number, size in enumerate(sizes, 1)]
    with Path("questions.txt").open("wb") as questions, Path("answers.txt").open("wb") as answers:
        write_set(boards, questions, answers)


REMARK = "questions.txt: remark: $1: line 1: no size is stated; by the number of lines this is {}x{}"


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("side", [1, 10, 25, 30])
def test_square_boards_need_no_size(name, side, capsys):
    question_file((side, side), (side, side))
    for options in ([], ["--size", "auto"], ["--size", f"{side}x{side}"]):
        assert outcome(name, *options) == 0
        said = [line for line in capsys.readouterr().err.splitlines() if "remark" in line]
        assert said == ([REMARK.format(side, side)] if not options and side != 25 else [])
    if name == "run":
        assert Path("input.txt").read_bytes() == Path("questions.txt").read_bytes()


@pytest.mark.parametrize("name", COMMANDS)
def test_other_boards_need_their_size(name, capsys):
    question_file((8, 11), (8, 11))
    assert outcome(name) != 0
    assert "questions.txt: $1: line 1: 19 clue lines do not make a square board" in capsys.readouterr().err
    assert outcome(name, "--size", "10x10") != 0
    assert "line 21: expected 20 clue lines for a 10x10 board, found 19" in capsys.readouterr().err
    assert outcome(name, "--size", "8x11") == 0
    assert "remark" not in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_boards_of_several_sizes(name, capsys):
    question_file((10, 10), (5, 5))
    for options in ([], ["--size", "auto"]):
        assert outcome(name, *options) == (2 if name in SETS else 0)
        err = capsys.readouterr().err
        if name in SETS:
            assert "line 22: puzzle 2 has 5x5 cells, not 10x10; the boards of a set have one size" in err
        else:
            assert (REMARK.format(10, 10) in err) == (not options)
    question_file((25, 25), (5, 5))
    assert outcome(name) == (2 if name in SETS else 1)
    assert "for a 25x25 board, found 10 (is it --size 5x5?)" in capsys.readouterr().err


def test_all_commands_say_it_in_the_same_words(capsys):
    said = set()
    for name in (*COMMANDS, "profile"):
        assert cli.run([name, "--help"]) == 0
        text = " ".join(capsys.readouterr().out.split())
        said |= set(re.findall(r"--size WxH\|auto (size of .*? else auto\))", text)) or {name}
    assert said == {
        "size of the boards of a TAAI file, which states none; auto: square ones of any sizes "
        "(default: 25x25 if the first board can be that, else auto)"
    }
