"""The files that a command names, and what belongs to them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from nonobot.harness.cluster.runs_on_workers import needed
from nonobot.harness.play.bot_command import folders_of, named_by, prefixes_of

pytestmark = pytest.mark.usefixtures("own_folder")


def program(path, first="#!/bin/sh"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(first + "\n")
    path.chmod(0o755)
    return str(path)


def test_what_a_command_names(tmp_path):
    for name in ("bot.py", "book", "weights"):
        (tmp_path / name).touch()
    words = [sys.executable, "bot.py", "--book=book", "25x25", "\0", "x" * 5000, "cat weights; true", "/etc"]
    found = [path for path in named_by(words) if tmp_path in path.parents]
    assert [path.name for path in dict.fromkeys(found)] == ["bot.py", "book", "weights"]
    assert Path("/etc") not in found


def test_scripts_that_name_each_other_come_to_an_end(tmp_path):
    one, other = (tmp_path / name for name in ("one", "other"))
    for script, next_one in ((one, other), (other, one)):
        script.write_text(f"#!{next_one}\n")
        script.chmod(0o755)
    assert {one, other} <= set(named_by([str(one)]))


def test_of_a_program_in_a_folder_bin_its_libraries_belong_to_it_and_nothing_else(tmp_path):
    for name in ("lib", "lib64", "share", "other", ".secret"):
        (tmp_path / "its" / name).mkdir(parents=True)
    (tmp_path / "its" / "pyvenv.cfg").touch()
    bot = program(tmp_path / "its" / "bin" / "bot")
    assert {path.name for path in prefixes_of([bot])} == {"bin", "lib", "lib64", "share", "pyvenv.cfg"}
    assert [*folders_of([bot])] == []


@pytest.mark.parametrize("before", [["env", "A=b"], ["nice", "-n", "5"], ["sh", "-c"]])
def test_a_program_behind_another_is_installed_as_well_and_so_is_what_runs_it(tmp_path, before):
    interpreter = program(tmp_path / "its" / "bin" / "python")
    (tmp_path / "its" / "lib").mkdir()
    bot = program(tmp_path / "bot" / "bin" / "bot", f"#!{interpreter}")
    found = {path.relative_to(tmp_path).as_posix() for path in prefixes_of([*before, bot])}
    assert found == {"its/bin", "its/lib", "bot/bin"}
    assert [*folders_of([*before, bot])] == []  # a warm-up writes in those


@pytest.mark.parametrize("where", ["home/bin", "home/.local/bin"])
def test_of_home_only_libraries_belong_to_a_program(tmp_path, monkeypatch, where):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    bot = program(tmp_path / where / "bot")
    for name in ("share", "lib"):
        (tmp_path / where).with_name(name).mkdir()
    assert {path.name for path in prefixes_of([bot])} == {"bin", "lib"}


def test_home_is_known_by_each_of_its_names(tmp_path, monkeypatch):
    (tmp_path / "real" / "home").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    monkeypatch.setenv("HOME", str(tmp_path / "link" / "home"))
    bot = program(tmp_path / "real" / "home" / "bot")
    assert [*folders_of([bot])] == [Path(bot)] * 2
    assert [*named_by(["cat", str(tmp_path / "real" / "home")])] == []


def test_a_worker_needs_the_files_and_the_interpreter_of_a_command_of_any_words(tmp_path):
    bot = program(tmp_path / "bot", "#!/usr/bin/env python3")
    (tmp_path / "book").touch()
    todo = [SimpleNamespace(programs=[[bot, "book", "x" * 5000, "\0", "", str(tmp_path)], []])]
    assert needed(todo).args == ((bot, "python3", "book"),)
