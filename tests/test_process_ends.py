"""The process `nonobot`: limits, ends from outside, records, options and exit statuses."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import nonobot
from nonobot.protocol import Puzzle, Solution, format_answer, format_puzzle
from tests.boards import random_grid
from tests.talking import (
    COMMAND,
    FULL,
    GOOD,
    GRID,
    NONE,
    PATIENCE_SECONDS,
    STRATEGIES,
    TWO,
    answers,
    batch,
    carried_out,
    counted,
    hard,
    run,
    wait_until,
)

pytestmark = pytest.mark.usefixtures("compiled")


# Limits


@pytest.mark.parametrize(
    ("choice", "timeout", "options"),
    [
        ("zeros", [[0] * 62] * 62, ()),
        ("zeros", [[0] * 62] * 62, ("--jobs", "2")),
        ("word", b"timeout\n", ("--strategy", "papers")),
    ],
)
def test_puzzle_limit_gives_one_puzzle_up_and_goes_on(choice, timeout, options):
    text = batch(Puzzle.from_grid(FULL), hard(), Puzzle.from_grid(FULL))
    limits = ("--puzzle-limit", "0.5", "--time-limit", "60")
    done = run(text, "--size", "62x62", *limits, "--on-unsolved", choice, *options)
    assert done.stdout == answers(FULL, timeout, FULL)
    assert done.stderr == b"$2: line 126: not solved within the limit of 0.5 s\n"
    assert done.returncode == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_line_limit_gives_one_puzzle_up_at_the_same_place_each_time(strategy, tmp_path):
    text = batch(Puzzle.from_grid(FULL), hard(), Puzzle.from_grid(FULL))
    options = ["--size", "62x62", "--line-limit", "3000", "--on-unsolved", "word", "--strategy", strategy]
    records = []
    for command in (run, carried_out):
        done = command(text, *options, "--stats", str(tmp_path / "stats"))
        assert done.stdout == answers(FULL, b"timeout\n", FULL)
        assert done.stderr == b"$2: line 126: not solved within the limit of 3000 line solves\n"
        assert done.returncode == 1
        records.append(counted(tmp_path / "stats"))
    assert records[0] == records[1]
    assert records[0][1]["status"] == "timeout"
    assert 3000 < records[0][1]["line_solves"] < 30000


@pytest.mark.nightly
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_time_limit_stops_in_a_puzzle_with_the_ones_before_it_written(strategy, tmp_path):
    log = tmp_path / "log"
    text = batch(Puzzle.from_grid(FULL), hard(), Puzzle.from_grid(FULL))
    done = run(text, "--size", "62x62", "--time-limit", "6", "--log", str(log), "--strategy", strategy)
    assert done.stdout == answers(FULL)
    assert done.stderr == b"nonobot: stopped at the time limit of 6 s; 1 of 2 puzzles read are solved\n"
    assert done.returncode == 1
    assert re.fullmatch(r"#1\t\d+\.\d+\ntotal time: \d+\.\d+\n", log.read_text())


@pytest.mark.parametrize(("form", "text"), [("taai", b""), pytest.param("auto", b"2 2\n", marks=pytest.mark.slow)])
def test_time_limit_stops_while_waiting_for_input(talk, form, text):
    one = talk("--size", "2x2", "--time-limit", "1", "--format", form)
    one.send(text)
    status, out, err = one.process.wait(PATIENCE_SECONDS), one.process.stdout.read(), one.process.stderr.read()
    assert (status, out) == (1, b"")
    assert err == b"nonobot: stopped at the time limit of 1 s; 0 of 0 puzzles read are solved\n"


# Ends from outside


@pytest.mark.parametrize("options", [(), ("--strategy", "papers"), ("--jobs", "2")])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_quietly_in_the_middle_of_puzzles(talk, number, options, tmp_path):
    log = tmp_path / "log"
    one = talk("--size", "62x62", "--log", str(log), *options)
    expected = answers(FULL)
    one.send(batch(Puzzle.from_grid(FULL), hard(), hard()))
    assert one.receive(len(expected)) == expected
    wait_until(lambda: log.read_text().endswith("\n"))  # the record of a puzzle follows its answer
    one.process.send_signal(number)
    status, out, err = one.end()
    assert status in (-number, 128 + number)
    assert (out, err) == (b"", b"")
    assert re.fullmatch(r"#1\t\d+\.\d+\n(total time: \d+\.\d+\n)?", log.read_text())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_quietly_while_it_waits_for_input(talk, number):
    one = talk("--size", "2x2")
    one.send(batch(GOOD))
    assert one.receive(len(answers(GRID))) == answers(GRID)
    one.process.send_signal(number)
    status, out, err = one.end()
    assert status in (-number, 128 + number)
    assert (out, err) == (b"", b"")


PRESSES_CTRL_C = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class PressesCtrlC:
    def find_spec(self, name, path=None, target=None):
        if name == "nonobot.bot.cli":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, PressesCtrlC())
from nonobot.__main__ import main
main()
"""


def test_a_ctrl_c_while_it_is_loaded_ends_it_quietly():
    done = subprocess.run([sys.executable, "-c", PRESSES_CTRL_C], input=batch(GOOD), capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_closed_stdout_ends_it_quietly_with_a_puzzle_in_work(talk, strategy):
    one = talk("--size", "62x62", "--strategy", strategy, "--jobs", "2")
    one.send(batch(Puzzle.from_grid(FULL)))
    assert one.receive(len(answers(FULL))) == answers(FULL)
    one.process.stdout.close()
    one.send(format_puzzle(2, Puzzle.from_grid(FULL)) + format_puzzle(3, hard()) * 4)
    assert one.process.wait(PATIENCE_SECONDS) == 1
    assert one.process.stderr.read() == b""


def in_shell(line: str, text: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of a shell in which `{nonobot}` stands for the command."""
    nonobot = subprocess.list2cmdline([*COMMAND, "--size", "2x2", *options])
    command = ["sh", "-c", line.format(nonobot=nonobot)]
    return subprocess.run(command, input=text, capture_output=True, timeout=PATIENCE_SECONDS)


def test_head_ends_a_long_batch_quietly():
    done = in_shell("{nonobot} | head -n 3", batch(*[GOOD] * 20_000))
    assert (done.stdout, done.stderr) == (answers(GRID), b"")


@pytest.mark.parametrize("closing", ["2>&-", "2>/dev/full"])
def test_answers_come_also_when_nobody_can_read_the_messages(closing):
    done = in_shell("exec {nonobot} " + closing, batch(GOOD, b"x\n1\n1\n1\n", NONE, GOOD))
    assert done.stdout == answers(GRID, [[0, 0]] * 2, [[0, 0]] * 2, GRID)
    assert done.returncode == 1


def test_a_reader_of_stderr_that_went_away_costs_no_answer(talk):
    one = talk("--size", "2x2")
    one.process.stderr.close()
    one.send(batch(b"x\n1\n1\n1\n", GOOD))
    expected = answers([[0, 0]] * 2, GRID)
    assert one.receive(len(expected)) == expected


@pytest.mark.parametrize("closing", ["<&-", ">&-"])
def test_a_stream_that_is_closed_from_the_start_ends_it_without_a_traceback(closing, tmp_path):
    done = in_shell("exec {nonobot} " + closing, batch(GOOD), "--log", str(tmp_path / "log"))
    assert done.returncode in (1, 2)
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr
    # The log must not get the descriptor of stdout, and the answers with it.
    assert not any(b"$" in file.read_bytes() for file in tmp_path.iterdir())


# Records


def test_the_log_has_a_line_for_each_puzzle_and_the_total_last(tmp_path):
    log = tmp_path / "log"
    done = run(batch(GOOD, b"x\n1\n1\n1\n", NONE, GOOD), "--size", "2x2", "--log", str(log))
    assert done.returncode == 1
    number = r"\d+\.\d+\n"
    pattern = "".join(rf"#{k}\t{number}" for k in (1, 2, 3, 4)) + rf"total time: {number}"
    assert re.fullmatch(pattern, log.read_text()), log.read_text()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_stats_are_json_lines_with_status_seconds_and_counts(strategy, tmp_path):
    stats = tmp_path / "stats"
    text = batch(GOOD, b"x\n1\n1\n1\n", NONE, TWO)
    carried_out(text, "--size", "2x2", "--stats", str(stats), "--strategy", strategy)
    lines = [json.loads(line) for line in stats.read_text().splitlines()]
    assert [line["puzzle"] for line in lines] == [1, 2, 3, 4]
    assert [line["status"] for line in lines] == ["solved", "invalid", "unsolvable", "solved"]
    assert all(line["seconds"] >= 0 for line in lines)
    assert lines[1].keys() == {"puzzle", "status", "seconds"}
    for at in (0, 2, 3):
        steps = lines[at].pop("phase_seconds")
        assert 0 < sum(steps.values()) <= lines[at]["seconds"]
        counts = {name: value for name, value in lines[at].items() if name not in (*lines[1], "verdict")}
        assert lines[at]["solutions"] == (at != 2)
        assert len(counts) > 1
        assert all(isinstance(value, int) and value >= 0 for value in counts.values())
    assert any(value for name, value in lines[3].items() if name not in (*lines[1], "verdict", "solutions"))


def test_the_records_are_written_as_the_puzzles_are_answered(talk, tmp_path):
    log, stats = tmp_path / "log", tmp_path / "stats"
    one = talk("--size", "2x2", "--log", str(log), "--stats", str(stats))
    for number in (1, 2, 3):
        one.send(format_puzzle(number, GOOD))
        one.receive(len(format_answer(number, Solution(GRID))))
        wait_until(lambda lines=number: log.read_text().count("\n") == stats.read_text().count("\n") == lines)
    assert one.end() == (0, b"", b"")


def test_a_full_disk_under_the_records_costs_no_answer():
    done = run(batch(GOOD, NONE, TWO), "--size", "2x2", "--log", "/dev/full", "--jobs", "2")
    assert done.stdout.startswith(answers(GRID, [[0, 0], [0, 0]]) + b"$3\n")
    assert b"nonobot: cannot write /dev/full: No space left on device; no further" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize("line", ["{nonobot} | head -n 3", "{nonobot} > /dev/full"])
def test_the_log_of_a_run_that_was_cut_off_has_no_total(line, tmp_path):
    log = tmp_path / "log"
    in_shell(line, batch(*[GOOD] * 20_000), "--log", str(log))
    assert re.fullmatch(r"(#\d+\t\d+\.\d{6}\n)*", log.read_text())


def test_a_disk_that_fills_up_under_the_records_leaves_whole_lines(tmp_path):
    log, stats = tmp_path / "log", tmp_path / "stats"
    text = batch(*[GOOD] * 400)
    done = in_shell("ulimit -f 2; {nonobot}", text, "--log", str(log), "--stats", str(stats))
    assert (done.returncode, done.stdout) == (0, answers(*[GRID] * 400))
    assert done.stderr.count(b": File too large; no further records go there\n") == 2
    assert re.fullmatch(r"(#\d+\t\d+\.\d{6}\n)+", log.read_text())
    assert counted(stats)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{nonobot} --log x.nin x.nin", "--log x.nin: the puzzles are read from this file"),
        ("{nonobot} --log hard ./link", "--log hard: the puzzles are read from this file"),
        ("{nonobot} --stats link < x.nin", "--stats link: the puzzles are read from this file"),
        ("{nonobot} --log new --stats ./dangling", "--stats dangling: --log is written to this file"),
        ("{nonobot} --stats x.nin < /dev/null >> x.nin", "--stats x.nin: standard output is written to this file"),
        ("{nonobot} x.nin >> x.nin", "standard output: the puzzles are read from this file"),
    ],
)
def test_a_file_that_is_read_is_not_written(line, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.nin").write_text("2 2\n1\n2\n2\n1\n")
    os.link("x.nin", "hard")
    for link, target in (("link", "x.nin"), ("dangling", "new")):
        Path(link).symlink_to(target)
    done = in_shell(line, b"")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"nonobot: {why}; write to another one\n"
    assert Path("x.nin").read_text() == "2 2\n1\n2\n2\n1\n"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("jobs", ["1", "2", "auto"])
def test_answers_words_and_counts_are_the_same_every_time_with_any_number_of_jobs(jobs, strategy, tmp_path):
    rng = random.Random(9)
    boards = [Puzzle.from_grid(random_grid(rng, 12, 12, rng.uniform(0.35, 0.6))) for _ in range(20)]
    text = batch(*boards[:10], b"x\n" * 3, *boards[10:])
    options = ("--size", "12x12", "--solutions", "2", "--strategy", strategy)
    outcomes = []
    for command, number in ((run, jobs), (carried_out, "1")):
        done = command(text, *options, "--jobs", number, "--stats", str(tmp_path / "stats"))
        outcomes.append((done.stdout, done.stderr, done.returncode, counted(tmp_path / "stats")))
    assert outcomes[0] == outcomes[1]


# Options and exit status


@pytest.mark.parametrize(
    "options",
    [
        *(("--strategy", "papers", "--probing", name) for name in ("fp1", "fp2", "fp3")),
        ("--strategy", "papers", "--line-solver", "recurrence"),
        ("--strategy", "champion", "--seed", "5"),
        ("--format", "taai"),
    ],
)
def test_every_method_gives_the_answers(options):
    done = carried_out(batch(GOOD, GOOD), "--size", "2x2", *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, answers(GRID, GRID), b"")


@pytest.mark.parametrize("command", [COMMAND, (Path(sys.executable).with_name("nonobot"),)])
def test_the_module_and_the_installed_command_print_the_packages_version(command):
    done = subprocess.run([*command, "--version"], capture_output=True, timeout=PATIENCE_SECONDS)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, f"nonobot {nonobot.__version__}\n", b"")
