"""A folder of results as the page shows it."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("starlette", reason="the extra `page` is not installed")

from nonobot.harness.page.live import Live
from tests.judged import RECIPE, played


def shown(folder) -> dict:
    live = Live(folder)
    live._read_folder()
    return live._state


def test_an_empty_folder_shows_nothing(tmp_path):
    state = shown(tmp_path)
    assert (state["rankings"], state["under_way"], state["last"], state["problems"]) == ([], [], [], [])


def test_a_run_is_seen_while_it_goes_on_and_ranked_when_it_is_done(tmp_path):
    seen = []

    def look(*_):
        until = time.monotonic() + 20
        while time.monotonic() < until:  # the journal is written by a thread of its own
            state = shown(tmp_path)
            if state["under_way"] and state["under_way"][0]["done"] > len(seen):
                seen.append(state)
                return

    played("wrong_at_2", tmp_path, look)
    assert [state["under_way"][0]["done"] for state in seen] == [1, 2, 3, 4, 5]
    [run] = seen[2]["under_way"]
    assert run | {"time": ""} == {
        "bot": "wrong_at_2",
        "set": str(RECIPE),
        "done": 3,
        "count": 5,
        "right": 2,
        "time": "",
        "running": True,
    }
    assert [(one["number"], one["verdict"]) for one in seen[2]["last"]] == [
        (3, "right"),
        (2, "wrong"),
        (1, "right"),
    ]
    state = shown(tmp_path)
    assert state["under_way"] == []
    [ranking] = state["rankings"]
    assert [(row["bot"], row["right"], row["count"]) for row in ranking["rows"]] == [("wrong_at_2", 4, 5)]
    assert state["last"][0]["number"] == 5


def test_a_file_that_cannot_be_read_costs_no_other(tmp_path):
    played("perfect", tmp_path)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "broken.journal.jsonl").write_text("nothing\n")
    state = shown(tmp_path)
    assert len(state["rankings"]) == 1
    [problem] = state["problems"]
    assert "broken.json" in problem


def test_nothing_is_read_again_that_has_not_changed(tmp_path, monkeypatch):
    played("perfect", tmp_path)
    live = Live(tmp_path)
    live._read_folder()
    monkeypatch.setattr("nonobot.harness.page.live.read_source", None)
    live._read_folder()
    assert live._state["version"] == 1


def test_text_of_a_result_is_plain(tmp_path):
    result = played("perfect", tmp_path)
    path = tmp_path / "result.json"
    path.write_text(path.read_text().replace(f'"bot": "{result.bot}"', '"bot": "a\\u001b[2J<b>"'))
    assert shown(tmp_path)["rankings"][0]["rows"][0]["bot"] == "a\N{REPLACEMENT CHARACTER}[2J<b>"
