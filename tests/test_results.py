"""Results as files."""

from __future__ import annotations

import json
import os
import stat

import pytest

from nonobot.harness.errors import UnusableError
from nonobot.harness.referee import Referee
from nonobot.harness.results.result_files import check_writable, read_result, to_json, write_json
from nonobot.harness.results.run_result import SetFacts, VerifyResult
from nonobot.tournament_data import load_set
from tests.ranked import run_result


@pytest.fixture
def result():
    puzzle_set = load_set("boardgen:2x2x2:seed=1")
    return VerifyResult(SetFacts.of(puzzle_set), "answers.txt", Referee(puzzle_set).score())


def test_a_result_file_is_whole_or_not_there(tmp_path, result, monkeypatch):
    path = tmp_path / "result.json"
    write_json(path, result)
    before = path.read_text()
    assert json.loads(before)["score"]["verdicts"]["missing"] == 2
    assert stat.S_IMODE(path.stat().st_mode) & stat.S_IRUSR

    def disk_full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(OSError, match="No space"):
        write_json(path, result)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_found_before_the_run(tmp_path):
    check_writable(tmp_path / "new" / "folder" / "result.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="exists"):
        check_writable(tmp_path / "file" / "result.json")
    with pytest.raises(IsADirectoryError):
        check_writable(tmp_path)


def drop_a_puzzle(result):
    result["score"]["puzzles"].pop()
    result["score"]["verdicts"]["right"] -= 1


def repeat_a_puzzle(result):
    result["score"]["puzzles"][0]["number"] = 2


def count_one_more(result):
    result["score"]["verdicts"]["right"] += 1


def forget_the_puzzles(result):
    result["score"]["puzzles"] = []


def forget_the_legs(result):
    result["legs"] = []


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (drop_a_puzzle, "its rulings are not one for each of the set's 3 puzzles"),
        (repeat_a_puzzle, "its rulings are not one for each of the set's 3 puzzles"),
        (count_one_more, "the verdicts counted are not those of its puzzles"),
        (forget_the_puzzles, "without puzzles or without a run"),
        (forget_the_legs, "without puzzles or without a run"),
    ],
)
def test_a_result_that_contradicts_itself_is_refused(tmp_path, edit, why):
    path = tmp_path / "result.json"
    content = json.loads(to_json(run_result()))
    path.write_text(json.dumps(content))
    assert read_result(path) == run_result()
    edit(content)
    path.write_text(json.dumps(content))
    with pytest.raises(UnusableError, match=why):
        read_result(path)
