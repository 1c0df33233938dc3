"""Importing: official sets recognised by what they hold."""

from __future__ import annotations

import io
import os
import shutil

import pytest

from nonobot.harness import cli
from nonobot.tournament_data import registry
from nonobot.tournament_data.registry import State, files_below, keep, recognise, state_of, stored_path
from tests import published

TAAI, TCGA = published.CONTENTS["taai2011"], published.CONTENTS["tcga2012"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    with published.small_registry(tmp_path, monkeypatch) as path:
        yield path


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


def test_a_damaged_file_is_replaced(source, folder, capsys):
    folder.mkdir(parents=True)
    (folder / "taai2011.txt").write_bytes(b"$1\n")
    (source / "taai2011.txt").write_bytes(TAAI)
    assert cli.run(["data", "import", str(source)]) == 0
    assert "taai2011: imported (" in capsys.readouterr().out
    assert (folder / "taai2011.txt").read_bytes() == TAAI


def test_a_data_folder_that_cannot_be_made(source, monkeypatch, capsys):
    (source / "set").write_bytes(TAAI)
    monkeypatch.setenv("NONOBOT_DATA", str(source / "set" / "sets"))
    assert cli.run(["data", "import", str(source)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("nonojudge: cannot write ")
    assert err.count("\n") == 1


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


def test_the_published_files_are_recognised(official_sets, monkeypatch, tmp_path):
    monkeypatch.undo()
    registry.official_sets.cache_clear()
    found = {path: recognise(path) for path in official_sets}
    assert any(found.values())
    for path, recognised in found.items():
        shutil.copy(path, tmp_path / "renamed")
        assert recognise(tmp_path / "renamed") == recognised
        assert recognised is None or not recognised.restored


def test_files_come_in_the_order_of_their_names(source):
    for name in ("b", "a", "c"):
        (source / name).mkdir()
        (source / name / "x").write_bytes(b"")
    (source / "z").write_bytes(b"")
    found = [path.relative_to(source).as_posix() for path in files_below(source, fail)]
    assert found == ["z", "a/x", "b/x", "c/x"]


def fail(error):
    raise error
