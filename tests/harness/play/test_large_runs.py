"""A run with as many puzzles as a set may have: interrupted, resumed, ranked and compared, with little memory."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nonobot.tournament_data.sets import MOST_SET_PUZZLES
from tests.helpers.judged import program
from tests.helpers.waiting import finished, running, wait_until

CLUES, BOARD = "1\n1\n", "1\n"  # small boards, because only the number of verdicts counts
BOT = f"""#!{sys.executable} -S
import os, signal, sys
is_first = not os.path.exists("begun")
open("begun", "w").close()
for line in sys.stdin:
    if line.startswith("$"):
        sys.stdout.write(line + {BOARD!r})
        if is_first and line == "${MOST_SET_PUZZLES - 1000}\\n":
            sys.stdout.flush()
            open("waits", "w").close()
            signal.pause()
"""
LITTLE_MEMORY = ["sh", "-c", 'ulimit -v 4194304; exec "$@"', "sh", sys.executable, "-m", "nonobot.harness"]


def judge(*arguments, status):
    done = subprocess.run([*LITTLE_MEMORY, *arguments], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout


@pytest.mark.nightly  # minutes
def test_a_run_of_the_largest_set_is_resumed_ranked_and_compared(own_folder):
    Path("q.txt").write_text("".join(f"${number}\n{CLUES}" for number in range(1, MOST_SET_PUZZLES + 1)))
    bot = program(Path("bot.py"), BOT)
    run = ["run", "--quiet", "--contain", "no", "--set", "q.txt", "--size", "1x1", "--stall-limit", "0"]
    with running([*LITTLE_MEMORY, *run, "--result", "r.json", "--", f"./{bot}"], stdout=subprocess.PIPE) as first:
        wait_until(Path("waits").exists, first)
        os.kill(first.pid, signal.SIGTERM)
        assert b"to resume, add to the same command: --resume r.json" in finished(first)[0]
    assert first.returncode == 130
    out = judge(*run, "--resume", "r.json", "--", f"./{bot}", status=0)
    assert out.startswith(f"{MOST_SET_PUZZLES} of {MOST_SET_PUZZLES} right")
    [section] = json.loads(judge("table", "r.json", "--format", "json", status=0))["sections"]
    assert [row["right"] for row in section["rows"]] == [MOST_SET_PUZZLES]
    judge("report", "r.json", "-o", "r.html", status=0)
    judge("compare", "r.json", "r.json", status=3)
    with Path("q.txt").open("a") as questions:
        questions.write(f"${MOST_SET_PUZZLES + 1}\n{CLUES}")
    done = subprocess.run([*LITTLE_MEMORY, *run, "--", f"./{bot}"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "nonojudge: q.txt: more than 1,000,000 puzzles; split the set\n")
