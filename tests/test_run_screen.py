"""What is shown of a run while it goes on."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from nonobot.harness import progress
from nonobot.harness.play.bot_process import PassedOn
from nonobot.harness.play.run_screen import screen_for
from nonobot.harness.results.run_result import PuzzleResult, Verdict
from tests.judged import RECIPE, command
from tests.terminals import Terminal, seen


def on_a_terminal(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def test_lines_for_a_log(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    with screen_for(4, quiet=False) as shown:
        shown.show(PuzzleResult(1, Verdict.RIGHT), 2.0, None)
        shown.show(PuzzleResult(3, Verdict.WRONG, "row 1"), 4.0, 1.5)
    assert capsys.readouterr().err.splitlines() == [
        "0/4, 0 right",
        "$1, 1/4, 1 right, 0.5/s, about 6 s to go",
        "$3, 2/4, 1 right, 1 wrong, 0.5/s, slowest $3 1.50 s, about 4 s to go",
    ]


def test_a_bar_without_colour_where_none_is_wanted(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    with screen_for(2, quiet=False) as shown:
        shown.show(PuzzleResult(1, Verdict.RIGHT), 0.5, 0.5)
        shown.show(PuzzleResult(2, Verdict.GIVEN_UP), 1.0, 0.5)
    err = capsys.readouterr().err
    assert "100%" in err
    assert "$2, 2/2, 1 right, 1 given-up, 2.0/s, slowest $1 500 ms" in err
    assert "\x1b[3" not in err
    assert "\x1b[9" not in err


def test_the_bar_is_there_before_the_first_answer(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    with screen_for(2, quiet=False):
        pass
    assert "0/2, 0 right" in capsys.readouterr().err


def test_nothing_for_who_wants_quiet(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    with screen_for(1, quiet=True) as shown:
        shown.show(PuzzleResult(1, Verdict.RIGHT), 0.5, 0.5)
    assert capsys.readouterr() == ("", "")


WARM_UP = ["sh", "-c", "printf 'compiling\\nhalf ' >&2; printf 'a line' >&2"]


@pytest.mark.parametrize("columns", [60, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("job", ["run", "tournament"])
def test_what_warm_ups_and_bots_say_does_not_break_the_bar(tmp_path, monkeypatch, job, columns):
    monkeypatch.chdir(tmp_path)
    bot = command("flood_stderr", tmp_path)
    (tmp_path / "small.toml").write_text(
        f'name = "small"\nsets = ["{RECIPE}"]\n'
        f'[[bots]]\nname = "bot"\ncommand = {json.dumps(bot)}\nwarm-up = {json.dumps(WARM_UP)}\n'
    )
    arguments = {
        "run": ["run", "--set", str(RECIPE), "--warm-up", shlex.join(WARM_UP), "--", *bot],
        "tournament": ["tournament", "small.toml"],
    }[job]
    judge = [sys.executable, "-m", "nonobot.harness", *arguments]
    with Terminal(judge, columns, errors_too=True) as terminal:
        status, shown, _ = terminal.end()
    assert status == 0
    lines = seen(shown, columns)
    [bar] = [at for at, line in enumerate(lines) if "━" in line]
    assert lines[:bar] == [
        *(["[1/1] bot on boardgen:5x5x5:seed=3 ..."] if job == "tournament" else []),
        "compiling",
        "half a line",
    ]
    assert lines[bar].startswith("━")
    assert " 100% " in lines[bar]
    assert " $5, 5/5, 5 right" in lines[bar]


def test_a_warm_up_that_writes_over_its_line_is_shown_as_it_ended(capsys):
    words = PassedOn()
    words.write(b"\rone\rtwo")
    assert capsys.readouterr().err == ""
    words.write(b"\r\tthree \xff\x1b[2K\r\n\nfour")
    words.write(b"five")
    words.close()
    assert capsys.readouterr().err == "        three \ufffd\ufffd[2K\n\nfourfive\n"
