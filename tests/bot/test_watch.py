"""`nonobot --watch` and pictures as answers, on real terminals."""

import re
import signal

import pytest

from nonobot.protocol import PartialGrid, Puzzle, Record, format_puzzle
from nonobot.protocol.formats import write
from nonobot.tournament_data import load_set
from tests.helpers.places import PUZZLES, quoted
from tests.helpers.talking import COMMAND, NONE, STRATEGIES, TWO
from tests.helpers.terminals import Terminal

pytestmark = pytest.mark.usefixtures("compiled")

P = PUZZLES / "p.non"
SET = load_set("boardgen:12x9x3:seed=4")
FAST = "--speed=1000"

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def questions(tmp_path) -> str:
    path = tmp_path / "questions.txt"
    path.write_bytes(SET.text)
    return str(path)


def watched(path: str, *options: str, **terminal) -> Terminal:
    return Terminal([*COMMAND, "--size", "12x9", "--watch", path, *options], **terminal)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_puzzle_is_shown_to_its_end_and_the_terminal_is_left_as_it_was(questions, strategy):
    with watched(questions, FAST, "--strategy", strategy) as terminal:
        for number in (1, 2, 3):
            terminal.wait_for(f"${number}  12x9  {strategy}: solved")
            terminal.wait_for("108 of 108 cells known. Any key continues")
            terminal.press("x")
        status, shown, err = terminal.end()
    assert (status, err) == (0, "")
    assert shown.startswith("\x1b[?1049h\x1b[?25l")
    assert shown.endswith("\x1b[?25h\x1b[?1049l")


@pytest.mark.parametrize("name", ["dumb", "unknown"])
def test_a_terminal_without_a_cursor_gets_no_codes(questions, name):
    with watched(questions, environment={"TERM": name}) as terminal:
        status, shown, err = terminal.end()
    assert (status, shown) == (2, "")
    assert err.strip() == f"nonobot: --watch: a terminal with TERM={name} has no cursor to move; leave --watch out"


def test_the_colour_of_a_cell_shows_which_method_set_it(questions):
    with watched(questions, FAST, "--strategy", "papers") as terminal:
        shown = terminal.wait_for("Any key continues", "q: quit")
    legend = shown[shown.rindex("black, white by") :]
    for word, black, white in (("propagation", 255, 240), ("probing", 120, 28)):
        swatch = f"\x1b[38;5;{black}m██\x1b[0m\x1b[38;5;{white}m██\x1b[0m {word}"
        assert swatch in legend
        end = shown.rindex("black, white by")  # another picture may have begun after it
        board = shown[shown.rindex("\x1b[H", 0, end) : end]
        assert f"38;5;{black}m" in board


def test_keys_pause_step_hurry_and_quit(questions):
    with watched(questions, "--speed", "0.01") as terminal:
        terminal.wait_for("1 of ")
        terminal.press("n")
        terminal.wait_for("2 of ")
        terminal.press("n")
        terminal.wait_for("3 of ")
        terminal.press("++")
        terminal.wait_for("cells known, paused")
        terminal.press(" ")
        terminal.wait_for("0.04 per second")
        terminal.press("b")
        terminal.wait_for("2 of ")
        terminal.press("e")
        end = re.search(r"the end after (\d+) steps", terminal.wait_for("q quits"))
        terminal.press("b")
        terminal.wait_for(f"{end[1]} of {end[1]}: ")
        terminal.press("bb")
        shown = terminal.wait_for(f"{int(end[1]) - 2} of {end[1]}: ")
        assert "108 of 108" not in shown.rpartition("\x1b[H")[2]  # the board steps back, too
        terminal.press("e")
        terminal.wait_for("q quits")
        terminal.press("q")
        status, shown, _ = terminal.end()
    assert status == 0
    assert "$2" not in shown


def test_ctrl_c_leaves_the_terminal_as_it_was(questions):
    with watched(questions, "--speed", "0.01") as terminal:
        terminal.wait_for("1 of ")
        assert not terminal.echoes
        terminal.process.send_signal(signal.SIGINT)
        status, shown, err = terminal.end()
    assert status == 130
    assert err == ""
    assert shown.endswith("\x1b[?25h\x1b[?1049l")


def test_watch_works_without_colours_and_on_narrow_terminals(questions):
    with watched(questions, FAST, environment={"NO_COLOR": "1"}) as terminal:
        shown = terminal.wait_for("Any key continues")
    assert not COLOUR.search(shown)
    assert "██" in shown
    with watched(questions, FAST, columns=44, lines=30) as terminal:
        text = " ".join(" ".join(terminal.screen("q: quit")).split())
    assert "contradiction" in text
    assert "n: next step b: step back + -: speed e: to the end q: quit" in text
    with watched(questions, FAST, columns=43, lines=30) as terminal:
        shown = COLOUR.sub("", terminal.wait_for("Any key continues"))
    assert not re.search("[^\r\nH]\x1b\\[[KJ]", shown)


@pytest.mark.parametrize(("columns", "lines"), [(60, 12), (18, 40), (20, 6), (12, 3)])
def test_on_a_small_terminal_watch_prints_the_size_it_needs(questions, columns, lines):
    with watched(questions, "--speed", "0.01", columns=columns, lines=lines) as terminal:
        if (columns, lines) == (12, 3):
            terminal.screen("^the terminal is too small: 12$")
            return
        sizes = rf"too small: {columns} columns, {lines} lines; enlarge it to (\d+) and (\d+) space:"
        wide, high = map(int, re.search(sizes, " ".join(terminal.screen(sizes))).groups())
        terminal.resize(wide, high - 1)
        terminal.screen(f"{high - 1} lines; enlarge it to {wide} and {high} space:")
        terminal.resize(wide, high)
        board = terminal.screen("cells known")
    assert board[0].startswith("$1  12x9  champion: solved")
    assert any(line.startswith("└") for line in board)


def test_a_malformed_or_unsolvable_puzzle_does_not_stop_watch(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes(b"$1\n1\n" + format_puzzle(2, NONE) + format_puzzle(3, TWO))
    with Terminal([*COMMAND, "--size", "2x2", "--watch", str(path), FAST]) as terminal:
        for shown, known in (
            ("$2  2x2  champion: unsolvable", "set, but the puzzle has no solution"),
            ("$3  2x2  champion: solved", "known"),
        ):
            terminal.wait_for(shown)
            end = terminal.wait_for("Any key continues").rpartition(" cells ")[2]
            assert end.startswith(f"{known}. ")
            terminal.press("x")
        status, _, err = terminal.end()
    assert status == 1
    assert err.startswith("$1: line 3: expected 4 clue lines")


def test_watch_shows_the_start_board_from_the_beginning(tmp_path):
    path = tmp_path / "start.grid"
    board = Puzzle.from_grid([[1, 1, 0, 1], [0, 1, 0, 0], [1, 0, 0, 1]])
    start = PartialGrid([[1, 1, 0, 1], [0, -1, 0, 0], [1, 0, -1, 1]])
    path.write_bytes(write([Record(board, start=start)], "grid").data)
    with watched(str(path), "--speed", "0.01") as terminal:
        terminal.wait_for("1 of 2: cells follow from a line, 11 of 12 cells known")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("no-such", None, "cannot read"),
        ("text", b"hello\n", "unknown format"),
        ("bad", b"$1\n1\n", "$1: line 2: "),
        ("none.xml", b"<puzzleset></puzzleset>", "none.xml: cannot find a puzzle to show"),
        ("large.oneline", b"1" + b":1" * 1022 + b"-1" + b":1" * 1022, "a 1023x1023 board is too large"),
    ],
)
def test_a_file_that_cannot_be_watched_is_an_error(tmp_path, name, text, why):
    path = tmp_path / name
    if text is not None:
        path.write_bytes(text)
    with watched(str(path)) as terminal:
        status, shown, err = terminal.end()
    assert status == 2
    assert why in err
    assert "Traceback" not in err
    assert shown == "" or shown.endswith("\x1b[?25h\x1b[?1049l")


def answered(text: bytes, *options: str, **terminal) -> str:
    with Terminal([*COMMAND, *options], standard_input=text, **terminal) as shown_on:
        status, shown, err = shown_on.end()
    assert (status, err) == (0, "")
    return shown.replace("\r\n", "\n")


def test_the_only_puzzle_of_a_file_is_answered_as_a_picture_on_a_terminal():
    shown = answered(P.read_bytes(), "--format", "auto", environment={"NO_COLOR": "1"})
    assert "4 │  ████████│      │\n" in shown
    assert "$1" not in shown


def test_a_small_terminal_gets_half_blocks_and_a_tiny_one_a_hint_about_files(tmp_path):
    board = write([Record(Puzzle.from_grid([[1] * 30, [0] * 30]))], "non").data
    assert "▀▀▀▀▀" in answered(board, "--format", "non", columns=50)
    path = tmp_path / "a board.non"
    path.write_bytes(board)
    shown = answered(b"", str(path), columns=20)
    assert shown == (
        "30x2: solved; the board needs 32 columns, the terminal has 20; draw it to a file: "
        f"nonobot {quoted(path)} | nonojudge render {quoted(path)} --answers - --number 1 -o 1.png\n"
    )
    assert "▀▀▀▀▀" in answered(b"", str(path), columns=32)  # so wide is enough


def test_several_puzzles_and_batches_are_pictures_too_each_with_its_number_and_title():
    two = write([Record(TWO, title="A pair"), Record(TWO)], "non").data
    lines = answered(two, "--format", "auto", environment={"NO_COLOR": "1"}).splitlines()
    assert [line for line in lines if line.startswith("$")] == ["$1 A pair", "$2"]
    assert sum("██" in line for line in lines) == 4
    lines = answered(format_puzzle(7, TWO), "--size", "2x2", environment={"NO_COLOR": "1"}).splitlines()
    assert lines[0] == "$7"
    assert sum("██" in line for line in lines) == 2


def test_an_unsolvable_puzzle_is_reported_and_a_bare_command_shows_usage():
    with Terminal([*COMMAND, "--size", "2x2"], standard_input=format_puzzle(1, NONE)) as shown_on:
        assert shown_on.end() == (1, "", "$1: line 1: the puzzle has no solution\n")
    with Terminal([*COMMAND]) as shown_on:
        status, shown, err = shown_on.end()
    assert (status, shown) == (2, "")
    assert err.startswith(
        "nonobot: cannot find a puzzle: standard input is this terminal; use one of\n  nonobot puzzle.non "
    )
