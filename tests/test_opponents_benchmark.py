"""The benchmark of the opponents, and the small boards that it plays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.papers import deduce
from nonobot.harness.opponents.benchmark import Player, Timing
from nonobot.protocol import Puzzle, Record, format_puzzle, read_batch
from tests.talking import GOOD, NONE, PATIENCE_SECONDS

SMALL = Path(__file__).parent.parent / "tournaments" / "small"
SIZES = [(5, 10), (10, 11), (14, 25), (20, 20), (27, 23), (34, 34), (34, 40), (45, 45)]

pytestmark = [pytest.mark.usefixtures("compiled"), pytest.mark.slow]


# The boards


def boards(size: tuple[int, int]) -> list[Puzzle]:
    with (SMALL / f"{size[0]}x{size[1]}.txt").open("rb") as lines:
        entries = list(read_batch(lines, size))
    return [entry.puzzle for entry in entries]


def test_there_is_a_file_for_each_size_and_no_other():
    assert {path.stem for path in SMALL.glob("*.txt")} == {f"{width}x{height}" for width, height in SIZES}


@pytest.mark.parametrize("size", SIZES)
def test_the_first_board_is_line_solvable_and_the_second_is_not(size):
    first, second = boards(size)
    assert (deduce(first, 0) >= 0).all()
    known = deduce(second, 0) >= 0
    assert known.mean() < 2 / 3  # much is left to find


@pytest.mark.parametrize("size", SIZES)
def test_each_board_has_a_single_solution(size):
    strategy = ChampionStrategy(0, ())
    strategy.prepare(lambda: None)
    for puzzle in boards(size):
        assert strategy.solve(puzzle, solutions=2).verdict == "unique"


# Playing


def entry(puzzle: Puzzle) -> Record:
    return Record(puzzle, number=7)


def scripted(folder: Path, answer: str) -> list[str]:
    """Return the command of a bot that answers a first 2x2 board with zeros, and others with `answer`."""
    path = folder / "scripted.py"
    path.write_text(
        "import sys, time\n"
        "answer = '$1\\n0\\t0\\n0\\t0\\n'\n"
        "for line in sys.stdin:\n"
        "    if line.startswith('$'):\n"
        "        lines = 0\n"
        "    lines += 1\n"
        "    if lines == 5:\n"
        "        if answer == 'crash':\n"
        "            sys.exit('so it goes')\n"
        "        sys.stdout.write(answer)\n"
        "        sys.stdout.flush()\n"
        f"        answer = {answer!r}\n"
        "        if not answer:\n"
        "            time.sleep(1000)\n"
    )
    return [sys.executable, str(path)]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("$7\n1\t0\n1\t1\n", "solved"),
        ("$7\n1\t1\n1\t1\n", "wrong"),
        ("$7\n0\t0\n0\t0\n", "unsolved"),
        ("$7\nnonsense\n", "unsolved"),
    ],
)
def test_an_answer_is_verified(answer, status, tmp_path):
    with Player(scripted(tmp_path, answer), (2, 2), limit=PATIENCE_SECONDS) as player:
        assert player.play(entry(GOOD)).status == status


def test_a_bot_that_does_not_keep_its_limit_is_ended(tmp_path):
    with Player(scripted(tmp_path, ""), (2, 2), limit=0.1) as player:
        timing = player.play(entry(GOOD))
    assert timing.status == "timeout"
    assert timing.reason == "ended 2 s after the limit"


def test_a_bot_that_crashes_is_told_from_one_that_is_late(tmp_path):
    with Player(scripted(tmp_path, "crash"), (2, 2), limit=PATIENCE_SECONDS) as player:
        assert player.play(entry(GOOD)) == Timing("unsolved", 0.0, "the bot ended: so it goes")
        assert not player.is_running


def test_what_the_bot_said_is_the_reason():
    with Player([sys.executable, "-m", "nonobot.harness.opponents.csp_gac"], (2, 2), PATIENCE_SECONDS) as player:
        timing = player.play(entry(NONE))
        assert player.play(entry(GOOD)).status == "solved"
    assert timing.status == "unsolved"
    assert timing.reason == "$7: line 6: the puzzle has no solution"


def test_a_bot_that_cannot_start_ends_the_benchmark_with_its_words(tmp_path):
    (tmp_path / "bot.py").write_text("import sys\nsys.exit('nothing works')")
    with pytest.raises(RuntimeError, match="nothing works"):
        Player([sys.executable, str(tmp_path / "bot.py")], (2, 2), 1.0)


@pytest.mark.parametrize(
    ("timing", "shown"),
    [
        (Timing("solved", 0.0012345), "1.23"),
        (Timing("solved", 0.0123456), "12.3"),
        (Timing("solved", 1.2345678), "1235"),
        (Timing("timeout", 10.0), "timeout"),
    ],
)
def test_times_are_shown_in_milliseconds(timing, shown):
    assert str(timing) == shown


def benchmark(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nonobot.harness.opponents.benchmark", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


def test_the_table_has_a_line_for_each_puzzle_and_notes_below():
    done = benchmark(
        "--only", "csp_gac,line_logic", "--limit", PATIENCE_SECONDS, SMALL / "5x10.txt", SMALL / "45x45.txt"
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "| puzzle | champion | csp_gac | line_logic |"
    cells = [line.strip("| ").split(" | ") for line in lines[2:6]]
    assert [row[0] for row in cells] == ["5x10 $1", "5x10 $2", "45x45 $1", "45x45 $2"]
    assert [row[2] for row in cells[2:]] == ["unsolved"] * 2
    assert all(float(text) > 0 for row in cells[:2] for text in row[1:])
    assert lines[7].startswith("- csp_gac, 45x45 $1: $1: line 92: the table of row 7 has")
    assert done.returncode == 0


def test_the_totals_have_a_line_for_each_bot(tmp_path):
    questions = tmp_path / "2x2.txt"
    questions.write_bytes(b"".join(format_puzzle(number, GOOD) for number in range(1, 6)))
    done = benchmark("--total", "--every", 2, "--only", "csp_fc", questions)
    lines = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()]
    assert lines[0] == ["bot", "solved", "CPU seconds", "times the champion"]
    assert [line[:2] for line in lines[2:]] == [["champion", "3 of 3"], ["csp_fc", "3 of 3"]]
    assert lines[2][3] == "1.0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--only", "sat,magic"), "--only: 'magic' is not an opponent; there are block_backtracking, "),
        (("--limit", "0"), "--limit must be above 0, --every and --tries 1 or more"),
        (("missing.txt",), "missing.txt"),
    ],
)
def test_unusable_arguments_end_with_status_2_and_a_line(arguments, message):
    done = benchmark(*arguments)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 2


def test_a_puzzle_that_cannot_be_read_is_named(tmp_path):
    questions = tmp_path / "2x2.txt"
    questions.write_bytes(b"$1\n1\n1\n2x\n1\n")
    done = benchmark(questions)
    assert f"{questions}: $1: line 4: clue '2x' is not a number" in done.stderr
    assert done.returncode == 2
