"""`nonojudge bench` and `nonojudge claims` in the hands of a test, here or in a clone of the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nonobot.arguments import Parser
from tests.helpers.places import REPOSITORY

ROOMS = ("bot", "protocol", "tournament_data", "harness", "nonobot")


def carry_out(module, *arguments, bot=()):
    """Carry out a command line of one command in this process, with a bot's after `--`; return its exit status."""
    parser = Parser(prog="nonojudge")
    module.add_to(parser)
    parsed = parser.parse_args([*map(str, arguments)])
    parsed.bot_command = list(bot)
    return module.carry_out(parsed)


def require_git() -> None:
    """Skip the test where git is not installed."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")


class Clone:
    """A repository of its own with what is in this one's rooms, all of it committed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "clone"
        self.cache = folder / "cache"
        for room in ROOMS:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(REPOSITORY / room, self.folder / room, symlinks=True, ignore=ignored)
        require_git()
        self.git("init", "-q")
        self.commit("all of it")

    def git(self, *arguments: str) -> None:
        author = ("-c", "user.name=test", "-c", "user.email=test@localhost")
        subprocess.run(["git", *author, *arguments], cwd=self.folder, check=True, capture_output=True)

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def replace(self, file: str, old: str, new: str) -> None:
        """Edit a file; `old` stands in it once."""
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")

    def bench(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.judge("bench", *arguments)

    def judge(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Carry out a command of the clone's judge, somewhere else."""
        folders = {"PYTHONPATH": str(self.folder), "NONOBOT_CACHE_DIR": str(self.cache)}
        command = [sys.executable, "-m", "nonobot.harness", *arguments]
        environment = os.environ | folders | {"PYTHONSAFEPATH": "1"}
        return subprocess.run(command, cwd=self.folder.parent, env=environment, capture_output=True, text=True)
