"""Results as files."""

from __future__ import annotations

import json
import stat

import pytest

from harness.referee import Referee
from harness.results import files
from harness.results.files import check_writable, write_json
from harness.results.model import SetFacts, VerifyResult
from tournament_data import load_set


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

    monkeypatch.setattr(files.os, "fsync", disk_full)
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
