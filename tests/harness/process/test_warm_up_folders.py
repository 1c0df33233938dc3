"""What a warm-up may write: the bot's own folders, without what others load or the judge trusts."""

import os
import socket
import subprocess
import sys

import pytest

from nonobot.harness.play.match import WarmUpError, warmed_up
from nonobot.harness.process import warm_up_folders
from nonobot.harness.process.access import Access
from nonobot.harness.process.nonobot_command import HOME
from nonobot.harness.process.sandbox import Sandbox
from nonobot.harness.process.system_calls import filter_program
from nonobot.harness.process.warm_up_folders import writable_folders
from nonobot.harness.results.conditions import Configuration, Contain
from tests.helpers.places import quoted
from tests.helpers.sandboxes import sandbox_only


def bot(folder):
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def no_programs(monkeypatch):
    """Leave PATH without the many links of the system, which `writable_folders` follows."""
    monkeypatch.setenv("PATH", "/nowhere")


def written(folder):
    """Return whether the warm-up of a bot in a folder may write there."""
    return [path for path, _ in writable_folders([folder], [])] == [folder]


def kept(folder):
    """Return what stays as it is in a folder, by the names in it."""
    [(_, paths)] = writable_folders([folder], [])
    return sorted(str(path.relative_to(folder)) for path in paths)


@pytest.mark.usefixtures("no_programs")
@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("LD_LIBRARY_PATH", "{}"),
        ("LD_LIBRARY_PATH", "/usr/lib:{}/lib"),
        ("PYTHONPYCACHEPREFIX", "{}/later"),
        ("PYTHONPATH", "{}/lib"),
        ("XDG_CONFIG_HOME", "{}"),
        ("PATH", "{}/later"),
        ("PATH", "/usr/lib:{}/lib"),
    ],
)
def test_a_warm_up_cannot_write_a_folder_named_in_a_variable(tmp_path, monkeypatch, name, place):
    folder = bot(tmp_path / "bot")
    assert written(folder)
    monkeypatch.setenv(name, place.format(folder))
    assert not written(folder)
    monkeypatch.setenv(name, f"/usr/lib:{tmp_path}")  # what contains the folder is not of the bot
    assert written(folder)


@pytest.mark.usefixtures("no_programs")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_SSH_COMMAND", "ssh -F {}/rc"),
        ("LESSOPEN", "|{}/rc %s"),
        ("GIT_CONFIG_PARAMETERS", "'core.hookspath={}/hooks'"),
        ("PROMPT_COMMAND", "true; . {}/rc"),
        ("RUBYOPT", "-r{}/rc"),
        ("NODE_OPTIONS", "--require={}/rc"),
        ("MAKEFILES", "/usr/x {}/./rc"),
    ],
)
def test_a_warm_up_cannot_write_a_folder_within_the_text_of_a_variable(tmp_path, monkeypatch, name, value):
    for folder in (bot(tmp_path / "entries/bot"), bot(tmp_path / "my entries/bot")):
        monkeypatch.setenv(name, value.format(folder))
        assert not written(folder)
    monkeypatch.setenv(name, value.format(tmp_path / "my entries/bot2"))
    assert written(folder)


@pytest.mark.parametrize(
    "value",
    ["~/bots/bot/rc", "source$HOME/bots/bot/rc", "-S ~/bots/bot/rc", "x:~/bots/bot"],
    ids=range(4),  # pytest has a variable with the name of the test
)
def test_a_warm_up_cannot_write_a_folder_that_a_variable_expands_to(tmp_path, monkeypatch, value):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = bot(tmp_path / "bots/bot")
    assert written(folder)
    monkeypatch.setenv("OPTIONS", value)
    assert not written(folder)


def test_a_warm_up_cannot_write_the_folder_of_a_program_linked_on_the_path(tmp_path, monkeypatch):
    (tool := bot(tmp_path / "bots/bot") / "tool").touch(0o755)
    (bot(tmp_path / "programs") / "git").symlink_to(tool)
    assert written(tool.parent)
    monkeypatch.setenv("PATH", str(tmp_path / "programs"), prepend=os.pathsep)
    assert not written(tool.parent)


def test_a_warm_up_can_write_the_folder_in_oldpwd(tmp_path, monkeypatch):
    monkeypatch.setenv("OLDPWD", str(bot(tmp_path / "bot")))
    assert written(tmp_path / "bot")


def test_a_warm_up_cannot_write_a_relative_path_folder(tmp_path):
    folder = bot(tmp_path / "bot")
    code = (
        "import os; from pathlib import Path; "
        "from nonobot.harness.process.warm_up_folders import writable_folders; "
        f"os.environ['PATH'] = os.defpath; print([*writable_folders([Path({str(folder)!r})], [])])"
    )
    command, path = [sys.executable, "-c", code], os.environ["PATH"]
    for added, is_written in (("", True), ("./bot:", False), ("bot/lib:", False)):
        environment = os.environ | {"PATH": added + path, "PYTHONPATH": str(HOME)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert (str(folder) in done.stdout) is is_written, added


def test_a_warm_up_cannot_write_python_modules_of_the_clone(monkeypatch, tmp_path):
    monkeypatch.setattr(warm_up_folders, "HOME", tmp_path / "clone")
    for name in ("sitecustomize", "cupy", "x.dist-info"):
        assert not written(bot(tmp_path / "clone" / name))
    assert written(bot(tmp_path / "clone/entries/alice"))


def test_every_git_folder_in_a_bots_folder_is_read_only(tmp_path):
    folder = bot(tmp_path / "bot")
    for name in (".git", "library/.git", "a/b/c/.git"):
        (folder / name).mkdir(parents=True)
    (bot(folder / "module") / ".git").write_text("gitdir: ../library/.git\n")
    assert kept(folder) == [".git", "a/b/c/.git", "library/.git", "module/.git"]


def test_files_with_hard_links_elsewhere_are_read_only(tmp_path):
    """As uv links the files of a package into each environment: the judge's and the bot's."""
    folder, judges = bot(tmp_path / "bot"), bot(tmp_path / "judge")
    for name in ("package.py", "other.py"):
        (judges / name).write_text("")
    os.link(judges / "package.py", bot(folder / ".venv/lib/python3") / "package.py")
    os.link(judges / "other.py", folder / "other.py")
    (bot(folder / "target/release/deps") / "bot-1").write_text("")  # cargo does that
    os.link(folder / "target/release/deps/bot-1", folder / "target/release/bot")
    (folder / "link").symlink_to("../judge")  # to keep it would show what it leads to
    os.link(folder / "link", judges / "link", follow_symlinks=False)
    assert kept(folder) == [".venv", "other.py"]


def test_a_warm_up_cannot_write_a_folder_with_too_many_files_to_check(tmp_path, monkeypatch):
    folder = bot(tmp_path / "bot")
    for number in range(20):
        (bot(folder / f"{number % 3}") / f"{number}").touch()
    assert written(folder)
    monkeypatch.setattr(warm_up_folders, "MOST_LOOKED_AT", 20)
    assert not written(folder)


IN_SANDBOX = Configuration(contain=Contain.YES)


def warm_up(folder, line, **access):
    """Run a line in a bot's folder as its warm-up; return whether it ended well."""
    (bot(folder) / "bot").touch()
    line = f"cd {quoted(folder)} && {line}"
    try:
        return warmed_up(["sh", "-c", line, "sh", str(folder / "bot")], IN_SANDBOX, Access(**access)) > 0
    except WarmUpError:
        return False


@sandbox_only
def test_a_warm_up_cannot_change_move_or_replace_read_only_files(tmp_path):
    folder, judges = tmp_path / "bot", bot(tmp_path / "judge")
    (judges / "package.py").write_text("mine\n")
    os.link(judges / "package.py", bot(folder / ".venv/lib") / "package.py")
    (bot(folder / "deep/down/.git") / "config").write_text("mine\n")
    (bot(folder / "sets/old") / "q.txt").write_text("mine\n")
    line = (
        "echo theirs >> .venv/lib/package.py; echo theirs >> deep/down/.git/config; mv deep old;"
        "mv deep/down deep/old; rm -rf deep; mv .venv old; mv sets old; mv sets/old sets/new; rm -rf sets;"
        "echo theirs > sets/old/q.txt; ln .venv/lib/package.py own; echo theirs > made"
    )
    assert warm_up(folder, line, secret=[folder / "sets/old/q.txt"])
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {"bot", "made", ".venv/lib/package.py", "deep/down/.git/config", "sets/old/q.txt"}
    mine = [folder / name for name in files - {"bot", "made"}] + [judges / "package.py"]
    assert {path.read_text() for path in mine} == {"mine\n"}


@sandbox_only
def test_a_warm_up_cannot_read_or_write_the_tournament_file(tmp_path):
    folder = bot(tmp_path / "bot")
    (folder / "weekly.toml").write_text("mine\n")
    for line in ("echo theirs > weekly.toml", "rm weekly.toml", "mv weekly.toml old", "grep mine weekly.toml"):
        assert not warm_up(folder, line, hide=[folder / "weekly.toml"])
    assert (folder / "weekly.toml").read_text() == "mine\n"


MODES = """
import ctypes, os, sys
os.chdir(sys.argv[1])
def fails(call):
    try:
        call()
    except PermissionError:
        return True
    return False
file = os.open("own", os.O_CREAT | os.O_RDWR, 0o755)
for bit in (0o4000, 0o2000, 0o6000):
    for call in (
        lambda: os.chmod("own", 0o755 | bit), lambda: os.fchmod(file, 0o755 | bit),
        lambda: os.open(f"new{bit}", os.O_CREAT | os.O_WRONLY, 0o755 | bit),
        lambda: os.open(".", os.O_TMPFILE | os.O_RDWR, 0o755 | bit),
        lambda: os.mknod(f"node{bit}", 0o100755 | bit),
    ):
        assert fails(call), (bit, call.__code__.co_firstlineno, call.__code__.co_names)
os.chmod("own", 0o1777)
os.fchmod(file, 0o755)
os.open("tmpfile", os.O_CREAT | os.O_WRONLY, 0o700)
os.open(".", os.O_TMPFILE | os.O_RDWR, 0o700)
"""


@sandbox_only
@pytest.mark.skipif(not filter_program(), reason="no libseccomp")
def test_a_warm_up_cannot_leave_a_setuid_program(tmp_path):
    command = [sys.executable, "-S", "-c", MODES, str(bot(tmp_path / "bot"))]
    assert warmed_up(command, IN_SANDBOX) > 0
    assert {path.stat().st_mode & 0o7777 for path in (tmp_path / "bot").iterdir()} == {0o755, 0o700}


@sandbox_only
def test_sockets_and_pipes_of_other_programs_are_hidden(tmp_path, monkeypatch):
    folder = bot(tmp_path / "bot/deep")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listening, monkeypatch.context() as here:
        here.chdir(folder)  # a socket's path may have 107 bytes
        listening.bind("socket")
        here.undo()
        line = "cd deep && ! test -S socket && ! test -p pipe && test -c pipe"
        assert warm_up(tmp_path / "bot", line)


@pytest.mark.parametrize("path", ["/", "/proc", "/proc/1", "/dev", "/tmp", "/nowhere/.."])
def test_no_shown_folder_replaces_the_sandboxs_own_mounts(path, monkeypatch):
    plain = Sandbox().around(["sh"], {}, 3, 4)
    assert Sandbox().around(["sh"], {"PYTHONPATH": f"{path}:"}, 3, 4) == plain
