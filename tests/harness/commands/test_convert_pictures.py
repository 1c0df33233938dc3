"""`nonojudge convert` of a picture: the puzzle, what is said of its solutions, `--unique`, what cannot be used."""

import contextlib
import functools
import io
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nonobot.harness import UnusableError, cli
from nonobot.harness.puzzles import picture_puzzle
from nonobot.harness.puzzles.grading import grading_bot
from nonobot.protocol import Puzzle, Record, Solution, formats
from tests import naive
from tools.drawn_boards import noise

pytestmark = pytest.mark.usefixtures("compiled", "own_folder")

WRITTEN = "1 puzzle written to out.non (non)"
DIAGONAL = np.eye(3, dtype=bool)
CORNER = np.array([[1, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0]], bool)


@pytest.fixture(scope="module", autouse=True)
def _bots_stay():
    """Ask a bot of the same command board after board, whichever tests the boards are of: one is started once."""
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:

        @functools.cache
        def kept(*size, **terms):
            return stack.enter_context(grading_bot(*size, **terms))

        patch.setattr(
            picture_puzzle, "grading_bot", lambda *size, **terms: contextlib.nullcontext(kept(*size, **terms))
        )
        yield


@pytest.fixture
def convert(capsys):
    """Return what carries out a conversion and returns its exit status and the lines it said."""

    def run(*arguments):
        capsys.readouterr()
        status = cli.run(["convert", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert out == ""
        return status, err.splitlines()

    return run


def draw(name, cells, times=1):
    large = np.kron(cells, np.ones((times, times), bool))
    Image.fromarray(np.where(large, 0, 255).astype(np.uint8)).save(name)


def record_in(name):
    [record] = formats.read(Path(name).read_bytes())
    return record


@pytest.mark.parametrize("name", ["corner.png", "corner.PBM", "corner.gif", "corner.bmp"])
def test_a_picture_becomes_the_puzzle_that_was_drawn(name, convert):
    draw(name, CORNER)
    line = f"{name}: unique: the clues have no other solution"
    assert convert(name, "out.non") == (0, [line, WRITTEN])
    assert record_in("out.non") == Record(Puzzle.from_grid(CORNER), solution=Solution(CORNER), title="corner")


def test_a_picture_is_scaled_to_a_width_or_height_and_tga_needs_from_picture(convert):
    draw("corner.png", CORNER, times=25)
    assert convert("corner.png", "out.grid", "--width", 4)[0] == 0
    assert record_in("out.grid").solution == Solution(CORNER)
    assert convert("corner.png", "out.grid", "--height", 6)[0] == 0
    assert record_in("out.grid").size == (8, 6)
    draw("corner.tga", CORNER)
    assert convert("corner.tga", "out.non")[0] == 2
    assert convert("corner.tga", "out.non", "--from", "picture")[0] == 0
    assert record_in("out.non").solution == Solution(CORNER)


@pytest.mark.parametrize("way", [[], ["--threshold", "0.5"], ["--dither"]])
def test_options_reach_the_cells_of_the_picture(way, convert):
    Image.new("L", (7, 3), 0).save("flat.png")
    for option, colour in (("--unique", 1), ("--invert", 0)):
        assert convert("flat.png", "out.non", option, *way)[0] == 0
        assert record_in("out.non").solution == Solution(np.full((3, 7), colour))


def test_a_picture_on_stdin_has_no_title(monkeypatch, convert):
    draw("corner.png", CORNER)
    data = Path("corner.png").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert convert("-", "out.non") == (0, ["stdin: unique: the clues have no other solution", WRITTEN])
    assert record_in("out.non") == Record(Puzzle.from_grid(CORNER), solution=Solution(CORNER))


def test_the_first_of_several_pictures_is_used_with_a_warning(convert):
    shades = [Image.new("L", (2, 2), shade) for shade in (255, 128, 0)]
    shades[0].save("moving.gif", save_all=True, append_images=shades[1:])
    status, said = convert("moving.gif", "out.non")
    assert (status, said[0]) == (0, "moving.gif: warning: it contains 3 pictures; the first is used")
    assert record_in("out.non").solution == Solution(np.zeros((2, 2)))


def test_cells_that_differ_between_solutions_are_listed(convert):
    draw("d.png", DIAGONAL)
    assert convert("d.png", "out.xml") == (
        0,
        [
            "d.png: not unique: 6 solutions; 9 cells not settled: row 1 columns 1\u20133; row 2 columns 1\u20133; "
            "row 3 columns 1\u20133",
            "d.png: --unique changes cells until there is one; "
            "`nonobot --format auto --solutions 2 < out.xml` shows two of them",
            "1 puzzle written to out.xml (webpbn)",
        ],
    )
    wide = np.zeros((6, 9), bool)
    wide[[0, 1], [4, 8]] = True
    draw("wide.png", wide)
    said = convert("wide.png", "my out.taai")[1]
    assert said[0] == (
        "wide.png: not unique: 2 solutions; 4 cells not settled: row 1 columns 5, 9; row 2 columns 5, 9"
    )
    assert "`nonobot --size 9x6 --solutions 2 < 'my out.taai'` shows two of them" in said[1]


def test_the_suggested_command_shows_two_solutions(convert):
    draw("d.png", DIAGONAL)
    for target in ("out.non", "out.taai"):
        command = convert("d.png", target)[1][1].split("`")[1]
        program, *options, _, name = command.split()
        assert program == "nonobot"
        bot = [sys.executable, "-m", "nonobot", *options]
        shown = subprocess.run(bot, input=Path(name).read_bytes(), capture_output=True)
        assert shown.stdout.count(b"$1\n") == 2


def test_many_solutions_and_an_unfinished_search_are_reported(convert):
    draw("d.png", np.eye(8, dtype=bool))
    line = convert("d.png", "out.non")[1][0]
    assert re.fullmatch(r"d\.png: not unique: 100 solutions or more; at least \d+ cells .*; \d more rows?", line)
    generator = np.random.default_rng(5)
    draw("hard.png", generator.random((60, 60)) < 0.35)
    line = "hard.png: cannot tell within 0.001 s whether there are other solutions (--puzzle-limit)"
    assert convert("hard.png", "out.non", "--puzzle-limit", 0.001) == (0, [line, WRITTEN])
    status, said = convert("hard.png", "out.non", "--puzzle-limit", 0.001, "--unique")
    assert status == 1
    assert said[0].startswith(
        "hard.png: no unique puzzle found, the board is as it was drawn (1 board tried, up to 0.001 s each; "
    )


@pytest.mark.parametrize("option", ["--invert", "--unique"])
def test_a_board_that_is_too_much_for_the_bot_is_written_all_the_same(option, monkeypatch, convert):
    draw("d.png", DIAGONAL)

    def fail(*_):
        raise UnusableError("the bot cannot solve such boards: why")

    monkeypatch.setattr("nonobot.harness.puzzles.grading.GradingBot.findings", fail)
    line = "d.png: cannot tell whether there are other solutions: the bot cannot solve such boards: why"
    assert convert("d.png", "out.non", option) == (option == "--unique", [line, WRITTEN])
    assert record_in("out.non").solution == Solution(DIAGONAL ^ (option == "--invert"))


def test_a_picture_is_made_unique_until_the_tries_end(convert):
    draw("d.png", DIAGONAL)
    status, said = convert("d.png", "out.non", "--unique")
    record = record_in("out.non")
    assert (record.solution.cells != DIAGONAL).sum() == 1
    assert status == 0
    assert said[0].startswith("d.png: unique with 1 cell of 9 changed: the clues have no other solution (")
    [only] = naive.solutions(record.puzzle)
    assert np.array(only).tolist() == record.solution.cells.tolist()
    assert record.title == "d"
    draw("d.png", np.eye(8, dtype=bool))
    tried = "3 boards tried, up to 10 s each; --tries, --puzzle-limit"
    line = f"d.png: no unique puzzle found, the board is as it was drawn ({tried})"
    assert convert("d.png", "out.non", "--unique", "--tries", 3) == (1, [line, WRITTEN])
    assert record_in("out.non").solution == Solution(np.eye(8))


def test_a_drawn_picture_is_made_unique(convert):
    draw("noise.png", noise(20, 20, random.Random("0")))
    assert "not unique" in convert("noise.png", "out.non")[1][0]
    assert convert("noise.png", "first.non", "--unique")[0] == 0
    assert convert("noise.png", "second.non", "--unique")[0] == 0
    assert Path("first.non").read_text().split("\n")[1:] == Path("second.non").read_text().split("\n")[1:]
    draw("again.png", record_in("first.non").solution.cells.astype(bool))
    assert convert("again.png", "out.non", "--unique")[1][0] == (
        "again.png: unique as it was drawn: the clues have no other solution"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("long.png", "long.png: a board of 2000x9 is too large: at most 1022 rows or columns; give a --width or"),
        ("broken.png", "broken.png: cannot read the picture: "),
        ("large.png", "large.png: more than 16 MiB; shrink the picture first"),
        ("long.png --size 20x9", "--size only applies to TAAI files; use --width and --height for a picture"),
        ("long.png --height 9 --tries 5", "--tries only applies to --unique"),
    ],
)
def test_unusable_pictures_cause_a_one_line_error(arguments, message, convert):
    Image.new("L", (2000, 9)).save("long.png")
    Path("broken.png").write_bytes(Path("long.png").read_bytes()[:60])
    with Path("large.png").open("wb") as file:
        file.write(Path("long.png").read_bytes())
        file.truncate(20_000_000)
    picture, *options = arguments.split()
    status, [line] = convert(picture, "out.xml", *options)
    assert status == 2
    assert line.startswith(f"nonojudge: {message}")
    assert not Path("out.xml").exists()
