"""`nonojudge data list`, `path` and `import`, and where the data folder is."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nonobot.harness import cli
from nonobot.tournament_data import registry
from nonobot.tournament_data.registry import State, data_folder, files_below, keep, state_of, stored_path
from tests import published

TAAI, TCGA = published.CONTENTS["taai2011"], published.CONTENTS["tcga2012"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    with published.small_registry(tmp_path, monkeypatch) as path:
        yield path


@pytest.fixture
def one_here(folder):
    keep(registry.official_sets()["tcga2012"], TCGA)


def test_the_list_for_people(folder, one_here, capsys):
    assert cli.run(["data", "list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "set       event  year  puzzles  size  black       here",
        "taai2011  TAAI   2011  400      5x5   50% to 35%  no",
        "tcga2012  TCGA   2012  400      5x5   50% to 35%  yes",
        "",
        f"1 of 2 are here, in {folder}",
    ]


def test_the_list_for_machines(folder, one_here, capsys):
    assert cli.run(["data", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert (listed["kind"], listed["schema_version"], listed["folder"]) == ("data-list", 2, str(folder))
    assert [one["state"] for one in listed["sets"]] == ["missing", "here"]
    assert listed["sets"][1] == {
        "name": "tcga2012",
        "event": "TCGA",
        "year": 2012,
        "puzzle_count": 400,
        "width": 5,
        "height": 5,
        "p1": 0.5,
        "p2": 0.35,
        "line_ends": None,
        "size_bytes": None,
        "sha256": registry.official_sets()["tcga2012"].sha256,
        "url": "http://127.0.0.1:9/HEAD/question/tcga2012.txt",
        "state": "here",
        "path": str(folder / "tcga2012.txt"),
    }


def test_a_damaged_file_is_told_from_a_good_one_and_has_no_path(folder, one_here, capsys):
    (folder / "taai2011.txt").write_bytes(b"")
    assert cli.run(["data", "list"]) == 0
    out = capsys.readouterr().out
    assert "35%  damaged\n" in out
    assert "1 of 2 are here, 1 damaged, in" in out
    assert cli.run(["data", "path", "taai2011"]) == 2
    assert "taai2011 is damaged" in capsys.readouterr().err
    assert cli.run(["data", "path", "tcga2012"]) == 0
    assert capsys.readouterr().out == f"{folder}/tcga2012.txt\n"


def test_the_users_cache_folder_is_where_sets_are_kept(monkeypatch):
    monkeypatch.delenv("NONOBOT_DATA")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
        assert data_folder() == Path("/somewhere/nonobot/sets")
    monkeypatch.setenv("NONOBOT_DATA", "~/sets")
    assert data_folder() == Path("~/sets").expanduser()


def test_a_data_folder_in_a_home_that_is_not_known_is_one_line():
    command = [sys.executable, "-m", "nonobot.harness", "data", "list"]
    environment = os.environ | {"NONOBOT_DATA": "~no-such-user/sets"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    why = "nonojudge: NONOBOT_DATA=~no-such-user/sets: no such home folder; set it to an absolute path\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", why)


# Importing


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "found"
    path.mkdir()
    return path


def test_the_name_of_a_file_does_not_matter(source, folder, capsys):
    (source / "within").mkdir()
    (source / "a.dat").write_bytes(TCGA)
    (source / "within" / "taai2011.txt").write_bytes(TCGA)
    (source / "within" / "x").write_bytes(TAAI)
    assert cli.run(["data", "import", str(source)]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        f"tcga2012: imported ({source}/a.dat)",
        f"taai2011: imported ({source}/within/x)",
        f"2 official sets found; 2 of 2 are here, in {folder}",
    ]
    assert err == ""
    assert sorted(os.listdir(folder)) == ["taai2011.txt", "tcga2012.txt"]  # noqa: PTH208
    assert (folder / "taai2011.txt").read_bytes() == TAAI
    assert (folder / "tcga2012.txt").read_bytes() == TCGA
    assert cli.run(["data", "import", str(source / "a.dat")]) == 0
    assert capsys.readouterr().out.startswith("tcga2012: here already")


@pytest.mark.parametrize(
    "content",
    [
        TAAI.replace(b"\n", b"\r\n"),
        TCGA.replace(b"\r\n", b"\n"),
        TCGA.replace(b"\r\n", b"\n", 10),
    ],
)
def test_line_ends_that_git_or_an_editor_changed_are_put_back(source, content, capsys):
    (source / "one").write_bytes(content)
    assert cli.run(["data", "import", str(source)]) == 0
    assert "imported, its line ends restored" in capsys.readouterr().out
    [official] = [one for one in registry.official_sets().values() if state_of(one) is State.HERE]
    assert stored_path(official).read_bytes() == published.CONTENTS[official.name]


def test_what_is_no_official_set_is_named(source, folder, capsys):
    (source / "empty").write_bytes(b"")
    (source / "nearly").write_bytes(TAAI[:-2])
    (source / "large").write_bytes(bytes(registry.MOST_BYTES + 1))
    os.mkfifo(source / "pipe")
    (source / "dangling").symlink_to("nowhere")
    (source / ".hidden").write_bytes(TAAI)
    (source / ".git").mkdir()
    (source / ".git" / "object").write_bytes(TAAI)
    (source / "loop").symlink_to(source)
    assert cli.run(["data", "import", str(source)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"no official set: {source}/empty, {source}/large, {source}/nearly (3 files)",
        f"0 official sets found; 0 of 2 are here, in {folder}",
    ]
    for number in range(9):
        (source / f"more{number}").write_bytes(b"$1\n")
    cli.run(["data", "import", str(source)])
    assert f"{source}/more2, ... (12 files)" in capsys.readouterr().out


def test_a_full_disk_leaves_nothing_half_written(folder, monkeypatch):
    class FileOnAFullDisk(io.FileIO):
        def write(self, content):
            super().write(content[:100])
            raise OSError(28, "No space left on device")

    taai2011 = registry.official_sets()["taai2011"]
    monkeypatch.setattr("pathlib.Path.open", lambda path, mode: FileOnAFullDisk(path, mode))
    with pytest.raises(OSError, match="No space left"):
        keep(taai2011, TAAI)
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_cannot_be_read_costs_no_other(source, capsys):
    (source / "a").write_bytes(TAAI)
    (source / "a").chmod(0)
    (source / "b").write_bytes(TCGA)
    assert cli.run(["data", "import", str(source)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("tcga2012: imported")
    assert f"cannot read {source}/a: Permission denied" in err


def test_files_come_in_the_order_of_their_names(source):
    for name in ("b", "a", "c"):
        (source / name).mkdir()
        (source / name / "x").write_bytes(b"")
    (source / "z").write_bytes(b"")
    found = [path.relative_to(source).as_posix() for path in files_below(source, pytest.fail)]
    assert found == ["z", "a/x", "b/x", "c/x"]
