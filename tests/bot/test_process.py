"""The process `nonobot`: a batch on stdin, answers on stdout, words on stderr; limits, ends, records and options.

One test or more of a kind run it as its users run it, the others carry out the same command in this process.
"""

import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import nonobot
from nonobot.bot.champion import ChampionStrategy
from nonobot.protocol import Puzzle, Solution, format_answer, format_puzzle, read_answers
from tests import naive
from tests.helpers.boards import random_grid
from tests.helpers.talking import (
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
from tests.protocol.test_batch import FAULTS, placed

pytestmark = pytest.mark.usefixtures("compiled")


def test_a_batch_is_answered_in_the_official_form_and_stderr_stays_empty():
    numbers = (1, 7, 3)
    done = run(b"".join(format_puzzle(number, GOOD) for number in numbers), "--size", "2x2")
    assert done.stdout == b"".join(format_answer(number, Solution(GRID)) for number in numbers)
    assert (done.stderr, done.returncode) == (b"", 0)


@pytest.mark.parametrize(
    ("width", "height"), [(25, 25), (5, 5), (3, 7), (7, 3), (1, 1), (62, 2), (1000, 1), (1, 1000), (100, 70)]
)
def test_the_bot_solves_boards_of_any_size(width, height):
    rng = random.Random(width)
    boards = [Puzzle.from_grid(random_grid(rng, width, height, density)) for density in (0.0, 0.7, 0.8, 1.0)]
    size = () if width == height == 25 else ("--size", f"{width}x{height}")
    done = carried_out(batch(*boards), *size)
    said = [line for line in done.stderr.splitlines() if b"compil" not in line]  # kernels for longer lines
    assert (done.returncode, said) == (0, [])
    answered = list(read_answers(done.stdout.splitlines(keepends=True), width, height))
    assert [answer.number for answer in answered] == [1, 2, 3, 4]
    for board, answer in zip(boards, answered, strict=True):
        assert naive.verify(board, answer.solution.cells.tolist())


@pytest.mark.nightly
def test_compile_time_does_not_count_against_the_puzzle_limit(tmp_path, monkeypatch):
    monkeypatch.setenv("NONOBOT_CACHE_DIR", str(tmp_path))
    wide = Puzzle.from_grid([[1, 0, *[0] * 68], [0, 1, *[0] * 68]])  # line logic leaves it open
    done = run(batch(wide), "--size", "70x2", "--puzzle-limit", "1")
    [answer] = [written.solution for written in read_answers(done.stdout.splitlines(keepends=True), 70, 2)]
    assert naive.verify(wide, answer.cells.tolist())
    assert b"compiling the search for boards of up to 126x126 (once" in done.stderr


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_every_malformed_puzzle_gets_one_line_and_all_others_are_answered(jobs):
    grid = [[1, 1, 1], [0, 0, 1], [1, 0, 1]]
    good, zeros = Puzzle.from_grid(grid), b"0\t0\t0\n" * 3
    text, expected, messages = format_puzzle(1, good), format_answer(1, Solution(grid)), []
    for index, (lines, _, message) in enumerate(FAULTS):
        number, header = 2 * index + 2, text.count(b"\n") + 1
        text += b"$%d\n" % number + lines + format_puzzle(number + 1, good)
        expected += b"$%d\n" % number + zeros + format_answer(number + 1, Solution(grid))
        messages.append(f"${number}: {placed(message, header, lines)}")
    done = run(text, "--size", "3x3", "--jobs", jobs)
    lines = done.stderr.decode().splitlines()
    assert [line[: len(message)] for line, message in zip(lines, messages, strict=True)] == messages
    assert (done.stdout, done.returncode) == (expected, 1)


def test_extra_lines_and_an_oversized_board_do_not_affect_other_puzzles():
    done = carried_out(batch(GOOD) + b"1\n2\n" + batch(GOOD, GOOD)[len(batch(GOOD)) :], "--size", "2x2")
    assert done.stdout == answers(GRID, GRID)
    assert done.stderr.decode() == (
        "$1: line 6: '1' comes after the 4 clue lines of a 2x2 board and is ignored; check --size\n"
    )
    assert done.returncode == 1
    text = batch(GOOD, Puzzle.unchecked(((),) * 1023, ((),) * 1023), GOOD)
    done = carried_out(text, "--size", "auto", "--on-unsolved", "word")
    assert done.stdout == answers(GRID, b"invalid\n", GRID)
    assert done.stderr == b"$2: line 6: a 1023x1023 board is too large; the limit is 1022 rows or columns\n"
    assert done.returncode == 1


@pytest.mark.parametrize("lines", [200_000, 200_001])
def test_endless_clue_lines_do_not_affect_other_puzzles(lines):
    text = b"$1\n" + b"1\n" * lines + format_puzzle(2, GOOD)
    # A grid of zeros of that size would take 10 GB.
    done = in_shell("ulimit -v 8000000; exec {nonobot}", text, "--size", "auto")
    assert done.stderr.startswith(b"$1: line 1: ")
    assert done.stderr.count(b"\n") == 1
    assert done.stdout.startswith(b"$1\n")
    assert done.stdout.endswith(format_answer(2, Solution(GRID)))
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("choice", "invalid", "unsolvable"),
    [("zeros", [[0, 0], [0, 0]], [[0, 0], [0, 0]]), ("omit", b"", b""), ("word", b"invalid\n", b"unsolvable\n")],
)
def test_on_unsolved_chooses_what_stands_for_an_invalid_and_an_unsolvable_puzzle(choice, invalid, unsolvable):
    text = batch(GOOD, b"x\n1\n1\n1\n", GOOD, NONE, GOOD)
    done = carried_out(text, "--size", "2x2", "--on-unsolved", choice)
    assert done.stdout == answers(GRID, invalid, GRID, unsolvable, GRID)
    assert done.stderr == b"$2: line 7: clue 'x' is not a number\n$4: line 16: the puzzle has no solution\n"
    assert done.returncode == 1


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_each_answer_comes_before_the_next_puzzle_is_sent(talk, jobs):
    bot = talk("--size", "2x2", "--jobs", jobs)
    for number, grid in enumerate((GRID, [[1, 0], [0, 0]], [[0, 0], [0, 0]], GRID), 1):
        bot.send(format_puzzle(number, Puzzle.from_grid(grid)))
        expected = format_answer(number, Solution(grid))
        assert bot.receive(len(expected)) == expected
    assert bot.end() == (0, b"", b"")


def test_a_puzzle_sent_in_pieces_or_malformed_is_answered_at_once(talk):
    bot = talk("--size", "2x2")
    pieces = [bytes([byte]) for byte in format_puzzle(1, GOOD)]
    for number, parts, grid in ((1, pieces, GRID), (2, [b"$2\n1\nx\n1\n1\n"], [[0, 0], [0, 0]])):
        for part in parts:
            bot.send(part)
        expected = format_answer(number, Solution(grid))
        assert bot.receive(len(expected)) == expected
    assert bot.end() == (1, b"", b"$2: line 8: clue 'x' is not a number\n")


@pytest.mark.parametrize(("puzzle_limit", "time_limit"), [("5", "900"), ("900", "5")])
def test_a_puzzle_gets_the_shorter_of_two_limits(monkeypatch, puzzle_limit, time_limit):
    given = []
    solve = ChampionStrategy.solve
    monkeypatch.setattr(ChampionStrategy, "solve", lambda *a, **k: given.append(k["seconds"]) or solve(*a, **k))
    carried_out(batch(GOOD), "--size", "2x2", "--puzzle-limit", puzzle_limit, "--time-limit", time_limit)
    assert 0 < given[0] <= 5


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_several_solutions_are_written_and_tell_unique_from_multiple(strategy):
    done = carried_out(batch(GOOD, TWO, NONE), "--size", "2x2", "--solutions", "3", "--strategy", strategy)
    first, second = format_answer(2, Solution([[1, 0], [0, 1]])), format_answer(2, Solution([[0, 1], [1, 0]]))
    none = format_answer(3, Solution([[0, 0], [0, 0]]))
    unique = format_answer(1, Solution(GRID))
    assert done.stdout in (unique + first + second + none, unique + second + first + none)
    assert done.stderr.decode().splitlines() == [
        "$1: unique",
        "$2: multiple: 2 solutions, no others",
        "$3: line 11: the puzzle has no solution",
        "$3: unsolvable",
    ]
    assert done.returncode == 1


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
    assert (done.stderr, done.returncode) == (b"$2: line 126: not solved within the limit of 0.5 s\n", 1)


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


LATE = b"$2: line 126: not solved within the time limit of 6 s\n"
ZEROS = [[0] * 62] * 62


@pytest.mark.nightly
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_time_limit_stops_during_a_puzzle_and_answers_that_puzzle_too(strategy, tmp_path):
    log = tmp_path / "log"
    text = batch(Puzzle.from_grid(FULL), hard(), Puzzle.from_grid(FULL))
    done = run(text, "--size", "62x62", "--time-limit", "6", "--log", str(log), "--strategy", strategy)
    assert done.stdout == answers(FULL, ZEROS)
    assert done.stderr == LATE + b"nonobot: stopped at the time limit of 6 s; 1 of 2 puzzles read are solved\n"
    assert done.returncode == 1
    assert re.fullmatch(r"#1\t\d+\.\d+\n#2\t\d+\.\d+\ntotal time: \d+\.\d+\n", log.read_text())


@pytest.mark.nightly
@pytest.mark.parametrize(("on_unsolved", "answer"), [("zeros", ZEROS), ("omit", b""), ("word", b"timeout\n")])
def test_a_time_limit_leaves_out_no_puzzle_between_answered_ones(on_unsolved, answer):
    text = batch(Puzzle.from_grid(FULL), hard(), Puzzle.from_grid(FULL))
    options = "--size", "62x62", "--time-limit", "6", "--jobs", "2", "--on-unsolved", on_unsolved
    done = run(text, *options)
    assert done.stdout == answers(FULL, answer, FULL)
    assert (done.stderr, done.returncode) == (LATE, 1)


@pytest.mark.parametrize(("form", "text"), [("taai", b""), pytest.param("auto", b"2 2\n", marks=pytest.mark.slow)])
def test_time_limit_stops_while_waiting_for_input(talk, form, text):
    bot = talk("--size", "2x2", "--time-limit", "1", "--format", form)
    bot.send(text)
    bot.process.wait(PATIENCE_SECONDS)  # with its stdin still open
    status, out, err = bot.end()
    assert (status, out) == (1, b"")
    assert err == b"nonobot: stopped at the time limit of 1 s; 0 of 0 puzzles read are solved\n"


@pytest.mark.parametrize(
    ("options", "left"), [((), 2), (("--strategy", "papers"), 2), (("--jobs", "2"), 2), ((), 0)]
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_bot_quietly_while_solving_or_waiting(talk, number, options, left, tmp_path):
    log = tmp_path / "log"
    bot = talk("--size", "62x62", "--log", str(log), *options)
    expected = answers(FULL)
    bot.send(batch(Puzzle.from_grid(FULL), *[hard()] * left))
    assert bot.receive(len(expected)) == expected
    wait_until(lambda: log.read_text().endswith("\n"), bot.process)  # the record of a puzzle follows its answer
    bot.process.send_signal(number)
    status, out, err = bot.end()
    assert status in (-number, 128 + number)
    assert (out, err) == (b"", b"")
    assert re.fullmatch(r"#1\t\d+\.\d+\n(total time: \d+\.\d+\n)?", log.read_text())


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


def test_ctrl_c_while_the_bot_loads_ends_it_quietly():
    done = subprocess.run([sys.executable, "-c", PRESSES_CTRL_C], input=batch(GOOD), capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_closed_stdout_ends_the_bot_quietly_during_a_puzzle(talk, strategy):
    bot = talk("--size", "62x62", "--strategy", strategy, "--jobs", "2")
    bot.send(batch(Puzzle.from_grid(FULL)))
    assert bot.receive(len(answers(FULL))) == answers(FULL)
    bot.process.stdout.close()
    bot.send(format_puzzle(2, Puzzle.from_grid(FULL)) + format_puzzle(3, hard()) * 4)
    assert bot.end() == (1, b"", b"")


def in_shell(line: str, text: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of a shell in which `{nonobot}` stands for the command."""
    nonobot = shlex.join([*COMMAND, "--size", "2x2", *options])
    command = ["sh", "-c", line.format(nonobot=nonobot)]
    return subprocess.run(command, input=text, capture_output=True, timeout=PATIENCE_SECONDS)


@pytest.mark.parametrize("closing", ["2>&-", "2>/dev/full"])
def test_answers_come_also_when_nobody_can_read_the_messages(closing):
    done = in_shell("exec {nonobot} " + closing, batch(GOOD, b"x\n1\n1\n1\n", NONE, GOOD))
    assert (done.stdout, done.returncode) == (answers(GRID, [[0, 0]] * 2, [[0, 0]] * 2, GRID), 1)


def test_a_closed_stderr_pipe_does_not_affect_answers(talk):
    bot = talk("--size", "2x2")
    bot.process.stderr.close()
    bot.send(batch(b"x\n1\n1\n1\n", GOOD))
    expected = answers([[0, 0]] * 2, GRID)
    assert bot.receive(len(expected)) == expected


@pytest.mark.parametrize("closing", ["<&-", ">&-"])
def test_a_stream_closed_from_the_start_ends_the_bot_without_a_traceback(closing, tmp_path):
    done = in_shell("exec {nonobot} " + closing, batch(GOOD), "--log", str(tmp_path / "log"))
    assert done.returncode in (1, 2)
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr
    # The log must not get the descriptor of stdout, and the answers with it.
    assert not any(b"$" in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_log_and_the_stats_have_a_line_for_each_puzzle(strategy, tmp_path):
    log, stats = tmp_path / "log", tmp_path / "stats"
    text = batch(GOOD, b"x\n1\n1\n1\n", NONE, TWO)
    carried_out(text, "--size", "2x2", "--log", str(log), "--stats", str(stats), "--strategy", strategy)
    number = r"\d+\.\d+\n"
    pattern = "".join(rf"#{k}\t{number}" for k in (1, 2, 3, 4)) + rf"total time: {number}"
    assert re.fullmatch(pattern, log.read_text()), log.read_text()
    lines = [json.loads(line) for line in stats.read_text().splitlines()]
    assert [line["puzzle"] for line in lines] == [1, 2, 3, 4]
    assert [line["status"] for line in lines] == ["solved", "invalid", "unsolvable", "solved"]
    assert all(line["seconds"] >= 0 for line in lines)
    assert lines[1].keys() == {"puzzle", "status", "seconds"}
    for index in (0, 2, 3):
        steps = lines[index].pop("phase_seconds")
        assert 0 < sum(steps.values()) <= lines[index]["seconds"]
        counts = {name: value for name, value in lines[index].items() if name not in (*lines[1], "verdict")}
        assert lines[index]["solutions"] == (index != 2)
        assert len(counts) > 1
        assert all(isinstance(value, int) and value >= 0 for value in counts.values())
    assert any(value for name, value in lines[3].items() if name not in (*lines[1], "verdict", "solutions"))


def test_the_records_are_written_as_the_puzzles_are_answered(talk, tmp_path):
    log, stats = tmp_path / "log", tmp_path / "stats"
    bot = talk("--size", "2x2", "--log", str(log), "--stats", str(stats))
    for number in (1, 2, 3):
        bot.send(format_puzzle(number, GOOD))
        bot.receive(len(format_answer(number, Solution(GRID))))
        wait_until(
            lambda lines=number: log.read_text().count("\n") == stats.read_text().count("\n") == lines, bot.process
        )
    assert bot.end() == (0, b"", b"")


@pytest.mark.parametrize(("line", "said"), [("{nonobot} | head -n 3", b""), ("{nonobot} > /dev/full", None)])
def test_a_long_batch_that_is_cut_off_ends_with_a_log_without_a_total(line, said, tmp_path):
    log = tmp_path / "log"
    done = in_shell(line, batch(*[GOOD] * 20_000), "--log", str(log))
    assert said is None or (done.stdout, done.stderr) == (answers(GRID), said)
    assert re.fullmatch(r"(#\d+\t\d+\.\d{6}\n)*", log.read_text())


def test_a_full_disk_leaves_only_complete_lines_in_log_and_stats(tmp_path):
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
def test_an_input_file_is_never_used_as_an_output_file(line, why, tmp_path, own_folder):
    Path("x.nin").write_text("2 2\n1\n2\n2\n1\n")
    os.link("x.nin", "hard")
    for link, target in (("link", "x.nin"), ("dangling", "new")):
        Path(link).symlink_to(target)
    done = in_shell(line, b"")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"nonobot: {why}; write to another one\n"
    assert Path("x.nin").read_text() == "2 2\n1\n2\n2\n1\n"


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
