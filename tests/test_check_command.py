"""`nonojudge check` as its users see it: what it says and how it ends, real streams, a real terminal."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from nonobot.harness import cli
from nonobot.harness.check.steps import STEPS
from tests.terminals import Terminal
from tests.test_check import SIZE, command

SIZE_TEXT = f"{SIZE[0]}x{SIZE[1]}"

COMMAND = ["check", "--size", SIZE_TEXT, "--timeout", "2"]
JUDGE = [sys.executable, "-m", "nonobot.harness", *COMMAND]


@pytest.fixture
def carried_out(capsys):
    """Return what carries out the command in this process, and returns its status and what it wrote."""
    at_end = signal.getsignal(signal.SIGTERM)

    def run(*arguments):
        status = cli.run([*COMMAND, *arguments])
        return subprocess.CompletedProcess(arguments, status, *capsys.readouterr())

    yield run
    signal.signal(signal.SIGTERM, at_end)  # the command changes it


@pytest.fixture
def check(carried_out):
    return lambda *options, bot="Bot": carried_out(*options, "--", *command(bot))


def test_a_line_for_each_step_and_a_summary(check):
    done = check("--only", "2,7")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert re.fullmatch(
        r"  1  passed   must    starts, reads TAB and LF, and solves a puzzle  \(first answer after \d+\.\d\d s\)",
        lines[0],
    )
    assert lines[1:] == [
        "  2  passed   must    writes answers in the official form",
        "  6  passed   must    writes each answer out at once",
        "  7  passed   must    answers before the next $ comes",
        "",
        "4 passed: every must is met",
    ]


def test_a_step_that_fails_tells_what_happened_and_what_to_do(check):
    done = check("--only", "11", bot="KeepsCarriageReturn")
    assert done.returncode == 1
    hint = [line.split(maxsplit=1) for line in done.stdout.splitlines()[2:7]]
    assert [label for label, _ in hint] == ["sent", "expected", "got", "do", "rule"]
    texts = dict(hint)
    assert texts["sent"].startswith("two puzzles with CRLF line ends: '$1\\r\\n")
    assert texts["expected"] == "the right answers to $1, $2"
    assert texts["rule"] == "docs/protocol.md, What the question reader forgives"
    assert done.stdout.endswith("1 passed, 1 failed: not ready for a tournament; see step 11\n")


def test_skipped_steps_say_why(check):
    done = check("--only", "7", bot="Buffers")
    assert done.returncode == 1
    assert "answers before the next $ comes  (needs step 6, which did not pass)" in done.stdout
    assert done.stdout.endswith("1 passed, 1 failed, 1 skipped: not ready for a tournament; see step 6\n")


def test_where_the_first_step_fails_the_others_get_one_line(check):
    done = check(bot="Greets")
    assert done.returncode == 1
    assert "got       no answer to $1; the bot ended with exit status 0" in done.stdout
    assert done.stdout.splitlines()[-3:] == [
        f"  2  skipped  up to step {len(STEPS)}  (needs step 1, which did not pass)",
        "",
        f"1 failed, {len(STEPS) - 1} skipped: not ready for a tournament; see step 1",
    ]


def test_verbose_shows_the_conversation(check):
    out = check("--only", "1", "--verbose").stdout
    assert re.search(r"\d\.\d{3} s  sent \d+ bytes: '\$1\\n.*, closed stdin\n", out)
    assert re.search(r"\d\.\d{3} s  got 63 bytes: '\$1\\n[01]\\t", out)


def test_json_for_machines_and_lines_for_people_and_a_warning_costs_nothing(check):
    done = check("--only", "19", "--json", bot="NoMark")
    assert done.returncode == 0
    assert " 19  warning  should  reads over a byte order mark" in done.stderr
    assert done.stderr.endswith("1 passed, 1 warning: every must is met\n")
    result = json.loads(done.stdout)
    assert (result["kind"], result["conforms"], result["size"]) == ("check", True, list(SIZE))
    first, second = result["steps"]
    assert (first["name"], first["verdict"]) == ("one_puzzle", "passed")
    assert (second["name"], second["verdict"], second["level"]) == ("byte_order_mark", "warning", "should")
    assert second["advice"] == "drop the bytes EF BB BF at the start"
    assert "advice" not in first


def test_the_list_gives_every_step_and_starts_nothing(carried_out):
    done = carried_out("--list")
    assert done.returncode == 0
    for number, step in enumerate(STEPS, 1):
        assert f"{number:3}  {step.level:<6}  {step.title}\n             {step.why}" in done.stdout


PRESSES_CTRL_C = """
import os, signal, sys
import psutil
from nonobot.harness.__main__ import main
from nonobot.harness.play.bot_process import BotProcess

moment = sys.argv.pop(1)
carried_out = getattr(BotProcess, moment)

def pressed(*words):
    print(*(one.pid for one in psutil.Process().children()), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
    carried_out(*words)

setattr(BotProcess, moment, pressed)
sys.exit(main())
"""


@pytest.mark.parametrize("moment", ["_serve", "read", "_kill"])
def test_a_ctrl_c_while_the_bot_is_started_heard_or_ended_ends_it(moment):
    sleeper = ["--timeout", "0.1", "--start-timeout", "0.1", "--only", "1", "--", "sleep", "1000"]
    done = subprocess.run(
        [sys.executable, "-c", PRESSES_CTRL_C, moment, "check", "--contain", "no", *sleeper], capture_output=True
    )
    bot, *_ = map(int, done.stdout.split())
    assert (done.returncode, done.stderr) == (130, b"")
    with pytest.raises(ProcessLookupError):
        os.kill(bot, 0)


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}])
def test_colours_on_a_terminal_that_may_have_them(environment):
    words = [*JUDGE, "--only", "11", "--", *command("KeepsCarriageReturn")]
    with Terminal(words, columns=120, environment=environment) as terminal:
        shown = terminal.end()[1]
    assert f"step 11 of {len(STEPS)}: reads CRLF line ends" in shown
    if environment:
        assert "passed" in shown
        assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", shown)
    else:
        assert "\x1b[32mpassed\x1b[0m" in shown
        assert "\x1b[1;31mfailed\x1b[0m" in shown
