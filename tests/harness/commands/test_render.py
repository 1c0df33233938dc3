"""`nonojudge render`: what it takes, prints and writes, on real terminals and pipes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nonobot.harness import cli
from nonobot.harness.pictures import drawings
from nonobot.protocol import BLACK, Record, Solution, format_answer, format_puzzle
from nonobot.protocol.characters import Place
from nonobot.protocol.formats import write
from nonobot.protocol.svg import DARK, LIGHT
from nonobot.tournament_data import Recipe
from tests.helpers.pictured import (
    LETTER_P,
    P_PUZZLE,
    cells_from,
    pixels_of,
    read_terminal,
    rgb,
    svg_texts,
    wrong_p,
)
from tests.helpers.terminals import Terminal

START = [[0] * 8, [0, 1, 1, 1, 1, 0, 0, 0], *[[-1] * 8] * 9]
P_START = write([Record(P_PUZZLE, start=START, title="The letter P")], "grid")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, own_folder, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    Path("p.txt").write_bytes(format_puzzle(1, P_PUZZLE) + format_puzzle(2, P_PUZZLE) + format_puzzle(5, P_PUZZLE))
    Path("start.txt").write_bytes(P_START.data)
    Path("answers.txt").write_bytes(
        format_answer(1, Solution(cells_from(LETTER_P)))
        + format_answer(2, Solution(wrong_p().cells))
        + format_answer(2, Solution(cells_from(LETTER_P)))  # the first answer counts
    )


def render(*arguments):
    return cli.run(["render", *arguments])


def refused(capsys, *arguments):
    assert render(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err.strip().splitlines()[-1]


def on_a_terminal(*arguments, columns=100, **environment):
    """Return what `nonojudge render` writes to a terminal, its styles in it, and its exit status."""
    command = [sys.executable, "-m", "nonobot.harness", "render", *arguments]
    with Terminal(command, columns, 60, environment, standard_input=b"", errors_too=True) as terminal:
        status, written, _ = terminal.end()
    return written.replace("\r\n", "\n"), status


def without_styles(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize(
    ("numbers", "drawn"), [("", "1"), ("2", "2"), ("1,5", "15"), ("2-9", "25"), ("all", "125"), ("5,1-2", "125")]
)
def test_render_draws_the_first_puzzle_or_the_requested_numbers(numbers, drawn, output_of):
    out, err = output_of(render, "p.txt", "--size", "8x11", *(["--number", numbers] if numbers else []))
    assert ("--number all draws all" in err) == (not numbers)
    assert re.findall(r"^\$(\d+)  8x11$", out, re.MULTILINE) == list(drawn)
    assert "█" not in out


def test_render_draws_the_solution_or_the_start_board(capsys, output_of):
    assert render("boardgen:12x9x3:seed=4", "--solution", "--number", "3") == 0
    _, solution = list(Recipe.parse("boardgen:12x9x3:seed=4").boards())[2]
    lines = capsys.readouterr().out.splitlines()[1:]
    assert np.array_equal(read_terminal(lines, 2), solution.cells == BLACK)
    caption, *lines = output_of(render, "start.txt").out.splitlines()
    assert caption == "$1 The letter P  8x11"
    assert np.argwhere(read_terminal(lines, 2)).tolist() == [[1, 1], [1, 2], [1, 3], [1, 4]]
    assert sum(line.count("·") for line in lines) == 12


def test_render_marks_right_wrong_and_missing_answers(output_of):
    out = output_of(render, "p.txt", "--size", "8x11", "--answers", "answers.txt", "--number", "all").out
    right, wrong, missing = out.split("\n\n")
    assert right.startswith("$1  8x11\n")
    assert "✗" not in right
    assert np.array_equal(read_terminal(right.splitlines()[1:], 2), cells_from(LETTER_P) == BLACK)
    assert wrong.startswith("$2 wrong  8x11\n")
    assert wrong.splitlines()[-4:] == [
        "row 4: expected 2 2, found 3 2",
        "row 9: expected 2, found 2 1",
        "column 4: expected 2 2, found 3 2",
        "column 7: expected 4, found 4 1",
    ]
    assert missing.startswith("$5 missing  8x11\n")
    assert "█" not in missing


@pytest.mark.parametrize(
    ("answer", "name", "word"),
    [
        ("$1\ntimeout\n", "$1 given-up", "timeout"),
        ("$1\n", "$1 given-up", "nothing written"),
        ("$1\n0\t0\n", "$1 malformed", "line 2: 2 numbers, expected 8"),
        ("$1\n" + "0\t0\t0\t0\t0\t0\t0\t0\n" * 11, "$1 given-up", "zeros"),
    ],
)
def test_render_describes_answers_without_a_grid(answer, name, word, output_of):
    Path("answers.txt").write_text(answer)
    lines = output_of(render, "p.txt", "--size", "8x11", "--answers", "answers.txt").out.splitlines()
    assert lines[0] == f"{name}  8x11"
    assert lines[-1] == word
    assert "✗" not in "".join(lines)


def test_render_shortens_long_error_lists_and_escapes_unencodable_titles(output_of):
    Path("answers.txt").write_bytes(format_answer(1, Solution(np.ones((11, 8), dtype=int))))
    lines = output_of(render, "p.txt", "--size", "8x11", "--answers", "answers.txt").out.splitlines()
    assert lines[-1] == "and 11 more"
    assert lines[-2].startswith("row 8: ")
    Path("title.grid").write_text("1x1\ntitle: Ünï\nrows 1\ncolumns 1\n", encoding="utf-8")
    command = [sys.executable, "-m", "nonobot.harness", "render", "title.grid"]
    done = subprocess.run(command, env=os.environ | {"PYTHONIOENCODING": "ascii"}, capture_output=True, check=True)
    assert done.stdout.startswith(b"$1 ?n?  1x1\n")


def test_a_png_in_the_colours_of_its_theme(capsys):
    for theme, colours in (("light", LIGHT), ("dark", DARK)):
        arguments = ["p.txt", "--size", "8x11", "--answers", "answers.txt", "-o", f"{theme}.png"]
        assert render(*arguments, "--theme", theme) == 0
        pixels = pixels_of(Path(f"{theme}.png").read_bytes())
        assert pixels[0, 0].tolist() == rgb(colours.paper)
        assert (pixels == rgb(colours.colours["ink"])).all(axis=2).sum() > 30 * 24 * 24
    assert capsys.readouterr().out.splitlines()[0] == "picture: light.png (1 puzzle, 257x342 pixels)"


def test_an_svg_sheet_shows_wrong_rows_and_columns(output_of):
    arguments = ["p.txt", "--size", "8x11", "--answers", "answers.txt", "--number", "all"]
    out = output_of(render, *arguments, "-o", "sheet.svg", "--columns", "2", "--no-clues", "--cell", "9").out
    assert "$2 wrong: row 4: expected 2 2, found 3 2\n" in out
    assert out.splitlines()[-1].startswith("picture: sheet.svg (3 puzzles, ")
    texts = svg_texts(Path("sheet.svg").read_text(encoding="utf-8"))
    assert [text for _, _, text in texts] == ["$1", "$2 wrong", "$5 missing"]
    assert texts[0][1] == texts[1][1] < texts[2][1]


def test_a_terminal_gets_colours_and_a_pipe_none(output_of):
    arguments = ["p.txt", "--size", "8x11", "--answers", "answers.txt", "--number", "2"]
    written, status = on_a_terminal(*arguments)
    assert status == 0
    assert re.search(r"\x1b\[1;31m *2 2✗", written)
    assert output_of(render, *arguments).out == without_styles(written)
    plain, status = on_a_terminal("boardgen:25x25x1:seed=3", columns=70, NO_COLOR="1")
    assert status == 0
    assert "\x1b" not in plain
    assert 30 < max(map(len, plain.splitlines())) <= 70


@pytest.fixture
def terminal(monkeypatch):
    """Return what makes standard output a terminal of a size, without colours, for drawings in this process."""

    def resize(columns=100, lines=60, encoding="utf-8", has_colours=False):
        place = Place(columns, lines - 1, encoding, has_colours)
        monkeypatch.setattr(drawings, "place_of_output", lambda: place)

    return resize


@pytest.mark.parametrize(
    ("columns", "lines", "encoding", "per_cell"),
    [(80, 60, "utf-8", 2), (70, 60, "utf-8", 1), (80, 30, "utf-8", 1), (90, 60, "ascii", 2)],
)
def test_render_uses_the_largest_blocks_that_fit_and_can_be_encoded(
    columns, lines, encoding, per_cell, terminal, output_of
):
    _, solution = next(Recipe.parse("boardgen:25x25x1:seed=3").boards())
    terminal(columns, lines, encoding)
    out = output_of(render, "boardgen:25x25x1:seed=3", "--solution").out
    drawn = out.splitlines()
    assert out.encode(encoding)
    assert max(map(len, drawn)) <= columns
    assert np.array_equal(read_terminal(drawn[1:], per_cell)[:25], solution.cells == BLACK)


def test_a_board_too_wide_for_the_terminal_is_reported_and_the_others_drawn(terminal, output_of):
    Path("boards.txt").write_text("1-1\n40-" + ":".join(["1"] * 40) + "\n2-1:1\n")
    terminal(50)
    out, err = output_of(render, "boards.txt", "--number", "all", status=1)
    assert re.findall(r"^\$(\d)  ", out, re.MULTILINE) == ["1", "3"]
    assert err == (
        "nonojudge: $2: the board is 52 columns wide, the terminal 50: widen it, "
        "leave out the clues (--no-clues: 42 columns) or draw a file (-o board.png)\n"
    )
    terminal(41)
    err = output_of(render, "boards.txt", "--number", "2", status=1).err
    assert "terminal 41: widen it or draw a file (-o board.png)" in err
    terminal(42)
    assert render("boards.txt", "--number", "2", "--no-clues") == 0


def test_unusable_half_blocks_are_explained(terminal, output_of):
    err = output_of(render, "start.txt", "--blocks", "half", status=1).err
    assert "unknown cells differ from white ones only in their colour" in err
    terminal(has_colours=True)
    assert "▄" in output_of(render, "start.txt", "--blocks", "half").out


def test_render_skips_an_unreadable_puzzle(capsys, output_of):
    bad, *good = (format_puzzle(number, P_PUZZLE) for number in (1, 2, 3))
    Path("bad.txt").write_bytes(b"".join([bad.replace(b"9", b"99", 1), *good]))
    out, err = output_of(render, "bad.txt", "--size", "8x11", "--number", "all", status=1)
    assert re.findall(r"^\$\d", out, re.MULTILINE) == ["$2", "$3"]
    assert err.startswith("bad.txt: $1: line ")
    assert len(err.splitlines()) == 1
    assert output_of(render, "bad.txt", "--size", "8x11", "--number", "2").err == ""
    assert "nothing that can be drawn" in refused(capsys, "bad.txt", "--size", "8x11", "--number", "1")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["boardgen:25x25x900:seed=1", "--number", "all", "-o", "a.png"], "draw fewer puzzles (--number)"),
        (["boardgen:2100x2000x1:seed=1"], "more than 4000000 cells"),
    ],
)
def test_too_many_cells_to_draw_are_a_one_line_error(arguments, message, capsys):
    assert message in refused(capsys, *arguments)
    assert not list(Path().glob("a.*"))


def test_the_name_of_an_official_set_means_that_set(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("NONOBOT_DATA", str(tmp_path / "sets"))
    Path("taai2011").write_text("1-1\n")
    assert "the official set taai2011 is not on this machine yet" in refused(capsys, "taai2011")
    assert render("./taai2011") == 0


def test_a_missing_pillow_is_a_one_line_error(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert "-m pip install Pillow" in refused(capsys, "p.txt", "--size", "8x11", "-o", "a.png")
    assert not Path("a.png").exists()
    assert render("p.txt", "--size", "8x11", "-o", "a.svg") == 0
