"""`nonojudge verify`: files that are broken, swapped or written."""

import json
from pathlib import Path

import pytest

from nonobot.harness import cli

VERIFY = ["verify", "--size", "3x3", "questions.txt", "answers.txt"]
GOOD, BROKEN = "1\n\n1\n1\n\n1\n", "1\n\n9\n1\n\n1\n"
ANSWER = "1\t0\t0\n0\t0\t0\n0\t0\t1\n"


@pytest.fixture(autouse=True)
def _files(own_folder):
    Path("questions.txt").write_text(f"$1\n{GOOD}$2\n{BROKEN}$3\n{GOOD}")
    Path("answers.txt").write_text(f"$1\n{ANSWER}$2\n{ANSWER}$3\n{ANSWER}")


def test_a_broken_puzzle_costs_that_puzzle_only(output_of):
    fault = "$2: line 11: the clue of column 3 needs 9 cells, the column has 3"
    warning = f"questions.txt: warning: {fault} (not counted)\n"
    assert output_of(cli.run, VERIFY) == ("2 of 2 right\n", warning)


def test_swapped_arguments_are_named(output_of):
    why = "answers.txt has no questions, but questions.txt has; swap them"
    err = output_of(cli.run, ["verify", "--size", "3x3", "answers.txt", "questions.txt"], status=2).err
    assert err == f"nonojudge: {why}: nonojudge verify QUESTIONS ANSWERS\n"


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_the_result_is_written_as_a_file(output_of, more):
    out = output_of(cli.run, [*VERIFY, "-o", "checked.json", *more]).out
    assert out == ("" if more else "2 of 2 right\n")
    assert json.loads(Path("checked.json").read_text())["kind"] == "verify"
    assert cli.run(["table", "checked.json"]) == 0
    assert cli.run([*VERIFY, "-o", "answers.txt"]) == 2


def test_a_dash_is_stdout(output_of):
    assert json.loads(output_of(cli.run, [*VERIFY, "-o", "-"]).out)["score"]["verdicts"]["right"] == 2


def test_text_that_is_no_answer_is_told_beside_a_puzzle_that_does_not_count(output_of):
    questions = Path("questions.txt")
    questions.write_text(questions.read_text() + f"further text\n$4\n{GOOD}")
    answers = Path("answers.txt")
    answers.write_text(f"{answers.read_text()}$4\n{ANSWER}and more\n")
    assert "and more" in output_of(cli.run, VERIFY).out
