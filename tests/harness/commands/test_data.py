"""`nonojudge data list`, `path` and `import`, and where the data folder is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nonobot.harness import cli
from nonobot.tournament_data import registry
from nonobot.tournament_data.registry import State, data_folder, files_below, keep, state_of, stored_path
from tests.helpers import published

TAAI, TCGA = published.CONTENTS["taai2011"], published.CONTENTS["tcga2012"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    with published.small_registry(tmp_path, monkeypatch) as path:
        yield path


@pytest.fixture
def one_here(folder):
    keep(registry.official_sets()["tcga2012"], TCGA)


def test_data_list_prints_a_table(folder, one_here, output_of):
    assert output_of(cli.run, ["data", "list"]).out.splitlines() == [
        "set       event  year  puzzles  size  black       here",
        "taai2011  TAAI   2011  400      5x5   50% to 35%  no",
        "tcga2012  TCGA   2012  400      5x5   50% to 35%  yes",
        "",
        f"1 of 2 are here, in {folder}",
    ]


def test_data_list_prints_json(folder, one_here, output_of):
    listed = json.loads(output_of(cli.run, ["data", "list", "--json"]).out)
    assert (listed["kind"], listed["schema_version"], listed["folder"]) == ("data-list", 2, str(folder))
    assert [official["state"] for official in listed["sets"]] == ["missing", "here"]
    facts = {"name": "tcga2012", "event": "TCGA", "year": 2012, "puzzle_count": 400, "width": 5, "height": 5}
    facts |= {"p1": 0.5, "p2": 0.35, "line_ends": None, "size_bytes": None, "state": "here"}
    facts |= {"sha256": registry.official_sets()["tcga2012"].sha256, "path": str(folder / "tcga2012.txt")}
    assert listed["sets"][1] == facts | {"url": "http://127.0.0.1:9/HEAD/question/tcga2012.txt"}


def test_a_damaged_set_has_no_path_and_an_unknown_home_no_data_folder(folder, one_here, output_of):
    (folder / "taai2011.txt").write_bytes(b"")
    out = output_of(cli.run, ["data", "list"]).out
    assert "35%  damaged\n" in out
    assert "1 of 2 are here, 1 damaged, in" in out
    assert "taai2011 is damaged" in output_of(cli.run, ["data", "path", "taai2011"], status=2).err
    assert output_of(cli.run, ["data", "path", "tcga2012"]).out == f"{folder}/tcga2012.txt\n"
    command = [sys.executable, "-m", "nonobot.harness", "data", "list"]
    environment = os.environ | {"NONOBOT_DATA": "~no-such-user/sets"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    why = "nonojudge: NONOBOT_DATA=~no-such-user/sets: no such home folder; set it to an absolute path\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", why)


def test_sets_are_stored_in_the_users_cache_folder(monkeypatch):
    monkeypatch.delenv("NONOBOT_DATA")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
        assert data_folder() == Path("/somewhere/nonobot/sets")
    monkeypatch.setenv("NONOBOT_DATA", "~/sets")
    assert data_folder() == Path("~/sets").expanduser()


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "found"
    path.mkdir()
    return path


def test_import_recognises_sets_under_any_file_name(source, folder, output_of):
    (source / "within").mkdir()
    (source / "a.dat").write_bytes(TCGA)
    (source / "within" / "taai2011.txt").write_bytes(TCGA)
    (source / "within" / "x").write_bytes(TAAI)
    out, err = output_of(cli.run, ["data", "import", str(source)])
    assert out.splitlines() == [
        f"tcga2012: imported ({source}/a.dat)",
        f"taai2011: imported ({source}/within/x)",
        f"2 official sets found; 2 of 2 are here, in {folder}",
    ]
    assert err == ""
    assert sorted(os.listdir(folder)) == ["taai2011.txt", "tcga2012.txt"]  # noqa: PTH208
    assert (folder / "taai2011.txt").read_bytes() == TAAI
    assert (folder / "tcga2012.txt").read_bytes() == TCGA
    assert output_of(cli.run, ["data", "import", str(source / "a.dat")]).out.startswith("tcga2012: here already")


@pytest.mark.parametrize(
    "content", [TAAI.replace(b"\n", b"\r\n"), TCGA.replace(b"\r\n", b"\n"), TCGA.replace(b"\r\n", b"\n", 10)]
)
def test_line_ends_that_git_or_an_editor_changed_are_put_back(source, content, output_of):
    (source / "one").write_bytes(content)
    out = output_of(cli.run, ["data", "import", str(source)]).out
    assert "imported, its line ends restored" in out
    assert "\n1 official set found; " in out
    [official] = [known for known in registry.official_sets().values() if state_of(known) is State.HERE]
    assert stored_path(official).read_bytes() == published.CONTENTS[official.name]


def test_import_reports_files_that_are_not_official_sets(source, folder, capsys, output_of):
    (source / "empty").write_bytes(b"")
    (source / "nearly").write_bytes(TAAI[:-2])
    (source / "large").write_bytes(bytes(registry.MOST_BYTES + 1))
    os.mkfifo(source / "pipe")
    (source / "dangling").symlink_to("nowhere")
    (source / ".hidden").write_bytes(TAAI)
    (source / ".git").mkdir()
    (source / ".git" / "object").write_bytes(TAAI)
    (source / "loop").symlink_to(source)
    assert output_of(cli.run, ["data", "import", str(source)], status=1).out.splitlines() == [
        f"no official set: {source}/empty, {source}/large, {source}/nearly (3 files)",
        f"0 official sets found; 0 of 2 are here, in {folder}",
    ]
    for number in range(9):
        (source / f"more{number}").write_bytes(b"$1\n")
    cli.run(["data", "import", str(source)])
    assert f"{source}/more2, ... (12 files)" in capsys.readouterr().out


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_import_skips_an_unreadable_file(source, output_of):
    (source / "a").write_bytes(TAAI)
    (source / "a").chmod(0)
    (source / "b").write_bytes(TCGA)
    out, err = output_of(cli.run, ["data", "import", str(source)])
    assert out.startswith("tcga2012: imported")
    assert f"cannot read {source}/a: Permission denied" in err


def test_files_come_in_the_order_of_their_names(source):
    for name in ("b", "a", "c"):
        (source / name).mkdir()
        (source / name / "x").write_bytes(b"")
    (source / "z").write_bytes(b"")
    found = [path.relative_to(source).as_posix() for path in files_below(source, pytest.fail)]
    assert found == ["z", "a/x", "b/x", "c/x"]
