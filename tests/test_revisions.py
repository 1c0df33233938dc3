"""The revision of a bot, from the git clone that it is in: whose clone is asked, and what a result states."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import pytest

from nonobot.harness.play.bot_command import HOME, OWN_BOT
from nonobot.harness.play.revisions import git, revision_of

EVIL = '[core]\n\tfsmonitor = touch {0}\n[filter "evil"]\n\tclean = touch {0}\n'


def made(folder, **files):
    """Make a repository with a commit of a bot; return the commit."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"bot": "#!/bin/sh\n", **files}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    for words in ("init -q", "add -A", "-c user.name=t -c user.email=t@localhost commit -q -m all"):
        subprocess.run(["git", *words.split()], cwd=folder, check=True)
    return git(folder, "rev-parse", "HEAD").decode().strip()


def test_a_bot_has_the_commit_of_its_clone_and_whether_it_was_edited(tmp_path, own_folder, monkeypatch):
    commit = made(tmp_path)
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "bot").touch(0o755)  # untracked
    git(tmp_path, "worktree", "add", "-q", "--detach", str(tmp_path / "old"))
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as in a hook
    for command in (["./bot"], ["sh", "bot"], ["nice", "./built/bot"], ["sh", "-c", "cd old && ./bot"]):
        assert revision_of(command) == commit
    (tmp_path / "bot").write_text("#!/bin/sh\nexit\n")
    assert revision_of(["./bot"]) == f"{commit}-dirty"
    assert revision_of(["old/bot"]) == commit
    assert revision_of(["sh", "-c", "cat"]) is None
    if (HOME / ".git").exists():
        assert revision_of(OWN_BOT).startswith(git(HOME, "rev-parse", "HEAD").decode().strip())


def test_a_script_in_no_clone_has_no_revision_of_the_clone_that_its_python_is_in(tmp_path, own_folder):
    commit = made(tmp_path / "clone")
    (bin_folder := tmp_path / "clone" / "env" / "bin").mkdir(parents=True)
    (bin_folder.parent / "pyvenv.cfg").touch()
    (bin_folder / "python3").symlink_to(sys.executable)
    (script := tmp_path / "elsewhere" / "bot.py").parent.mkdir()
    script.touch()
    with contextlib.chdir(tmp_path / "clone"):
        assert revision_of(["env/bin/python3", str(script)]) is None
        assert revision_of(["env/bin/python3", "bot"]) == commit
        assert revision_of(["env/bin/python3", "-m", "bot"]) == commit  # installed there


def test_without_git_or_a_commit_there_is_no_revision(tmp_path, own_folder, monkeypatch):
    (tmp_path / "bot").touch(0o755)
    assert revision_of(["./bot"]) is None
    subprocess.run(["git", "init", "-q"], check=True)
    assert revision_of(["./bot"]) is None
    made(tmp_path)
    assert revision_of(["./bot"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert revision_of(["./bot"]) is None


@pytest.mark.parametrize("in_repository", [False, True])
def test_git_runs_nothing_for_the_repository_that_a_stranger_handed_in(tmp_path, own_folder, in_repository):
    theirs = tmp_path / "bots" / "theirs"
    made(theirs, **{".gitattributes": "* filter=evil\n"})
    touched = tmp_path / "touched"
    with (theirs / ".git" / "config").open("a") as config:
        config.write(EVIL.format(touched))
    if in_repository:
        (tmp_path / ".gitignore").write_text("bots\n")
        made(tmp_path)
    (theirs / "bot").write_text("#!/bin/sh\nexit\n")
    assert revision_of(["bots/theirs/bot"]) is None
    assert not touched.exists()
    subprocess.run(["git", "status"], cwd=theirs, capture_output=True)
    assert touched.exists()  # it would have been
