"""What is shown of a run while it goes on."""

from __future__ import annotations

import sys

from nonobot.harness import progress
from nonobot.harness.play.run_screen import screen_for
from nonobot.harness.results.run_result import PuzzleResult, Verdict


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
