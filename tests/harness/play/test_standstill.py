"""A judge that stands still, by a Ctrl-Z or otherwise, sees no time of the bot pass, and says so."""

import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from nonobot.harness.process.interrupts import LEAST_STANDSTILL_SECONDS
from nonobot.harness.ranking.standings import rankings
from nonobot.harness.results.conditions import Feed
from nonobot.harness.results.result_files import read_result
from nonobot.harness.results.run_text import run_lines
from tests.helpers.judged import RECIPE, command, verdicts
from tests.helpers.waiting import finished, running, wait_until

LIMIT_SECONDS = 1.2 * LEAST_STANDSTILL_SECONDS

pytestmark = pytest.mark.usefixtures("own_folder")


def judge(folder, feed):
    """Return a run of a bot that waits for a file `go` before its third answer."""
    options = ["--puzzle-limit", str(LIMIT_SECONDS), "--feed", feed.value, "--contain", "no", "--result", "r.json"]
    run = [sys.executable, "-m", "nonobot.harness", "run", "--quiet", "--set", str(RECIPE), *options]
    return running([*run, "--", *command("wait_at_3", folder)], stdout=-1, stderr=-1)


def whole(process):
    out, err = finished(process)
    assert process.returncode == 0, (out, err)
    result = read_result(Path("r.json"))
    assert verdicts(result) == ["right"] * 5
    return result


@pytest.mark.parametrize("feed", Feed)
def test_the_time_of_a_stop_is_nobodys_and_is_told(tmp_path, feed):
    with judge(tmp_path, feed) as process:
        wait_until(lambda: noted(tmp_path), process)
        process.send_signal(signal.SIGSTOP)
        time.sleep(LIMIT_SECONDS + 0.5)  # longer than the limit of the puzzle in work
        (tmp_path / "go").touch()
        process.send_signal(signal.SIGCONT)
        result = whole(process)
    assert result.stood_still_seconds >= LIMIT_SECONDS
    said = "the judge stood still for "
    assert [line for line in run_lines(result) if said in line]
    assert [line for line in rankings({Path("r.json"): result})[0].warnings if said in line]


def test_a_ctrl_z_stops_the_bot_as_well_until_the_judge_goes_on(tmp_path):
    with judge(tmp_path, Feed.BATCH) as process:
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


def noted(folder):
    """Return the files in which a bot has noted that it waits, once there is something in them."""
    return [path for path in folder.glob("*waiting*") if path.stat().st_size]
