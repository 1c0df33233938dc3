"""A judge that stands still, by a Ctrl-Z or otherwise, sees no time of the bot pass, and says so."""

import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from nonobot.harness.play.journal import read_records
from nonobot.harness.play.run_events import Alive
from nonobot.harness.process.interrupts import LEAST_STANDSTILL_SECONDS
from nonobot.harness.profiling.profile_data import read_profile
from nonobot.harness.ranking.standings import rankings
from nonobot.harness.results.conditions import Feed
from nonobot.harness.results.result_files import read_result
from nonobot.harness.results.run_result import EndReason
from nonobot.harness.results.run_text import run_lines
from tests.helpers.judged import RECIPE, command, played, so_far, verdicts
from tests.helpers.waiting import finished, running, wait_until

LIMIT_SECONDS = 2 * LEAST_STANDSTILL_SECONDS  # a busy machine takes more than one to start a bot

pytestmark = pytest.mark.usefixtures("own_folder")


def judge(folder, *options, bot="wait_at_3"):
    """Return a run of a bot, by default one that waits for a file `go` before its third answer."""
    fixed = ["--quiet", "--set", str(RECIPE), "--contain", "no"]
    run = [sys.executable, "-m", "nonobot.harness", "run", *fixed, *options]
    return running([*run, "--", *command(bot, folder)], stdout=-1, stderr=-1)


def stand_still(process, then="go"):
    """Stop the judge alone, for longer than any limit of the test; touch a file meanwhile."""
    process.send_signal(signal.SIGSTOP)
    time.sleep(LIMIT_SECONDS + 0.5)
    Path(then).touch()
    process.send_signal(signal.SIGCONT)


def whole(process):
    out, err = finished(process)
    assert process.returncode == 0, (out, err)
    result = read_result(Path("r.json"))
    assert verdicts(result) == ["right"] * 5
    return result


@pytest.mark.parametrize("feed", Feed)
def test_time_while_the_judge_is_stopped_does_not_count_and_is_reported(tmp_path, feed):
    options = ["--puzzle-limit", str(LIMIT_SECONDS), "--feed", feed.value, "--result", "r.json"]
    with judge(tmp_path, *options) as process:
        wait_until(lambda: noted(tmp_path), process)
        stand_still(process)
        result = whole(process)
    assert result.stood_still_seconds >= LIMIT_SECONDS
    said = "the judge stood still for "
    assert [line for line in run_lines(result) if said in line]
    assert [line for line in rankings({Path("r.json"): result})[0].warnings if said in line]


def test_a_ctrl_z_stops_the_bot_as_well_until_the_judge_goes_on(tmp_path):
    with judge(tmp_path, "--result", "r.json") as process:
        wait_until(lambda: noted(tmp_path), process)
        bot = int(noted(tmp_path)[0].read_text())
        for _ in range(2):
            process.send_signal(signal.SIGTSTP)
            for pid in (process.pid, bot):  # a signal takes effect once the process has a core
                wait_until(lambda pid=pid: psutil.Process(pid).status() == psutil.STATUS_STOPPED, process)
            process.send_signal(signal.SIGCONT)
            wait_until(lambda: psutil.Process(bot).status() != psutil.STATUS_STOPPED, process)
        (tmp_path / "go").touch()
        whole(process)


def test_a_profile_reports_that_the_judge_was_stopped(tmp_path):
    options = ["--quiet", "--contain", "no", "-o", "p.json", "--", *command("wait_at_3", tmp_path)]
    profile = [sys.executable, "-m", "nonobot.harness", "profile", str(RECIPE), *options]
    with running(profile, stdout=-1, stderr=-1) as process:
        wait_until(lambda: noted(tmp_path), process)
        stand_still(process)
        out, _ = finished(process)
    assert b"warning: the judge stood still for " in out
    assert read_profile(Path("p.json")).stood_still_seconds >= LIMIT_SECONDS


def test_time_while_the_judge_is_stopped_does_not_count_in_a_warm_up(tmp_path):
    warm_up = "sh -c 'echo here > waiting; until [ -e go ]; do sleep 0.01; done'"
    options = ["--warm-up", warm_up, "--warm-up-limit", str(LIMIT_SECONDS), "--result", "r.json"]
    with judge(tmp_path, *options, bot="perfect") as process:
        wait_until(lambda: noted(tmp_path), process)
        stand_still(process)
        assert whole(process).warm_up_seconds < LIMIT_SECONDS


def test_a_stop_is_recorded_even_if_the_judge_is_killed_afterwards(tmp_path):
    with judge(tmp_path, "--result", "r.json") as process:
        wait_until(lambda: noted(tmp_path), process)
        stand_still(process, then="nothing")
        before = signs()
        wait_until(lambda: signs() >= before + 2, process)  # the first may be from before the stop
        process.kill()
    Path("go").touch()
    with judge(tmp_path, "--resume", "r.json") as process:
        result = whole(process)
    assert result.attempts[0].stood_still_seconds == result.stood_still_seconds >= LIMIT_SECONDS


def signs():
    return sum(isinstance(record, Alive) for record in read_records(Path("r.journal.jsonl")))


@pytest.mark.parametrize("bot", ["compute_at_3", "compute_and_end_at_3"])
def test_the_cpu_limit_applies_to_a_bot_that_ended_while_the_judge_was_stopped(tmp_path, bot):
    with judge(tmp_path, "--cpu-limit", "0.4", "--result", "r.json", bot=bot) as process:
        # With two verdicts, the judge has sent all puzzles, without which the bot could not end.
        judged = Path("r.journal.jsonl")
        wait_until(lambda: noted(tmp_path) and so_far(judged).count(b'"judged"') == 2, process)
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED, process)
        (tmp_path / "go").touch()
        [its_process] = psutil.Process(process.pid).children()
        wait_until(lambda: its_process.status() == psutil.STATUS_ZOMBIE, process)
        process.send_signal(signal.SIGCONT)
        finished(process)
    result = read_result(Path("r.json"))
    assert result.end.reason is EndReason.CPU_LIMIT
    assert result.usage.cpu_seconds > 0.4


def test_cpu_time_after_the_last_answer_does_not_count_against_the_limit(tmp_path):
    assert played("solve_and_compute", tmp_path, cpu_limit_seconds=0.4).end.reason is EndReason.FINISHED


def noted(folder):
    """Return the files in which a bot has noted that it waits, once there is something in them."""
    return [path for path in folder.glob("*waiting*") if path.stat().st_size]
