"""`nonojudge bisect` on a repository whose commits change the settings of a small bot."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from nonobot.harness import cli
from nonobot.harness.bench import trees
from nonobot.harness.process.revisions import git
from tests.helpers.benching import require_git
from tests.helpers.judged import RECIPE, command

BOT = """\
import json, os, pathlib, sys, time
settings = json.loads(pathlib.Path("settings.json").read_text())
__import__(settings["imports"])
stats = sys.argv[sys.argv.index("--stats") + 1] if "--stats" in sys.argv else "/dev/null"
sys.stdin.read()
time.sleep(settings["hangs"])
while time.process_time() < settings["computes"]:
    pass
parts = pathlib.Path({solutions!r}).read_text().split("$")[1:]
commit = pathlib.Path.cwd().name
with pathlib.Path({runs!r}, commit).open("a") as file:
    file.write(".")
    odd = (file.tell() + sum(commit.encode())) % 2
lost = settings["loses"] + settings["flaky"] * odd
numbers = [] if settings["mute"] else [n for n in range(1, 6) if n not in lost]
print("".join("$" + parts[n - 1] for n in numbers), end="", flush=True)
with open(stats, "w") as file:
    for n in numbers:
        noise = os.urandom(4)[0] if settings["random"] else 0
        print(json.dumps({{"puzzle": n, "seconds": 0.1, "guesses": settings["guesses"] * n + noise}}), file=file)
"""
START = {"loses": [], "guesses": 5, "mute": False, "hangs": 0, "computes": 0, "random": False, "imports": "json"}
START |= {"flaky": []}  # puzzles that the bot loses in every other run of a commit
BUILD = [sys.executable, "-S", "-c", "import json; __import__(json.load(open('settings.json'))['imports'])"]
AUTHOR = ("-c", "user.name=t", "-c", "user.email=t@localhost")


class History:
    """A repository with commits that change the settings of its bot."""

    def __init__(self, folder: Path) -> None:
        require_git()
        command("perfect", folder)  # writes the solutions
        self.folder = folder / "repository"
        self.folder.mkdir()
        git(self.folder, "init", "-q", "-b", "main")
        (folder / "runs").mkdir()
        paths = {"solutions": str(folder / "solutions.txt"), "runs": str(folder / "runs")}
        (self.folder / "bot.py").write_text(BOT.format(**paths))
        (self.folder / "settings.json").write_text(json.dumps(START))
        self.count = 0

    def commit(self, **settings: object) -> str:
        """Add a commit with changed settings, or with none; return its name."""
        path = self.folder / "settings.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | settings))
        self.count += 1
        (self.folder / f"note-{self.count}").touch()
        git(self.folder, "add", "-A")
        git(self.folder, *AUTHOR, "commit", "-q", "-m", f"c{self.count}")
        return git(self.folder, "rev-parse", "HEAD").decode().strip()

    def branch(self, start: str) -> None:
        git(self.folder, "checkout", "-q", "-B", "side", start)

    def merge(self, **settings: object) -> str:
        """Merge the side branch into main, which keeps main's settings but for `settings`; return the commit."""
        git(self.folder, "checkout", "-q", "main")
        git(self.folder, *AUTHOR, "merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "side")
        return self.commit(**settings)


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> History:
    """Return a history with its first commit; its repository is the working folder."""
    (tmp_path / "workshop").mkdir()
    monkeypatch.setattr(trees, "_workshop_folder", lambda: tmp_path / "workshop")
    history = History(tmp_path)
    history.commit()
    monkeypatch.chdir(history.folder)
    return history


def bisected(*options: str, bot: Sequence[str] = (sys.executable, "-S", "bot.py")) -> int:
    arguments = [*options, "--quiet", "--set", str(RECIPE), "--contain", "no", "--", *bot]
    return cli.run(["bisect", *arguments])
