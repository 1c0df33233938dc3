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


def test_a_malformed_puzzle_is_not_counted_and_the_others_are(output_of):
    fault = "$2: line 11: the clue of column 3 needs 9 cells, the column has 3"
    warning = f"questions.txt: warning: {fault} (not counted)\n"
    assert output_of(cli.run, VERIFY) == ("2 of 2 right\n", warning)


# By questions: numbers of good ones, and of broken ones (x). By answers: numbers that are right, or given up (-).
@pytest.mark.parametrize(
    ("questions", "answers", "said"),
    [
        ("1 2x 2 3", "1 2- 2 3", "3 of 3 right"),
        ("1x 1 2", "1- 1 2", "2 of 2 right"),
        ("1 2 1x", "1 2 1-", "2 of 2 right"),
        ("3x 1 2 3", "3- 1 2 3", "3 of 3 right"),
        ("1 2x 2x 2 3", "1 2- 2- 2 3", "3 of 3 right"),
        ("1 2x 2 3", "1 2 3", "3 of 3 right"),  # a bot that passes over a broken puzzle
        ("1 2 2 3", "1 2 2 3", "3 of 3 right"),  # the second $2 is the broken one
        ("1 2x 2 3", "1 2- 2- 3", "2 of 3 right; 1 given-up"),
        ("1 2x 2 3", "1 2- 3", "2 of 3 right; 1 given-up"),
        ("1 2x 2 3", "1 2- 2- 2 3", "2 of 3 right; 1 given-up\n  line 9: $2 was answered before"),
    ],
)
def test_answers_around_a_malformed_puzzle_match_their_puzzles(output_of, questions, answers, said):
    written = [f"${name.strip('x')}\n{BROKEN if 'x' in name else GOOD}" for name in questions.split()]
    Path("questions.txt").write_text("".join(written))
    written = [
        "$" + (name.replace("-", "\ntimeout\n") if "-" in name else f"{name}\n{ANSWER}")
        for name in answers.split()
    ]
    Path("answers.txt").write_text("".join(written))
    out = output_of(cli.run, VERIFY, status=int(";" in said)).out
    assert out.startswith(said)
    assert len(out.splitlines()) == len(said.splitlines())


def test_a_puzzle_with_a_warning_about_extra_text_still_counts(output_of):
    Path("questions.txt").write_text(f"# title\n$1\n{GOOD}9\n$2\n{GOOD}")
    extra = "$1: line 9: '9' comes after the 6 clue lines of a 3x3 board and is ignored; check --size"
    Path("answers.txt").write_text(f"$1\n{ANSWER}$2\n{ANSWER}")
    out, err = output_of(cli.run, VERIFY)
    assert out == "2 of 2 right\n"
    assert err.splitlines() == [
        "questions.txt: warning: line 1: '# title' is before the first '$' and is ignored; expected '$1'",
        f"questions.txt: warning: {extra}",
    ]


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_verify_writes_its_result_to_a_file(output_of, more):
    out = output_of(cli.run, [*VERIFY, "-o", "checked.json", *more]).out
    assert out == ("" if more else "2 of 2 right\n")
    assert json.loads(Path("checked.json").read_text())["kind"] == "verify"
    assert cli.run(["table", "checked.json"]) == 0
    assert cli.run([*VERIFY, "-o", "answers.txt"]) == 2


def test_a_dash_is_stdout(output_of):
    assert json.loads(output_of(cli.run, [*VERIFY, "-o", "-"]).out)["score"]["verdicts"]["right"] == 2


def test_stray_text_is_reported_even_if_a_puzzle_is_not_counted(output_of):
    questions = Path("questions.txt")
    questions.write_text(questions.read_text() + f"further text\n$4\n{GOOD}")
    answers = Path("answers.txt")
    answers.write_text(f"{answers.read_text()}$4\n{ANSWER}and more\n")
    assert "and more" in output_of(cli.run, VERIFY).out
