"""How far a long job is, as people see it."""

from __future__ import annotations

import sys

from nonobot.harness import progress


def on_a_terminal(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def test_lines_for_a_log(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    with progress.progress_for(8) as shown:
        assert isinstance(shown, progress.LineProgress)
        now = shown._started
        monkeypatch.setattr("time.monotonic", lambda: now + 3)
        shown.show(0, "puzzle 1 of 8")
        shown.show(2, "puzzle 3 of 8")
        shown.show(8, "puzzle 8 of 8")
    assert capsys.readouterr() == (
        "",
        "puzzle 1 of 8\npuzzle 3 of 8, about 9 s to go\npuzzle 8 of 8, about 0 s to go\n",
    )


def test_a_short_job_shows_nothing(capsys, monkeypatch):
    with progress.progress_for(1) as shown:
        shown.show(1, "puzzle 1 of 1")
    on_a_terminal(monkeypatch)
    with progress.progress_for(1) as shown:
        assert isinstance(shown, progress.BarProgress)
        now = shown._started
        monkeypatch.setattr("time.monotonic", lambda: now + 0.5)
        shown.show(1, "puzzle 1 of 1")
    assert capsys.readouterr() == ("", "")


def test_a_bar_on_a_terminal_without_colour_where_none_is_wanted(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "SECONDS_BEFORE_BAR", 0.0)
    with progress.progress_for(4) as shown:
        shown.show(1, "puzzle 2 of 4, [7] boards drawn")
    out, err = capsys.readouterr()
    assert out == ""
    assert "25%" in err
    assert "puzzle 2 of 4, [7] boards drawn" in err
    assert "\x1b[3" not in err
    assert "\x1b[9" not in err


def test_no_bar_where_none_can_be_drawn(monkeypatch):
    on_a_terminal(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(progress.progress_for(1), progress.LineProgress)
