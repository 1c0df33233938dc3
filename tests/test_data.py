"""`nonojudge data list` and `path`, and where the data folder is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from nonobot.harness import cli
from nonobot.tournament_data import registry
from nonobot.tournament_data.registry import data_folder, keep
from tests import published


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Return a data folder in which one of the two small sets is."""
    with published.small_registry(tmp_path, monkeypatch) as path:
        keep(registry.official_sets()["tcga2012"], published.CONTENTS["tcga2012"])
        yield path


def test_the_list_for_people(folder, capsys):
    assert cli.run(["data", "list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "set       event  year  puzzles  size  black         here",
        "taai2011  TAAI   2011  400      5x5   50 % to 35 %  no",
        "tcga2012  TCGA   2012  400      5x5   50 % to 35 %  yes",
        "",
        f"1 of 2 are here, in {folder}",
    ]


def test_the_list_for_machines(folder, capsys):
    assert cli.run(["data", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert (listed["kind"], listed["schema_version"], listed["folder"]) == ("data-list", 1, str(folder))
    assert [one["state"] for one in listed["sets"]] == ["missing", "here"]
    assert listed["sets"][1] == {
        "name": "tcga2012",
        "event": "TCGA",
        "year": 2012,
        "puzzles": 400,
        "width": 5,
        "height": 5,
        "p1": 0.5,
        "p2": 0.35,
        "line_ends": None,
        "bytes": None,
        "sha256": registry.official_sets()["tcga2012"].sha256,
        "url": "http://127.0.0.1:9/HEAD/question/tcga2012.txt",
        "state": "here",
        "path": str(folder / "tcga2012.txt"),
    }


def test_the_path_of_a_set(folder, capsys):
    assert cli.run(["data", "path", "tcga2012"]) == 0
    assert capsys.readouterr().out == f"{folder}/tcga2012.txt\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("taai2011", "taai2011 is not on this machine yet: `nonojudge data fetch taai2011` fetches it"),
        ("tcga2021", "no official set tcga2021 (did you mean tcga2012?)"),
    ],
)
def test_no_path(name, message, capsys):
    assert cli.run(["data", "path", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_a_damaged_file_is_told_from_a_good_one_and_has_no_path(folder, capsys):
    (folder / "taai2011.txt").write_bytes(b"")
    assert cli.run(["data", "list"]) == 0
    out = capsys.readouterr().out
    assert "35 %  damaged\n" in out
    assert "1 of 2 are here, 1 damaged, in" in out
    assert cli.run(["data", "path", "taai2011"]) == 2
    assert "taai2011 is damaged" in capsys.readouterr().err


def test_the_users_cache_folder_is_where_sets_are_kept(monkeypatch):
    monkeypatch.delenv("NONOBOT_DATA")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
        assert data_folder() == Path("/somewhere/nonobot/sets")
    monkeypatch.setenv("NONOBOT_DATA", "~/sets")
    assert data_folder() == Path("~/sets").expanduser()
