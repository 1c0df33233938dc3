"""The process `nonobot`, run as its users run it: a batch on stdin, answers on stdout, words on stderr."""

from __future__ import annotations

import json
import os
import random
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bot
from protocol import Puzzle, Solution, format_answer, format_puzzle, read_answers
from tests import naive
from tests.boards import random_grid
from tests.test_taai import FAULTS

COMMAND = (sys.executable, "-m", "bot")
STRATEGIES = ("champion", "papers")
PATIENCE_SECONDS = 600  # only to end a test whose process hangs

GRID = [[1, 0], [1, 1]]
GOOD = Puzzle.from_grid(GRID)  # unique
TWO = Puzzle.from_grid([[1, 0], [0, 1]])  # two solutions
NONE = Puzzle(columns=((2,), ()), rows=((2,), ()))  # no solution, the counts agree
FULL = [[1] * 62] * 62


def hard() -> Puzzle:
    """Return a 62x62 board that neither strategy solves while a test waits."""
    return Puzzle.from_grid(random_grid(random.Random(1), 62, 62, 0.45))


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compile the kernels before anything is compared: the first run says so on stderr."""
    for strategy in STRATEGIES:
        done = subprocess.run(
            [*COMMAND, "--warm-up", "--strategy", strategy], capture_output=True, timeout=PATIENCE_SECONDS
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == b""


def run(text: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *options], input=text, capture_output=True, timeout=PATIENCE_SECONDS)


def batch(*puzzles: Puzzle | bytes) -> bytes:
    """Return a batch with the numbers from 1; bytes stand for the lines of a puzzle as they are."""
    return b"".join(
        b"$%d\n" % number + puzzle if isinstance(puzzle, bytes) else format_puzzle(number, puzzle)
        for number, puzzle in enumerate(puzzles, 1)
    )


def answers(*grids: naive.Grid | bytes) -> bytes:
    """Return the answers with the numbers from 1; bytes stand for what is written after the `$k` line."""
    return b"".join(
        b"$%d\n" % number + grid if isinstance(grid, bytes) else format_answer(number, Solution(grid))
        for number, grid in enumerate(grids, 1)
    )


class Talk:
    """A running process whose answers are read while it waits for more."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self._selector = selectors.DefaultSelector()
        self._selector.register(self.process.stdout, selectors.EVENT_READ)

    def send(self, text: bytes) -> None:
        self.process.stdin.write(text)

    def receive(self, size: int) -> bytes:
        """Return the next `size` bytes of stdout, or less at its end."""
        text = b""
        while len(text) < size:
            assert self._selector.select(PATIENCE_SECONDS), f"nothing came; so far {text!r}"
            chunk = os.read(self.process.stdout.fileno(), size - len(text))
            if not chunk:
                break
            text += chunk
        return text

    def end(self) -> tuple[int, bytes, bytes]:
        """Wait for the end of the process; return its status, the rest of stdout, and stderr."""
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode, out, err


@pytest.fixture
def talk() -> Iterator[Callable[..., Talk]]:
    talks: list[Talk] = []

    def start(*options: str) -> Talk:
        talks.append(Talk(*options))
        return talks[-1]

    yield start
    for one in talks:
        one.process.kill()
        one.process.wait()
        for stream in (one.process.stdin, one.process.stdout, one.process.stderr):
            stream.close()


def wait_until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


# A batch


def test_a_batch_is_answered_byte_by_byte_in_the_official_form_and_nothing_else_is_said():
    done = run(batch(GOOD, GOOD, GOOD), "--size", "2x2")
    assert done.stdout == answers(GRID, GRID, GRID)
    assert done.stderr == b""
    assert done.returncode == 0


def test_the_numbers_of_the_answers_are_those_of_the_puzzles():
    text = format_puzzle(7, GOOD) + format_puzzle(3, GOOD)
    done = run(text, "--size", "2x2")
    assert done.stdout == format_answer(7, Solution(GRID)) + format_answer(3, Solution(GRID))


def test_boards_of_25x25_are_the_default_and_are_answered_right():
    rng = random.Random(2)
    boards = [Puzzle.from_grid(random_grid(rng, 25, 25, density)) for density in (0.0, 0.5, 0.6, 0.7, 1.0)]
    done = run(batch(*boards))
    assert (done.returncode, done.stderr) == (0, b"")
    found = list(read_answers(done.stdout.splitlines(keepends=True), 25, 25))
    assert [answer.number for answer in found] == [1, 2, 3, 4, 5]
    for board, answer in zip(boards, found, strict=True):
        assert naive.verify(board, answer.solution.cells.tolist())


@pytest.mark.parametrize(("width", "height"), [(5, 5), (3, 7), (7, 3), (1, 1), (62, 2)])
def test_boards_of_any_size(width, height):
    rng = random.Random(width)
    boards = [Puzzle.from_grid(random_grid(rng, width, height)) for _ in range(10)]
    done = run(batch(*boards), "--size", f"{width}x{height}")
    assert (done.returncode, done.stderr) == (0, b"")
    found = list(read_answers(done.stdout.splitlines(keepends=True), width, height))
    assert len(found) == 10
    for board, answer in zip(boards, found, strict=True):
        assert naive.verify(board, answer.solution.cells.tolist())


def test_size_auto_answers_square_boards_of_different_sizes_in_one_batch():
    rng = random.Random(3)
    boards = [Puzzle.from_grid(random_grid(rng, size, size, 0.7)) for size in (4, 1, 9, 25)]
    done = run(batch(*boards), "--size", "auto")
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.splitlines()
    for number, board in enumerate(boards, 1):
        assert lines.pop(0) == b"$%d" % number
        rows = [[int(word) for word in lines.pop(0).split(b"\t")] for _ in range(board.height)]
        assert naive.verify(board, rows)
    assert lines == []


def test_input_of_any_form_that_the_reader_takes():
    forms = (
        b"\xef\xbb\xbf\n"
        + batch(GOOD).replace(b"$", b"$ ")
        + b"\n\n"
        + format_puzzle(2, GOOD).replace(b"\t", b" ")
    )
    done = run(forms.replace(b"\n", b"\r\n")[:-2], "--size", "2x2")
    assert (done.returncode, done.stdout, done.stderr) == (0, answers(GRID, GRID), b"")


def test_an_official_set_is_answered_right(official_sets):
    file = official_sets[0]
    lines = file.read_bytes().split(b"$26")[0]
    done = run(lines, "--puzzle-limit", "60")
    assert (done.returncode, done.stderr) == (0, b"")
    from protocol import read_batch

    puzzles = {entry.number: entry.puzzle for entry in read_batch(lines.splitlines(keepends=True))}
    found = list(read_answers(done.stdout.splitlines(keepends=True), 25, 25))
    assert [answer.number for answer in found] == list(puzzles) == list(range(1, 26))
    for answer in found:
        assert naive.verify(puzzles[answer.number], answer.solution.cells.tolist())


# Puzzles that cannot be read or have no solution

ZEROS_3 = b"0\t0\t0\n" * 3
GRID_3 = [[1, 1, 1], [0, 0, 1], [1, 0, 1]]
GOOD_3 = Puzzle.from_grid(GRID_3)


def faulty_batch() -> tuple[bytes, bytes, list[str]]:
    """Return every malformed puzzle between good ones: the batch, the answers with zeros, the messages."""
    text, expected, messages = format_puzzle(1, GOOD_3), format_answer(1, Solution(GRID_3)), []
    for at, (_, lines, _, message) in enumerate(FAULTS):
        number = 2 * at + 2
        header = text.count(b"\n") + 1
        text += b"$%d\n" % number + lines
        after = text.count(b"\n") + 1
        text += format_puzzle(number + 1, GOOD_3)
        expected += b"$%d\n" % number + ZEROS_3 + format_answer(number + 1, Solution(GRID_3))
        place, what = message.split(": ", 1)
        # The messages of the list count as if the `$k` stood on line 6.
        line = after if place == "line {next}" else int(place.removeprefix("line ")) - 6 + header
        messages.append(f"${number}: line {line}: {what}")
    return text, expected, messages


def test_every_malformed_puzzle_gets_one_line_and_all_others_are_answered():
    text, expected, messages = faulty_batch()
    done = run(text, "--size", "3x3")
    assert done.stderr.decode().splitlines() == messages
    assert done.stdout == expected
    assert done.returncode == 1


@pytest.mark.parametrize(
    "junk", [b"\0" * 1000, bytes(range(256)).replace(b"$", b""), b"\xff\xfe" * 99, b"1" * 100_000]
)
def test_junk_between_two_puzzles_costs_neither(junk):
    done = run(batch(GOOD) + b"$2\n" + junk + b"\n" + format_puzzle(3, GOOD), "--size", "2x2")
    assert done.stdout.startswith(answers(GRID) + b"$2\n")
    assert done.stdout.endswith(format_answer(3, Solution(GRID)))
    assert done.stderr.startswith(b"$2: line ")
    assert b"Traceback" not in done.stderr
    assert done.returncode == 1


def test_extra_lines_are_said_and_the_puzzle_is_answered():
    done = run(batch(GOOD) + b"1\n2\n" + batch(GOOD, GOOD)[len(batch(GOOD)) :], "--size", "2x2")
    assert done.stdout == answers(GRID, GRID)
    assert done.stderr.decode() == (
        "$1: line 6: '1' comes after the 4 clue lines of a 2x2 board and is left out; is --size right?\n"
    )
    assert done.returncode == 1


def test_a_puzzle_without_a_solution_is_said_and_costs_no_other():
    done = run(batch(GOOD, NONE, GOOD), "--size", "2x2")
    assert done.stdout == answers(GRID, [[0, 0], [0, 0]], GRID)
    assert done.stderr == b"$2: line 6: the puzzle has no solution\n"
    assert done.returncode == 1


def test_a_board_that_is_too_large_for_auto_costs_no_other():
    text = batch(GOOD, Puzzle(((),) * 63, ((),) * 63), GOOD)
    done = run(text, "--size", "auto", "--on-unsolved", "word")
    assert done.stdout == answers(GRID, b"invalid\n", GRID)
    assert done.stderr == b"$2: line 6: a 63x63 board is too large; a side has up to 62 cells\n"
    assert done.returncode == 1


@pytest.mark.parametrize("lines", [200_000, 200_001])
def test_clue_lines_without_end_cost_no_other_puzzle(lines):
    text = b"$1\n" + b"1\n" * lines + format_puzzle(2, GOOD)
    command = subprocess.list2cmdline([*COMMAND, "--size", "auto"])
    done = subprocess.run(  # a grid of zeros of that size would take 10 GB
        ["sh", "-c", f"ulimit -v 8000000; exec {command}"],
        input=text,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.stderr.startswith(b"$1: line 1: ")
    assert done.stderr.count(b"\n") == 1
    assert done.stdout.startswith(b"$1\n")
    assert done.stdout.endswith(format_answer(2, Solution(GRID)))
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("choice", "invalid", "unsolvable"),
    [
        ("zeros", [[0, 0], [0, 0]], [[0, 0], [0, 0]]),
        ("omit", b"", b""),
        ("word", b"invalid\n", b"unsolvable\n"),
    ],
)
def test_on_unsolved_chooses_what_stands_for_an_invalid_and_an_unsolvable_puzzle(choice, invalid, unsolvable):
    text = batch(GOOD, b"x\n1\n1\n1\n", GOOD, NONE, GOOD)
    done = run(text, "--size", "2x2", "--on-unsolved", choice)
    assert done.stdout == answers(GRID, invalid, GRID, unsolvable, GRID)
    assert done.stderr == (
        b"$2: line 7: clue 'x' is not a number\n"  #
        b"$4: line 16: the puzzle has no solution\n"
    )
    assert done.returncode == 1


# Limits


@pytest.mark.parametrize(
    ("choice", "timeout", "strategy"),
    [
        ("zeros", [[0] * 62] * 62, "champion"),
        ("omit", b"", "champion"),
        ("word", b"timeout\n", "champion"),
        ("word", b"timeout\n", "papers"),
    ],
)
def test_puzzle_limit_gives_one_puzzle_up_and_goes_on(choice, timeout, strategy):
    text = batch(Puzzle.from_grid(FULL), hard(), Puzzle.from_grid(FULL))
    done = run(text, "--size", "62x62", "--puzzle-limit", "0.5", "--on-unsolved", choice, "--strategy", strategy)
    assert done.stdout == answers(FULL, timeout, FULL)
    assert done.stderr == b"$2: line 126: not solved within the limit of 0.5 s\n"
    assert done.returncode == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_time_limit_stops_in_a_puzzle_with_the_ones_before_it_written(strategy, tmp_path):
    log = tmp_path / "log"
    text = batch(Puzzle.from_grid(FULL), hard(), Puzzle.from_grid(FULL))
    done = run(text, "--size", "62x62", "--time-limit", "6", "--log", str(log), "--strategy", strategy)
    assert done.stdout == answers(FULL)
    assert done.stderr == b"nonobot: stopped at the time limit of 6 s; 1 of 2 puzzles read are solved\n"
    assert done.returncode == 1
    assert re.fullmatch(r"#1\t\d+\.\d+\ntotal time: \d+\.\d+\n", log.read_text())


def test_time_limit_stops_while_waiting_for_input(talk):
    one = talk("--size", "2x2", "--time-limit", "1")
    status, out, err = one.process.wait(PATIENCE_SECONDS), one.process.stdout.read(), one.process.stderr.read()
    assert (status, out) == (1, b"")
    assert err == b"nonobot: stopped at the time limit of 1 s; 0 of 0 puzzles read are solved\n"


def test_limits_that_are_not_reached_change_nothing():
    done = run(batch(GOOD, GOOD), "--size", "2x2", "--time-limit", "3600", "--puzzle-limit", "1e3")
    assert (done.returncode, done.stdout, done.stderr) == (0, answers(GRID, GRID), b"")


# Interactive


def test_each_answer_comes_before_the_next_puzzle_is_sent(talk):
    one = talk("--size", "2x2")
    for number in range(1, 6):
        one.send(format_puzzle(number, GOOD))
        expected = format_answer(number, Solution(GRID))
        assert one.receive(len(expected)) == expected
    assert one.end() == (0, b"", b"")


def test_each_answer_comes_also_when_a_puzzle_arrives_in_pieces_or_ends_with_an_empty_line(talk):
    one = talk("--size", "2x2")
    puzzle = Puzzle.from_grid([[1, 0], [0, 0]])
    for number in (1, 2):
        for byte in format_puzzle(number, puzzle):
            one.send(bytes([byte]))
        expected = format_answer(number, Solution([[1, 0], [0, 0]]))
        assert one.receive(len(expected)) == expected
    assert one.end() == (0, b"", b"")


def test_a_malformed_puzzle_is_answered_before_the_next_is_sent(talk):
    one = talk("--size", "2x2")
    for number, lines, grid in ((1, b"1\nx\n1\n1\n", [[0, 0]] * 2), (2, format_puzzle(2, GOOD)[3:], GRID)):
        one.send(b"$%d\n" % number + lines)
        expected = format_answer(number, Solution(grid))
        assert one.receive(len(expected)) == expected
    assert one.end() == (1, b"", b"$1: line 3: clue 'x' is not a number\n")


# Ends from outside


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_quietly_in_the_middle_of_a_puzzle(talk, number, strategy, tmp_path):
    log = tmp_path / "log"
    one = talk("--size", "62x62", "--log", str(log), "--strategy", strategy)
    expected = answers(FULL)
    one.send(batch(Puzzle.from_grid(FULL), hard()))
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


def test_a_closed_stdout_ends_it_quietly(talk):
    one = talk("--size", "2x2")
    one.send(batch(GOOD))
    assert one.receive(len(answers(GRID))) == answers(GRID)
    one.process.stdout.close()
    one.send(format_puzzle(2, GOOD))
    assert one.process.wait(PATIENCE_SECONDS) != 0
    assert one.process.stderr.read() == b""


def test_head_ends_a_long_batch_quietly():
    text = batch(*[GOOD] * 20_000)
    command = subprocess.list2cmdline([*COMMAND, "--size", "2x2"])
    done = subprocess.run(
        ["sh", "-c", f"{command} | head -n 3"], input=text, capture_output=True, timeout=PATIENCE_SECONDS
    )
    assert (done.stdout, done.stderr) == (answers(GRID), b"")


@pytest.mark.parametrize("closing", ["2>&-", "2>/dev/full"])
def test_answers_come_also_when_nobody_can_read_the_messages(closing):
    text = batch(GOOD, b"x\n1\n1\n1\n", NONE, GOOD)
    command = subprocess.list2cmdline([*COMMAND, "--size", "2x2"])
    done = subprocess.run(
        ["sh", "-c", f"exec {command} {closing}"], input=text, capture_output=True, timeout=PATIENCE_SECONDS
    )
    assert done.stdout == answers(GRID, [[0, 0]] * 2, [[0, 0]] * 2, GRID)
    assert done.returncode == 1


def test_a_reader_of_stderr_that_went_away_costs_no_answer(talk):
    one = talk("--size", "2x2")
    one.process.stderr.close()
    text = batch(b"x\n1\n1\n1\n", GOOD)
    one.send(text)
    expected = answers([[0, 0]] * 2, GRID)
    assert one.receive(len(expected)) == expected


# Records


def test_the_log_has_a_line_for_each_puzzle_and_the_total_last(tmp_path):
    log = tmp_path / "log"
    done = run(batch(GOOD, b"x\n1\n1\n1\n", NONE, GOOD), "--size", "2x2", "--log", str(log))
    assert done.returncode == 1
    number = r"\d+\.\d+"
    lines = log.read_text().split("\n")
    assert lines.pop() == ""
    patterns = [*(rf"#{k}\t{number}" for k in (1, 2, 3, 4)), rf"total time: {number}"]
    assert len(lines) == len(patterns)
    for line, pattern in zip(lines, patterns, strict=True):
        assert re.fullmatch(pattern, line), line


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_stats_are_json_lines_with_status_seconds_and_counts(strategy, tmp_path):
    stats = tmp_path / "stats"
    text = batch(GOOD, b"x\n1\n1\n1\n", NONE, TWO)
    run(text, "--size", "2x2", "--stats", str(stats), "--strategy", strategy)
    lines = [json.loads(line) for line in stats.read_text().splitlines()]
    assert [line["puzzle"] for line in lines] == [1, 2, 3, 4]
    assert [line["status"] for line in lines] == ["solved", "invalid", "unsolvable", "solved"]
    assert all(line["seconds"] >= 0 for line in lines)
    assert lines[1].keys() == {"puzzle", "status", "seconds"}
    for at in (0, 2, 3):
        steps = lines[at].pop("step_seconds")
        assert 0 <= sum(steps.values()) <= lines[at]["seconds"]
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


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_counts_are_the_same_every_time(strategy, tmp_path):
    text = batch(*(Puzzle.from_grid(random_grid(random.Random(k), 15, 15, 0.5)) for k in range(5)))
    found = []
    for name in ("one", "other"):
        run(text, "--size", "15x15", "--stats", str(tmp_path / name), "--strategy", strategy)
        lines = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        found.append([{key: value for key, value in line.items() if not key.endswith("seconds")} for line in lines])
    assert found[0] == found[1]
    assert len(found[0]) == 5


# Several solutions


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_solutions_2_tells_unique_from_multiple(strategy):
    done = run(batch(GOOD, TWO, NONE), "--size", "2x2", "--solutions", "2", "--strategy", strategy)
    first, second = format_answer(2, Solution([[1, 0], [0, 1]])), format_answer(2, Solution([[0, 1], [1, 0]]))
    none = format_answer(3, Solution([[0, 0], [0, 0]]))
    one = format_answer(1, Solution(GRID))
    assert done.stdout in (one + first + second + none, one + second + first + none)
    said = done.stderr.decode().splitlines()
    assert said[0] == "$1: unique"
    assert said[1].startswith("$2: multiple: 2 solutions")
    assert "$3: line 11: the puzzle has no solution" in said
    assert done.returncode == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_more_solutions_than_there_are_gives_all_of_them(strategy):
    permutations = Puzzle.from_grid([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    done = run(batch(permutations), "--size", "3x3", "--solutions", "100", "--strategy", strategy)
    found = [answer.solution for answer in read_answers(done.stdout.splitlines(keepends=True), 3, 3)]
    assert len(found) == len(set(found)) == len(naive.solutions(permutations)) == 6
    assert all(naive.verify(permutations, solution.cells.tolist()) for solution in found)
    assert done.stderr == b"$1: multiple: 6 solutions, no others\n"
    assert done.returncode == 0


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
    done = run(batch(GOOD, GOOD), "--size", "2x2", *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, answers(GRID, GRID), b"")


def test_version_is_the_packages_and_reads_nothing():
    done = run(b"", "--version")
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, f"nonobot {bot.__version__}\n", b"")


def test_the_installed_command_is_the_module():
    command = Path(sys.executable).with_name("nonobot")
    assert command.is_file()
    done = subprocess.run([command, "--version"], capture_output=True, timeout=PATIENCE_SECONDS)
    assert done.stdout.decode() == f"nonobot {bot.__version__}\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--size", "25"), "'25'"),
        (("--size", "0x5"), "'0x5'"),
        (("--size", "-5x5"), "size"),
        (("--size", "5x"), "'5x'"),
        (("--size", "63x5"), "62"),
        (("--size", "99999x99999"), "'99999x99999'"),
        (("--time-limit", "soon"), "'soon'"),
        (("--time-limit", "0"), "'0'"),
        (("--time-limit", "-1"), "time-limit"),
        (("--time-limit", "nan"), "'nan'"),
        (("--puzzle-limit", "inf"), "'inf'"),
        (("--solutions", "0"), "'0'"),
        (("--solutions", "many"), "'many'"),
        (("--on-unsolved", "ones"), "'ones'"),
        (("--strategy", "magic"), "'magic'"),
        (("--format", "magic"), "'magic'"),
        (("--no-such-option",), "--no-such-option"),
        (("questions.txt",), "questions.txt"),
    ],
)
def test_unusable_arguments_end_with_2_and_name_the_argument(options, said):
    done = run(batch(GOOD), *options)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode().splitlines()[-1]
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("text", [b"", b"\n\n"])
def test_no_puzzle_at_all_ends_with_2_and_says_what_was_expected(text):
    done = run(text)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"nonobot: no puzzle on standard input; a puzzle starts with '$1' (see --help)\n"


def test_text_that_is_no_batch_ends_with_2():
    done = run(b"<html>\n<body>\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"line 1: '<html>' stands before the first '$'; expected '$1'\n")


@pytest.mark.parametrize("option", ["--log", "--stats"])
def test_a_record_that_cannot_be_written_ends_with_2_before_anything_is_solved(option, tmp_path):
    done = run(batch(GOOD), "--size", "2x2", option, str(tmp_path / "missing" / "file"))
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == (
        f"nonobot: cannot write {tmp_path / 'missing' / 'file'}: No such file or directory\n"
    )


@pytest.mark.parametrize("closing", ["<&-", ">&-"])
def test_a_stream_that_is_closed_from_the_start_ends_it_without_a_traceback(closing):
    command = subprocess.list2cmdline([*COMMAND, "--size", "2x2"])
    done = subprocess.run(
        ["sh", "-c", f"exec {command} {closing}"], input=batch(GOOD), capture_output=True, timeout=PATIENCE_SECONDS
    )
    assert done.returncode in (1, 2)
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr


def test_a_closed_stdout_does_not_turn_the_log_into_the_answer_file(tmp_path):
    log = tmp_path / "log"
    command = subprocess.list2cmdline([*COMMAND, "--size", "2x2", "--log", str(log)])
    done = subprocess.run(
        ["sh", "-c", f"exec {command} >&-"], input=batch(GOOD), capture_output=True, timeout=PATIENCE_SECONDS
    )
    assert done.returncode != 0
    assert b"$" not in (log.read_bytes() if log.exists() else b"")
