"""`nonojudge bisect`: the commit that changed counts or time, what cannot be judged, and what is left behind."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from nonobot.harness import UnusableError
from nonobot.harness.bench.bisection import Bisection, Plan
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.process.revisions import git
from nonobot.harness.results.conditions import Configuration
from nonobot.system import usable_cores
from tests.helpers.bisected import BUILD, bisected, history
from tests.helpers.judged import RECIPE, SET
from tests.helpers.places import quoted
from tests.helpers.talking import interrupted
from tests.helpers.waiting import finished, running, wait_until

__all__ = ["history"]

PYTHON = shlex.quote(sys.executable)


def state(repository):
    """Return all that a bisection must not change."""
    commands = ("status --porcelain", "for-each-ref", "worktree list", "symbolic-ref HEAD")
    return [git(repository, *arguments.split()) for arguments in commands]


def test_bisect_finds_a_change_of_counts_and_skips_commits_that_do_not_build(history, tmp_path, capsys):
    history.commit()
    broken = history.commit(imports="broken")
    history.commit(imports="json")
    culprit = history.commit(guesses=6)
    (history.folder / "edited").touch()
    before = state(history.folder)
    assert bisected("HEAD~4", "HEAD", "--by", "counts", "--build", shlex.join(BUILD)) == 0
    out, err = capsys.readouterr()
    assert f"counts: changed by {culprit[:7]}" in out
    assert " c5 (t, " in out
    assert "  this commit: other work on 5 puzzles\n  this commit: guesses 75 -> 90 (+20.0%)\n" in out
    [why] = [line for line in out.splitlines() if line.startswith(f"  skipped {broken[:12]}: ")]
    assert " | ModuleNotFoundError: " in why
    assert err == ""
    assert state(history.folder) == before
    assert [path.name for path in (tmp_path / "workshop").iterdir()] == ["lock"]


@pytest.mark.nightly
def test_commits_next_to_an_unrunnable_commit_are_reported_together(history, capsys):
    broken = history.commit(imports="broken")
    loses = history.commit(loses=[5])
    repaired = history.commit(imports="json")
    assert bisected("HEAD~3", "HEAD", "--by", "counts", "--json") == 3
    counts = json.loads(capsys.readouterr().out)["findings"]["counts"]
    assert counts["candidates"] == [broken, loses, repaired]
    assert counts["commit"] is None
    assert counts["whole"]["counts_after"] == {"right": 4, "guesses": 50}
    assert set(counts["skipped"]) == {broken, loses}


def test_bisect_without_a_difference_exits_with_3(history, output_of):
    history.commit()
    assert "\ncounts: the same\n" in output_of(bisected, "HEAD~1", "HEAD", "--by", "counts", status=3).out
    without_stats = ("sh", "-c", shlex.join([sys.executable, "-S", "bot.py"]))
    out = output_of(bisected, "HEAD~1", "HEAD", "--by", "counts", bot=without_stats, status=3).out
    assert "\ncounts: the verdicts are the same; the bot states no counts to compare\n" in out


@pytest.mark.nightly
def test_bisect_finds_the_commit_that_made_the_bot_slower(history, output_of):
    history.commit()
    history.commit()
    slower = history.commit(computes=0.3)
    history.commit()
    findings = json.loads(output_of(bisected, "HEAD~4", "HEAD", "--json").out)["findings"]
    assert findings["counts"]["whole"]["differ"] is False
    assert findings["time"]["commit"] == slower
    assert findings["time"]["effect"]["ratio"]["low"] > 1.02


@pytest.mark.slow
def test_a_commit_that_is_hundreds_of_times_slower_is_found(history, output_of):
    history.commit()
    slower = history.commit(loses=[1])  # the time of all answers then belongs to the second puzzle
    history.commit()
    out = output_of(bisected, "HEAD~3", "HEAD", "--by", "time", "--rounds", "6").out
    assert f"time: changed by {slower[:7]}" in out


def test_an_impossible_bisection_is_a_one_line_error(history, tmp_path, monkeypatch, output_of):
    history.commit()
    (tmp_path / "link").symlink_to(history.folder)
    python, own = sys.executable, "each commit needs its own; name it from your working folder:"
    built = "HEAD~1 HEAD --build 'cp bot.py built.py'"
    for arguments, bot, said in (
        ("HEAD HEAD", ["./bot"], "HEAD and HEAD are the same commit: no commits to bisect"),
        ("HEAD HEAD~1", ["./bot"], "HEAD is not an ancestor of HEAD~1: no commits to bisect; name HEAD~1 first"),
        ("nothing HEAD", ["./bot"], "no revision 'nothing' here; `git log --oneline` lists them"),
        ("HEAD~1 HEAD:bot.py", ["./bot"], "'HEAD:bot.py' is a blob; name a commit"),
        ("HEAD^{tree} HEAD", ["./bot"], "'HEAD^{tree}' is a tree; name a commit"),
        ("HEAD~1 HEAD --build false", ["./bot"], "cannot be built: status 1"),
        ("HEAD~1 HEAD", ["./none"], "cannot be built: it has no ./none; build it with --build 'CMD'"),
        ("HEAD~1 HEAD", [python, "none.py"], "can't open file"),
        ("HEAD~1 HEAD", [python, str(history.folder / "bot.py")], f"/bot.py: {own} bot.py"),
        ("HEAD~1 HEAD", [python, str(tmp_path / "link" / "bot.py")], f"link/bot.py: {own} bot.py"),
        (built, [python, str(history.folder / "built.py")], f"/built.py: {own} built.py"),
        ("HEAD~1 HEAD --build make", [], "--build only applies to a bot given after --"),
    ):
        [line] = output_of(bisected, *shlex.split(arguments), bot=bot, status=2).err.splitlines()
        assert said in line
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    git(tmp_path / "empty", "init", "-q")
    err = output_of(bisected, "HEAD~5", "HEAD", status=2).err
    assert err.endswith(" has no commits yet; commit the bot first\n")
    monkeypatch.chdir(tmp_path)
    said = f"needs a git clone, and {tmp_path} is not in one; go to the clone of the bot\n"
    assert output_of(bisected, "a", "b", status=2).err.endswith(said)
    git(tmp_path, "clone", "-q", "--bare", str(history.folder), "bare")
    monkeypatch.chdir(tmp_path / "bare")
    said = f"needs a git clone, and {tmp_path / 'bare'} is bare; clone it\n"
    assert output_of(bisected, "HEAD~1", "HEAD", status=2).err.endswith(said)


def test_a_commit_without_a_package_of_nonobot_cannot_be_built(history, tmp_path):
    terms = (lambda *_: None, SET, Configuration(), (), str(RECIPE), (), ("true",), (), None, 6, 0.02)
    plan = Plan(history.folder, ".", "HEAD", "HEAD", *terms)
    bisection = Bisection(plan, tmp_path, Interrupts(), 1, lambda share, note: None)
    with pytest.raises(UnusableError, match=r"^HEAD cannot be built: HEAD lacks what is to be measured: "):
        bisection.make_ready()


def test_ctrl_c_during_a_bisection_leaves_no_files_or_processes(history, tmp_path, monkeypatch):
    history.commit()
    before = state(history.folder)
    cache = tmp_path / "cache"
    monkeypatch.setenv("NONOBOT_CACHE_DIR", str(cache))
    marker = tmp_path / "building"
    build = f"touch {quoted(marker)}; sleep 1000"
    _, err = interrupted("bisect", "HEAD~1", "HEAD", "--build", build, "--", "./bot", when=marker.exists)
    assert err.endswith("nonojudge: interrupted\n")
    assert state(history.folder) == before
    assert [path.name for path in (cache / "bench").iterdir()] == ["lock"]


@pytest.mark.parametrize(
    "line", [["profile", "set", "--size", "5x5", "--"], ["duel", "--set", "set", "--size", "5x5", "./bot"]]
)
def test_profile_and_duel_treat_the_stop_signal_of_bisect_as_ctrl_c(history, line):
    os.mkfifo("set")
    command = [sys.executable, "-m", "nonobot.harness", *line, "./bot"]
    with contextlib.ExitStack() as writing, running(command, stderr=subprocess.PIPE) as judge:

        def waits_for_the_set():
            with contextlib.suppress(OSError):  # nobody reads it yet
                writing.callback(os.close, os.open("set", os.O_WRONLY | os.O_NONBLOCK))
                return True
            return False

        wait_until(waits_for_the_set, judge)
        judge.send_signal(signal.SIGTERM)
        writing.close()  # not before the signal: the judge would find the set empty
        finished(judge)
    assert judge.returncode == 130


def bots_of(commits):
    """Return the running bots of these commits."""
    bots = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if "bot.py" in process.cmdline() and Path(process.cwd()).name in [commit[:12] for commit in commits]:
                bots.append(process)
    return bots


def test_ctrl_c_ends_the_current_run_and_the_run_started_ahead(history, tmp_path, monkeypatch):
    monkeypatch.setenv("NONOBOT_CACHE_DIR", str(tmp_path / "cache"))
    hang = [history.commit(hangs=600) for _ in range(3)]
    history.commit(hangs=0, loses=[1])
    before = state(history.folder)
    options = ("bisect", "HEAD~4", "HEAD", "--by", "counts", "--set", str(RECIPE), "--contain", "no")
    count = min(2, len(usable_cores()))
    interrupted(*options, "--", sys.executable, "-S", "bot.py", when=lambda: len(bots_of(hang)) == count)
    assert bots_of(hang) == []
    assert state(history.folder) == before
    assert [path.name for path in (tmp_path / "cache" / "bench").iterdir()] == ["lock"]


MEETS = """\
import pathlib, time
met = pathlib.Path({folder!r})
(met / pathlib.Path.cwd().name).touch()
while not all((met / name).exists() for name in {ends!r}):
    time.sleep(0.01)
"""


@pytest.mark.skipif(len(usable_cores()) < 2, reason="one core: runs one after the other")
def test_bisect_runs_the_good_and_bad_ends_in_parallel(history, tmp_path, output_of):
    ends = [history.commit(), history.commit(loses=[1])]
    (folder := tmp_path / "met").mkdir()
    meets = tmp_path / "meets.py"
    meets.write_text(MEETS.format(folder=str(folder), ends=[commit[:12] for commit in ends]))
    bot = ("sh", "-c", f'{PYTHON} {quoted(meets)}; exec {PYTHON} -S bot.py "$@"', "bot")
    out = output_of(bisected, *ends, "--by", "counts", "--time-limit", "60", bot=bot).out
    assert f"counts: changed by {ends[1][:7]}" in out


ALONE = "mkdir {lock} || exit; {python} -S bot.py $@; rmdir {lock}"


def alone(folder):
    """Return the command of a bot that answers nothing while another one runs."""
    script = folder / "alone.sh"
    script.write_text(ALONE.format(lock=quoted(folder / "running"), python=PYTHON))
    return ("sh", str(script))


@pytest.mark.slow
def test_with_a_given_core_bisect_runs_the_bots_one_after_the_other(history, tmp_path, output_of):
    culprit = history.commit(loses=[1])
    history.commit()
    history.commit()
    core = str(usable_cores()[0])
    out = output_of(bisected, "HEAD~3", "HEAD", "--by", "counts", "--core", core, bot=alone(tmp_path)).out
    assert f"counts: changed by {culprit[:7]}" in out


LOOKS = """\
import contextlib, pathlib, psutil, sys
if "--stats" not in sys.argv:  # in a duel
    places = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            places.append(pathlib.Path(process.cwd()).name)
    with open({seen!r}, "a") as seen:
        print({hangs!r} in places, file=seen)
"""


@pytest.mark.slow
def test_an_unneeded_run_is_stopped_before_a_duel(history, tmp_path, capsys):
    culprit = history.commit(loses=[5])
    while (hangs := history.commit(hangs=600)) < culprit:  # git lists first what has the smaller name
        git(history.folder, "reset", "-q", "--hard", "HEAD~1")
    history.commit(hangs=0)
    seen, looks = tmp_path / "seen", tmp_path / "looks.py"
    looks.write_text(LOOKS.format(seen=str(seen), hangs=hangs[:12]))
    bot = ("sh", "-c", f'{PYTHON} {quoted(looks)} "$@"; exec {PYTHON} -S bot.py "$@"', "bot")
    options = ("--rounds", "6", "--tolerance", "0.9")
    bisected("HEAD~3", "HEAD", *options, bot=bot)  # on a busy machine, the duel may be undecided
    out = capsys.readouterr().out
    assert f"counts: changed by {culprit[:7]}" in out
    assert "skipped" not in out
    assert set(seen.read_text().split()) == {"False"}


def test_a_build_receives_only_one_stop_signal(history, tmp_path, monkeypatch):
    history.commit()
    monkeypatch.setenv("NONOBOT_CACHE_DIR", str(tmp_path / "cache"))
    asked, begun = tmp_path / "asked", tmp_path / "begun"
    # A second signal would end the last sleep and be noted.
    build = f"asked() {{ echo >> {quoted(asked)}; }}; trap asked TERM; sleep 100 & "
    build += f"echo >> {quoted(begun)}; wait; sleep 0.5"
    options = ("bisect", "HEAD~1", "HEAD", "--build", build, "--", "./bot")
    interrupted(*options, when=lambda: begun.exists() and len(begun.read_text()) == 2)
    assert len(asked.read_text()) == 2


@pytest.mark.slow
def test_bisect_does_not_change_the_clone_or_run_its_hooks(history, tmp_path, output_of):
    culprit = history.commit(loses=[2])
    history.commit()
    history.commit()
    ran = tmp_path / "ran"
    for hook in ("reference-transaction", "post-checkout", "post-index-change"):
        (history.folder / ".git" / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {quoted(ran)}\nexit 1\n")
        (history.folder / ".git" / "hooks" / hook).chmod(0o700)
    files = {path: path.stat().st_mtime_ns for path in (history.folder / ".git").rglob("*")}
    assert f"changed by {culprit[:7]}" in output_of(bisected, "HEAD~3", "HEAD", "--by", "counts").out
    assert not ran.exists()
    assert {path: path.stat().st_mtime_ns for path in (history.folder / ".git").rglob("*")} == files
