"""`nonojudge bisect` on made-up histories: it names the planted commit, a range that contains it, or none."""

import json
import os
import random
import shlex

import pytest

from nonobot.harness.process.revisions import git
from tests.helpers.bisected import AUTHOR, BUILD, History, bisected, history

__all__ = ["history"]

BROKEN = {"unbuildable": ("imports", "broken", "json"), "hangs": ("hangs", 60, 0), "muted": ("mute", True, False)}
CAUSES = ({"loses": [2]}, {"loses": [1, 4]}, {"mute": True}, {"guesses": 6}, {"guesses": 7, "loses": [3]})


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
def test_the_planted_commit_is_found_and_no_innocent_one(history, capsys, seed, plants):
    good, bad, planted = made(history, random.Random(seed), plants)
    options = ["--by", "counts", "--json", "--time-limit", "2", "--build", shlex.join(BUILD)]
    status = bisected(good, bad, *options)
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
