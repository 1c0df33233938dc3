"""`nonojudge bisect` on made-up histories: it names the planted commit, a range that contains it, or none."""

import json
import os
import random
import shlex
import sys
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
stats = sys.argv[sys.argv.index("--stats") + 1] if "--stats" in sys.argv else "/dev/null"
sys.stdin.read()
time.sleep(settings["hangs"])
parts = pathlib.Path({solutions!r}).read_text().split("$")[1:]
numbers = [] if settings["mute"] else [n for n in range(1, 6) if n not in settings["loses"]]
print("".join("$" + parts[n - 1] for n in numbers), end="", flush=True)
with open(stats, "w") as file:
    for n in numbers:
        noise = os.urandom(4)[0] if settings["random"] else 0
        print(json.dumps({{"puzzle": n, "seconds": 0.1, "guesses": settings["guesses"] * n + noise}}), file=file)
"""
START = {"loses": [], "guesses": 5, "mute": False, "hangs": 0, "random": False, "builds": True}
BUILD = [sys.executable, "-S", "-c", "import json, sys; sys.exit(not json.load(open('settings.json'))['builds'])"]
BROKEN = {"unbuildable": ("builds", False, True), "hangs": ("hangs", 60, 0), "muted": ("mute", True, False)}
AUTHOR = ("-c", "user.name=t", "-c", "user.email=t@localhost")
CAUSES = ({"loses": [2]}, {"loses": [1, 4]}, {"mute": True}, {"guesses": 6}, {"guesses": 7, "loses": [3]})


class History:
    """A repository with commits that change the settings of its bot; the working folder."""

    def __init__(self, folder: Path) -> None:
        command("perfect", folder)  # writes the solutions
        self.folder = folder / "repository"
        self.folder.mkdir()
        git(self.folder, "init", "-q", "-b", "main")
        (self.folder / "bot.py").write_text(BOT.format(solutions=str(folder / "solutions.txt")))
        self.count = 0

    def commit(self, **settings) -> str:
        """Add a commit with changed settings, or with none; return its name."""
        path = self.folder / "settings.json"
        path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else START) | settings))
        self.count += 1
        (self.folder / f"note-{self.count}").touch()
        return self._committed("add", "-A")

    def branch(self, start: str) -> None:
        git(self.folder, "checkout", "-q", "-B", "side", start)

    def merge(self, **settings) -> str:
        """Merge the side branch into main, which keeps main's settings but for `settings`; return the commit."""
        git(self.folder, "checkout", "-q", "main")
        own = json.loads((self.folder / "settings.json").read_text())
        git(self.folder, *AUTHOR, "merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "side")
        (self.folder / "settings.json").write_text(json.dumps(own | settings))
        self.count += 1
        (self.folder / f"note-{self.count}").touch()
        return self._committed("add", "-A")

    def _committed(self, *arguments: str) -> str:
        git(self.folder, *arguments)
        git(self.folder, *AUTHOR, "commit", "-q", "-m", f"c{self.count}")
        return git(self.folder, "rev-parse", "HEAD").decode().strip()


def made(history: History, rng: random.Random, plants: bool) -> tuple[str, str, str | None]:
    """Make a random history; return its good and its bad end, and the commit of the cause if it `plants` one."""
    kind = rng.choice(["linear", "reverted", "unbuildable", "hangs", "muted", "side", "merge"])
    causes = [cause for cause in CAUSES if kind != "muted" or "mute" not in cause]  # one cause of an effect
    cause = rng.choice(causes) if plants else {}
    first = history.commit()
    before = {"guesses": 4} if kind in ("side", "merge") else {}  # which a side branch lacks
    good = history.commit(**before)
    planted = None

    def some(most: int) -> None:
        for _ in range(rng.randrange(most + 1)):
            history.commit()

    def plant() -> None:
        nonlocal planted
        if plants:
            planted = history.commit(**cause)

    where = rng.choice(["early", "late"])
    some(2)
    if where == "early":
        plant()
    some(2)
    if kind == "reverted":
        history.commit(guesses=9)
        some(1)
        history.commit(guesses=cause.get("guesses", 5) if where == "early" else 5)
    elif kind in ("unbuildable", "hangs", "muted"):
        name, value, usual = BROKEN[kind]
        if where == "early" and cause.get(name):
            usual = cause[name]
        history.commit(**{name: value})
        some(1)
        history.commit(**{name: usual})
    elif kind in ("side", "merge"):
        history.branch(first)
        some(3)
        history.commit()
        if where == "late" and kind == "merge":
            merged = history.merge(**cause)
            planted = merged if plants else None
        else:
            history.merge()
    some(2)
    if where == "late" and not planted:
        plant()
    some(2)
    return good, git(history.folder, "rev-parse", "HEAD").decode().strip(), planted


HISTORIES = int(os.environ.get("NONOBOT_TEST_HISTORIES", "6"))
"""How many of each kind; 60 before a release."""


@pytest.mark.slow
@pytest.mark.parametrize("plants", [True, False], ids=["planted", "innocent"])
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_the_planted_commit_is_found_and_no_innocent_one(tmp_path, monkeypatch, capsys, seed, plants):
    require_git()
    (tmp_path / "workshop").mkdir()
    monkeypatch.setattr(trees, "_workshop_folder", lambda: tmp_path / "workshop")
    history = History(tmp_path)
    monkeypatch.chdir(history.folder)
    good, bad, planted = made(history, random.Random(seed), plants)
    options = ["--by", "counts", "--quiet", "--json", "--set", str(RECIPE), "--contain", "no", "--time-limit", "2"]
    status = cli.run(
        ["bisect", good, bad, *options, "--build", shlex.join(BUILD), "--", sys.executable, "-S", "bot.py"]
    )
    out, err = capsys.readouterr()
    finding = json.loads(out)["findings"]["counts"]
    assert err == ""
    if planted is None:
        assert (status, finding["commit"], finding["whole"]["differ"]) == (3, None, False)
    elif status == 0:
        assert finding["commit"] == planted
    else:
        assert status == 3
        assert planted in finding["candidates"]


def bisected(*options):
    judging = ["--quiet", "--set", str(RECIPE), "--contain", "no", "--", sys.executable, "-S", "bot.py"]
    return cli.run(["bisect", *options, *judging])


@pytest.fixture
def history(tmp_path, monkeypatch):
    require_git()
    (tmp_path / "workshop").mkdir()
    monkeypatch.setattr(trees, "_workshop_folder", lambda: tmp_path / "workshop")
    made = History(tmp_path)
    monkeypatch.chdir(made.folder)
    made.commit()
    return made


def test_a_bot_that_differs_from_itself_accuses_no_commit(history, output_of):
    history.commit(random=True)
    for _ in range(3):
        history.commit()
    out = output_of(bisected, "HEAD~3", "HEAD", "--by", "counts", status=3).out
    assert "counts: cannot tell, a bot differs from itself from run to run\n" in out
    assert out.count(" twice: other work on $") == 2


def test_a_commit_after_which_nothing_is_answered_is_found(history, output_of):
    culprit = history.commit(mute=True)
    history.commit()
    assert f"counts: changed by {culprit[:7]}" in output_of(bisected, "HEAD~2", "HEAD", "--by", "counts").out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(
            ["--build", "grep -q 60 settings.json && sleep 60; true", "--build-limit", "1"],
            ": not built within 1 s (--build-limit)",
            marks=pytest.mark.slow,
        ),
        (["--time-limit", "1"], ": no puzzle is right (time-limit)"),
    ],
)
def test_a_build_and_a_bot_that_hang_end_at_their_limits(history, output_of, options, said):
    history.commit(hangs=60)
    history.commit(loses=[1], hangs=0)
    history.commit()
    assert said in output_of(bisected, "HEAD~3", "HEAD", "--by", "counts", *options, status=3).out


def test_a_shallow_clone_is_named_with_its_remedy(history, tmp_path, monkeypatch, output_of):
    for _ in range(3):
        history.commit()
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{history.folder}", "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    remedy = f"; {tmp_path / 'shallow'} is a shallow clone: git fetch --unshallow\n"
    for good in ("HEAD~3", "HEAD~2"):
        assert output_of(bisected, good, "HEAD", "--by", "counts", status=2).err.endswith(remedy)


@pytest.mark.slow
def test_a_branch_without_history_in_common_accuses_no_commit(history, output_of):
    history.commit()
    git(history.folder, "checkout", "-q", "--orphan", "side")
    history.commit()
    history.commit()
    git(history.folder, "checkout", "-q", "main")
    git(history.folder, *AUTHOR, "merge", "-q", "--allow-unrelated-histories", "-s", "ours", "-m", "merge", "side")
    culprit = history.commit(loses=[2])
    assert f"counts: changed by {culprit[:7]}" in output_of(bisected, "main~2", "main", "--by", "counts").out
