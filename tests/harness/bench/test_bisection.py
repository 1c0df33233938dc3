"""`nonojudge bisect`: the commit that changed counts or time, what cannot be judged, and what is left behind."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from nonobot.harness import UnusableError, cli
from nonobot.harness.bench import trees
from nonobot.harness.bench.bisection import Bisection, Plan, first_bad
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.process.revisions import git
from tests.helpers.benching import require_git
from tests.helpers.judged import RECIPE, command
from tests.helpers.talking import interrupted

BOT = """\
import json, pathlib, sys, time
GUESSES, SECONDS, ANSWERS = 5, 0.0, 5
stats = sys.argv[sys.argv.index("--stats") + 1] if "--stats" in sys.argv else "/dev/null"
sys.stdin.read()
while time.process_time() < SECONDS:
    pass
parts = pathlib.Path({solutions!r}).read_text().split("$")[1:]
print("".join("$" + part for part in parts[:ANSWERS]), end="", flush=True)
with open(stats, "w") as file:
    for number in range(1, ANSWERS + 1):
        print(json.dumps({{"puzzle": number, "seconds": 0.1, "guesses": GUESSES * number}}), file=file)
"""


class Repository:
    """A repository of a bot, the working folder; its commits by name."""

    def __init__(self, folder: Path) -> None:
        command("perfect", folder)  # writes the solutions
        self.folder = folder / "repository"
        self.folder.mkdir()
        self.commits: dict[str, str] = {}
        require_git()
        git(self.folder, "init", "-q")
        (self.folder / "bot.py").write_text(BOT.format(solutions=str(folder / "solutions.txt")))
        self.commit("first")

    def commit(self, name: str, old: str = "", new: str = "") -> None:
        bot = self.folder / "bot.py"
        assert bot.read_text().count(old) == 1 or not old
        bot.write_text(bot.read_text().replace(old, new) if old else f"{bot.read_text()}# {name}\n")
        git(self.folder, "add", "-A")
        git(self.folder, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", name)
        self.commits[name] = git(self.folder, "rev-parse", "HEAD").decode().strip()

    def state(self) -> list[bytes]:
        """Return all that a bisection must not change."""
        commands = ("status --porcelain", "for-each-ref", "worktree list", "symbolic-ref HEAD")
        return [git(self.folder, *git_command.split()) for git_command in commands]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / "workshop").mkdir()
    monkeypatch.setattr(trees, "_workshop_folder", lambda: tmp_path / "workshop")
    made = Repository(tmp_path)
    monkeypatch.chdir(made.folder)
    return made


def bisected(*options, bot=(sys.executable, "-S", "bot.py")):
    arguments = [*map(str, options), "--quiet", "--set", str(RECIPE), "--contain", "no", "--", *bot]
    return cli.run(["bisect", *arguments])


def test_the_commit_that_changed_counts_is_found_and_one_that_does_not_build_skipped(repository, tmp_path, capsys):
    repository.commit("before")
    repository.commit("broken", "import json", "import json, broken")
    repository.commit("repaired", "import json, broken", "import json")
    repository.commit("other work", "GUESSES, SECONDS, ANSWERS = 5", "GUESSES, SECONDS, ANSWERS = 6")
    (repository.folder / "edited").touch()
    before = repository.state()
    build = shlex.join([sys.executable, "-S", "-c", "exec(open('bot.py').readline())"])
    assert bisected(repository.commits["first"], "HEAD", "--by", "counts", "--build", build) == 0
    out, err = capsys.readouterr()
    assert "counts: changed by " in out
    assert " other work (t, " in out
    assert "  this commit: other work on 5 puzzles\n  this commit: guesses 75 -> 90 (+20.0%)\n" in out
    skipped = repository.commits["broken"][:12]
    [why] = [line for line in out.splitlines() if line.startswith(f"  skipped {skipped}: ")]
    assert why.endswith(" | ModuleNotFoundError: No module named 'broken'")
    assert err == ""
    assert repository.state() == before
    assert [path.name for path in (tmp_path / "workshop").iterdir()] == ["lock"]


@pytest.mark.nightly
def test_commits_next_to_one_that_cannot_be_run_cannot_be_told_apart(repository, capsys):
    repository.commit("broken", "import json", "import broken, json")
    repository.commit("loses", "ANSWERS = 5, 0.0, 5", "ANSWERS = 5, 0.0, 4")
    repository.commit("repaired", "import broken, json", "import json")
    assert bisected("HEAD~3", "HEAD", "--by", "counts", "--json") == 3
    counts = json.loads(capsys.readouterr().out)["findings"]["counts"]
    assert counts["candidates"] == [repository.commits[name] for name in ("broken", "loses", "repaired")]
    assert counts["commit"] is None
    assert counts["whole"]["counts_after"] == {"right": 4, "guesses": 50}
    assert set(counts["skipped"]) == {repository.commits[name] for name in ("broken", "loses")}


def test_without_a_difference_it_says_so_and_ends_with_3(repository, output_of):
    repository.commit("a comment")
    assert "\ncounts: the same\n" in output_of(bisected, "HEAD~1", "HEAD", "--by", "counts", status=3).out


@pytest.mark.nightly
def test_the_commit_that_made_it_slower_is_found_with_its_interval(repository, output_of):
    slower = ("SECONDS, ANSWERS = 5, 0.0", "SECONDS, ANSWERS = 5, 0.3")
    for name, change in (("a", ()), ("b", ()), ("slower", slower), ("c", ())):
        repository.commit(name, *change)
    findings = json.loads(output_of(bisected, "HEAD~4", "HEAD", "--json").out)["findings"]
    assert findings["counts"]["whole"]["differ"] is False
    assert findings["time"]["commit"] == repository.commits["slower"]
    assert findings["time"]["effect"]["ratio"]["low"] > 1.02


def test_what_cannot_be_bisected_is_told_in_a_line(repository, tmp_path, monkeypatch, output_of):
    repository.commit("second")
    for arguments, bot, said in (
        (("HEAD", "HEAD"), ("./bot",), "HEAD is not an ancestor of HEAD: no commits to bisect"),
        (("HEAD", "HEAD~1"), ("./bot",), "HEAD is not an ancestor of HEAD~1: no commits to bisect"),
        (("nothing", "HEAD"), ("./bot",), "no revision 'nothing' here; `git log --oneline` lists them"),
        (("HEAD~1", "HEAD", "--build", "false"), ("./bot",), "cannot be built: status 1"),
        (("HEAD~1", "HEAD"), (sys.executable, "none.py"), ": no puzzle is right (crashed)"),
        (("HEAD~1", "HEAD", "--build", "make"), (), "--build only applies to a bot given after --"),
    ):
        [line] = output_of(bisected, *arguments, bot=bot, status=2).err.splitlines()
        assert said in line
    monkeypatch.chdir(tmp_path)
    assert "needs a git clone" in output_of(bisected, "a", "b", status=2).err


def test_a_commit_that_lacks_a_package_of_this_projects_bot_is_one_that_cannot_be_built(repository, tmp_path):
    plan = Plan(repository.folder, "HEAD", "HEAD", str(RECIPE), (), ("true",), (), None, 6, 0.02)
    bisection = Bisection(plan, tmp_path, Interrupts(), 1, lambda share, note: None)
    with pytest.raises(UnusableError, match=r"^HEAD cannot be built: HEAD lacks what is to be measured: "):
        bisection.make_ready()


def test_ctrl_c_leaves_nothing_behind(repository, tmp_path, monkeypatch):
    repository.commit("second")
    before = repository.state()
    cache = tmp_path / "cache"
    monkeypatch.setenv("NONOBOT_CACHE_DIR", str(cache))
    marker = tmp_path / "building"
    arguments = (
        "bisect",
        "HEAD~1",
        "HEAD",
        "--build",
        f"touch {shlex.quote(str(marker))}; sleep 1000",
        "--",
        "./bot",
    )
    interrupted(*arguments, when=marker.exists)
    assert repository.state() == before
    assert [path.name for path in (cache / "bench").iterdir()] == ["lock"]


def test_a_worktree_that_a_killed_process_left_is_taken_over(repository, tmp_path):
    for name in ("second", "third"):
        repository.commit(name)
    left = tmp_path / "bisect"
    git(repository.folder, "worktree", "add", "--no-checkout", "--detach", str(left), "HEAD")
    subprocess.run(["rm", "-r", str(left)], check=True)
    ends = repository.commits["first"], repository.commits["third"]
    found = first_bad(repository.folder, left, *ends, (), lambda commit, _: "bad")
    assert found == [repository.commits["second"]]
    assert len(git(repository.folder, "worktree", "list").splitlines()) == 1
