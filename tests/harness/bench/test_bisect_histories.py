"""`nonojudge bisect` on made-up histories: it names the planted commit, a range that contains it, or none."""

import json
import os
import random
import shlex
import shutil

import pytest

from nonobot.harness.bench.bisection import first_bad
from nonobot.harness.process.revisions import git
from tests.helpers.bisected import AUTHOR, BUILD, START, History, bisected, history
from tests.helpers.places import quoted

__all__ = ["history"]

BROKEN = {"unbuildable": ("imports", "broken", "json"), "hangs": ("hangs", 60, 0), "muted": ("mute", True, False)}
CAUSES = ({"loses": [2]}, {"loses": [1, 4]}, {"mute": True}, {"guesses": 6}, {"guesses": 7, "loses": [3]})


def made(history: History, rng: random.Random, plants: bool) -> tuple[str, str, str | None]:
    """Make a random history; return its good and its bad end, and the commit of the cause if it `plants` one."""
    kinds = ["linear", "reverted", "unbuildable", "hangs", "muted", "side", "merge", "flaky", "ignored"]
    kind = rng.choice(kinds)
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
    elif kind == "flaky":
        puzzles = rng.choice([cause.get("loses", [2]), [5]])
        history.commit(flaky=puzzles)
        some(4)
        history.commit(flaky=[])
    elif kind == "ignored":
        (history.folder / ".gitattributes").write_text("settings.json export-ignore\n")
        history.commit()
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


HISTORIES = int(os.environ.get("NONOBOT_TEST_HISTORIES", "10"))
"""How many of each kind; 60 before a release."""

OF_OTHER_KINDS = (0, 1, 9)  # a merge, a commit that cannot be built, a bot that is unsteady


@pytest.mark.parametrize("plants", [True, False], ids=["planted", "innocent"])
@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=pytest.mark.slow if seed in OF_OTHER_KINDS else pytest.mark.nightly)
        for seed in range(HISTORIES)
    ],
)
def test_bisect_finds_exactly_the_planted_commit(history, capsys, seed, plants):
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


@pytest.mark.slow
def test_a_bot_that_is_unsteady_only_between_the_ends_accuses_no_commit(history, capsys):
    commits = [history.commit(), history.commit(flaky=[3]), *(history.commit() for _ in range(4))]
    commits += [history.commit(flaky=[], loses=[3]), history.commit()]
    assert bisected(f"HEAD~{len(commits)}", "HEAD", "--by", "counts", "--json") == 3
    finding = json.loads(capsys.readouterr().out)["findings"]["counts"]
    assert (finding["commit"], finding["candidates"]) == (None, commits)
    assert set(finding["unsteady"]) <= set(commits[1:6])
    assert [3] in finding["unsteady"].values()
    bisected(f"HEAD~{len(commits)}", "HEAD", "--by", "counts")
    out = capsys.readouterr().out
    assert "from run to run\n  changed by one of the 8 commits after the good one\n" in out
    assert " twice: other work on $3\n  good to bad: other work on 1 puzzle\n" in out


@pytest.mark.slow
def test_a_build_that_depends_on_earlier_builds_accuses_no_commit(history, tmp_path, output_of):
    builds = quoted(tmp_path / "builds")
    for _ in range(3):
        history.commit()
    history.commit(loses=[4])
    history.commit()
    breaks = r"""sed -i 's/"loses": \[]/"loses": [4]/' settings.json"""
    build = f"echo >> {builds}; test $(wc -l < {builds}) -le 2 || {breaks}"  # not those of the two ends
    out = output_of(bisected, "HEAD~5", "HEAD", "--by", "counts", "--build", build, status=3).out
    assert "counts: cannot tell, a bot differs from itself from run to run\n" in out
    assert " twice: other work on $4\n" in out


@pytest.mark.slow
def test_a_build_that_hangs_ends_no_other_build(history, output_of):
    history.commit()
    hangs = history.commit(hangs=60)
    history.commit(loses=[1], hangs=0)
    history.commit()
    build = ("--build", "! grep -q 60 settings.json || sleep 60", "--build-limit", "3")
    out = output_of(bisected, "HEAD~4", "HEAD", "--by", "counts", *build, status=3).out
    assert f"  skipped {hangs[:12]}: not built within 3 s (--build-limit)\n" in out
    assert out.count("not built") == 1
    assert "one of these 2 commits" in out


@pytest.mark.slow
def test_bisect_blames_a_merge_that_reverts_the_good_end_and_not_its_branch(history, capsys):
    old = history.commit(loses=[3])
    good = history.commit(loses=[])
    history.commit()
    history.branch(old)
    history.commit()
    history.commit()
    merge = history.merge(loses=[3])
    history.commit()
    assert bisected(good, "HEAD", "--by", "counts", "--json") == 3
    assert json.loads(capsys.readouterr().out)["findings"]["counts"]["candidates"] == [merge]
    # Git lists no merge for a file that is the same in one of its parents.
    assert first_bad(
        history.folder, good, "main", ["settings.json"], lambda commit, _: "bad" if commit == merge else "good"
    ) == [merge]


@pytest.mark.slow
def test_a_bot_runs_in_the_sub_folder_of_the_working_folder(history, monkeypatch, output_of):
    inner = history.folder / "inner"
    inner.mkdir()
    for name in ("bot.py", "settings.json"):
        shutil.copy(history.folder / name, inner)
    history.commit()
    monkeypatch.chdir(inner)
    (inner / "settings.json").write_text(json.dumps(START | {"loses": [1]}))
    culprit = history.commit()
    history.commit(loses=[2])
    build = ("--build", "test -e ../inner/bot.py")
    out = output_of(bisected, "HEAD~2", "HEAD", "--by", "counts", *build).out
    assert f"counts: changed by {culprit[:7]}" in out


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "end"), [({"hangs": 60}, "time-limit"), ({"imports": "none"}, "crashed")])
def test_a_bad_end_that_hangs_or_crashes_is_reported(history, output_of, settings, end):
    history.commit(**settings)
    out = output_of(bisected, "HEAD~1", "HEAD", "--by", "counts", "--time-limit", "1").out
    assert f"  this commit: end of the run finished -> {end}\n" in out


def test_bisect_finds_the_commit_after_which_the_bot_answers_nothing(history, output_of):
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


def test_a_shallow_clone_is_reported_with_its_remedy(history, tmp_path, monkeypatch, output_of):
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
