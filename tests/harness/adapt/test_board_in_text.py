"""Boards in what programs print."""

import json
import random
import re

import pytest

from nonobot.harness.adapt.board_in_text import Signs, board_in, boards_in, open_cells
from nonobot.protocol import Puzzle
from tests.helpers.printed_boards import drawing, output, random_board
from tests.helpers.waiting import alarm

RED = "\x1b[41m  \x1b[0m"
SMILE = [[1, 0, 0, 1], [0, 0, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0]]
PUZZLE = Puzzle.from_grid(SMILE)


def found(text, puzzle=PUZZLE, **signs):
    board = board_in(text, puzzle, Signs(**signs))
    return board and [list(row) for row in board.numbers()]


@pytest.fixture
def patience():
    """Fail a test that takes longer than the slowest machine: one with time that grows like a power does."""
    with alarm(60):
        yield


@pytest.mark.parametrize("seed", range(5))
def test_200_outputs_of_a_generator_are_read_right(seed):
    rng = random.Random(seed)
    wrong = []
    for _ in range(200):
        cells = random_board(rng)
        puzzle = Puzzle.from_grid(cells)
        text = output(rng, cells, puzzle)
        if found(text, puzzle) != cells:
            wrong.append(text)
    assert wrong == []


def test_a_board_that_the_output_does_not_contain_is_never_found():
    rng = random.Random(0)
    for _ in range(150):
        cells = random_board(rng)
        other = [[*row[:-1], 1 - row[-1]] for row in cells]
        if sum(map(sum, other)) != sum(map(sum, cells)):
            text = drawing(rng, other, Puzzle.from_grid(other))
            inverse = [[1 - cell for cell in row] for row in other]
            assert found(text, Puzzle.from_grid(cells)) in (None, cells, other, inverse)


@pytest.mark.parametrize(
    "text",
    [
        "#..#\n....\n#..#\n.##.\n",
        "Bold:\n \x1b[1m# . . #\x1b[0m\n . . . .\n # . . #\n . # # .\n",
        "██    ██\n\n██    ██\n  ████\n",
        "[[1, 0, 0, 1], [0, 0, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0]]",
        "[[True, False, False, True], [False]*4]\n[[True, False, False, True], [False, False, False, False],\n"
        " [True, False, False, True], [False, True, True, False]]",
        '{"rows": [[1, 1], [], [1, 1], [2]], "solution": ["#..#", "....", "#..#", ".##."]}',
        '{"rows": [[1, 1], [], [1, 1], [2]], "content": [1,-1,-1,1,-1,-1,-1,-1,1,-1,-1,1,-1,1,1,-1]}',
        "{{1,0,0,1},{0,0,0,0},{1,0,0,1},{0,1,1,0}};",
        "[[1 0 0 1]\n [0 0 0 0]\n [1 0 0 1]\n [0 1 1 0]]",
        "    1 1 1 1\n1 1 X__X\n  0 ____\n1 1 X__X\n  2 _XX_\n",
        "1 1|X--X\n0|----\n1 1|X--X\n2|-XX-\n",
        "+----+\n|X  X|\n|    |\n|X  X|\n| XX |\n+----+\n",
        "+-+-+-+-+\n|X| | |X|\n+-+-+-+-+\n| | | | |\n+-+-+-+-+\n|X| | |X|\n+-+-+-+-+\n| |X|X| |\n+-+-+-+-+\n",
        "X..X\r\n....\r\nX..X\r\n.XX.\r\n",
        f"{RED}    {RED}\n        \n{RED}    {RED}\n  {RED}{RED}  \n",
        "\x1b[H\x1b[2J#...\n....\n#..#\n.##.\n\x1b[H#..#\n....\n#..#\n.##.\n",
        "▀  ▀\n▀▄▄▀\n",
        "0110\n1111\n0110\n1001\n",  # 1 is white: ten cells are
        "x..x\n....\nx..x\n.xx.\n",
        "X  X\n\nX  X\n XX\n",
        "[[1. 0. 0. 1.]\n [0. 0. 0. 0.]\n [1. 0. 0. 1.]\n [0. 1. 1. 0.]]",
        "1.00e+00 0.00e+00 0.00e+00 1.00e+00\n0.00e+00 0.00e+00 0.00e+00 0.00e+00\n"
        "1.00e+00 0.00e+00 0.00e+00 1.00e+00\n0.00e+00 1.00e+00 1.00e+00 0.00e+00\n",
        "[['#', '.', '.', '#'], ['.', '.', '.', '.'], ['#', '.', '.', '#'], ['.', '#', '#', '.']]",
        "[['B' 'W' 'W' 'B']\n ['W' 'W' 'W' 'W']\n ['B' 'W' 'W' 'B']\n ['W' 'B' 'B' 'W']]",
        "[\n  '#', '.',\n  '.', '#'\n]\n[\n  '.', '.',\n  '.', '.'\n]\n"
        "[\n  '#', '.',\n  '.', '#'\n]\n[\n  '.', '#',\n  '#', '.'\n]\n",
        "Uint8Array(4) [ 1, 0, 0, 1 ]\nUint8Array(4) [ 0, 0, 0, 0 ]\nUint8Array(4) [ 1, 0, 0, 1 ]\n"
        "Uint8Array(4) [ 0, 1, 1, 0 ]\n",
        "true false false true\nfalse false false false\ntrue false false true\nfalse true true false\n",
        "Some([[Filled, Empty, Empty, Filled], [Empty, Empty, Empty, Empty], [Filled, Empty, Empty, Filled], "
        "[Empty, Filled, Filled, Empty]])",
        '[["B","W","W","B"],["W","W","W","W"],["B","W","W","B"],["W","B","B","W"]]',
        "[[1,null,null,1],[null,null,null,null],[1,null,null,1],[null,1,1,null]]",
        '{"event": "solution", "data": [[1,0,0,1],[0,0,0,0],[1,0,0,1],[0,1,1,0]]}',
        '{"solution": "#..#\\n....\\n#..#\\n.##.\\n", "seconds": 0.1}',
        'goal "1001000010010110"\n',
        "1001000010010110\n",
        "[| 1, 0, 0, 1 | 0, 0, 0, 0 | 1, 0, 0, 1 | 0, 1, 1, 0 |]",
        "X,,,X\n,,,\nX,,,X\n,X,X,\n",
        "■\u3000\u3000■\n\u3000\u3000\u3000\u3000\n■\u3000\u3000■\n\u3000■■\u3000\n",
        "static char *x[] = {\n\"4 4 2 1\",\n\"# c #000000\",\n\"#..#\",\n\"....\",\n\"#..#\",\n\".##.\"\n};\n",
        "\x1b[7m \x1b[0m  \x1b[7m \x1b[0m\n    \n\x1b[7m \x1b[27m  \x1b[7m \x1b[m\n \x1b[7m  \x1b[m \n",
    ],
)  # fmt: skip
def test_boards_of_other_programs(text):
    assert found(text) == SMILE


COLOURS = ["40", "30"], ["107", "97"]  # of black and white cells, as paper and as ink
DEEP = ["48;2;0;0;0", "38;2;0;0;0"], ["48;5;231", "38;5;231"]


@pytest.mark.parametrize("colours", [COLOURS, COLOURS[::-1], DEEP, DEEP[::-1]])
@pytest.mark.parametrize("cells", [SMILE, [[1, 1, 0, 1], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]]])
def test_two_colours_are_told_apart_also_if_half_the_cells_are_black(cells, colours):
    puzzle = Puzzle.from_grid(cells)
    (black, black_ink), (white, white_ink) = colours
    papers = "".join("".join(f"\x1b[{black if cell else white}m  " for cell in row) + "\x1b[0m\n" for row in cells)
    assert found(papers, puzzle) == cells
    inks = "".join("".join(f"\x1b[{black_ink if cell else white_ink}m█" for cell in row) + "\n" for row in cells)
    assert found(inks, puzzle) == cells
    for half, sign in ((0, "▀"), (1, "▄")):
        text = ""
        for pair in (cells[:2], cells[2:]):
            for above, below in zip(*(pair[half], pair[1 - half]), strict=True):
                text += f"\x1b[{black_ink if above else white_ink};{black if below else white}m{sign}"
            text += "\x1b[0m\n"
        assert found(text, puzzle) == cells


def test_usual_signs_are_exchanged_only_if_their_board_is_right():
    inverse = "".join("".join("#."[cell] for cell in row) + "\n" for row in SMILE)
    assert found(inverse) == SMILE
    assert found(inverse.replace("#..#", "##..", 1).replace(".##.", "##..", 1)) is None
    blank, full = Puzzle.from_grid([[0] * 3] * 3), Puzzle.from_grid([[1] * 3] * 3)
    assert found("...\n" * 3, blank) == [[0] * 3] * 3
    assert found("###\n" * 3, full) == [[1] * 3] * 3
    assert found("###\n" * 3, blank) is None
    assert found("...\n" * 3, full) is None


def test_rows_that_are_left_out_in_the_middle_are_not_added_at_the_end():
    cells = [[1, 0, 1], [0, 0, 0], [1, 1, 0]]
    assert found("#.#\n\n##.\n".replace(".", " "), Puzzle.from_grid(cells)) == cells
    assert found("# #\n## \n", Puzzle.from_grid(cells)) is None
    assert found("# #\n##\n\n", Puzzle.from_grid([cells[0], cells[2], cells[1]])) == [cells[0], cells[2], cells[1]]


def test_cells_that_may_be_open_are_not_white_beside_white_ones():
    rows = [[1, 0, 0, 1], [0, None, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0]]
    for text in (str(rows), json.dumps(rows), str(rows).replace("None", "-1")):
        assert found(text) is None
        assert len(open_cells(text, PUZZLE, Signs())) == 3


def test_the_last_board_counts():
    assert found("##..\n....\n.##.\n.##.\n\n#..#\n....\n#..#\n.##.\n\nbye\n") == SMILE
    last = [[1, 1, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0]]
    assert found("#..#\n....\n#..#\n.##.\n\n##..\n....\n.##.\n.##.\n") == last


@pytest.mark.parametrize(
    "text",
    ["", "no solution\n", "#..#\n....\n#..#\n", "#..#\n....\n#..#\n.#..\n", "#?.#\n....\n#..#\n.##.\n"],
)
def test_what_is_no_board_is_none(text):
    assert found(text) is None


def test_signs_and_surroundings_can_be_named():
    text = "a b\nWbbW\nbbbb\nWbbW\nbWWb\n"
    assert found(text, black="W", white="b") == SMILE
    half = [[1, 1], [0, 0]]
    assert found("..\n##\n", Puzzle.from_grid(half)) is not None  # as many are black as white: # is black
    assert found("..\n##\n", Puzzle.from_grid(half), black=".") == half
    two = "last: #..#\n....\n#..#\n.##.\nfirst: ##..\n....\n.##.\n.##.\n"
    assert (
        found("A\n#..#\n....\n#..#\n.##.\nB\n##..\n....\n.##.\n.##.\n", pattern=re.compile(r"A\n(.*)B", re.DOTALL))
        == SMILE
    )
    assert found(two, pattern=re.compile("nowhere")) is None
    words = [["on" if cell else "out" for cell in row] for row in SMILE]
    assert found(str(words).replace("'", ""), black="on", white="out") == SMILE
    assert found("\n".join(map(" ".join, words)), black="on", white="out") == SMILE
    pairs = "".join("".join("()" if cell else "::" for cell in row) + "\n" for row in SMILE)
    assert found(pairs, black="()", white="::") == found(pairs.replace(":", " "), black="()") == SMILE


@pytest.mark.parametrize("signs", ["WB", "nj", "+-", "x~", "?!", " q", "日月"])
@pytest.mark.parametrize("form", ["{}", "solved in 3 s:\n{}\nbye", "12 3 |{}", "[{}]"])
def test_two_other_signs_are_read_if_their_board_is_right(signs, form):
    for cells in (SMILE, [[1, 1], [0, 1]], [[1, 0, 1], [0, 1, 0]]):
        if signs == " q" and "|" in form:
            continue  # the gaps between clues are cells, too
        rows = ["".join(signs[cell] for cell in row) for row in cells]
        text = "\n".join(map(form.format, rows) if "|" in form else [form.format("\n".join(rows))])
        text = str(rows) if form == "[{}]" else text
        puzzle = Puzzle.from_grid(cells)
        assert found(text, puzzle) == cells
        assert boards_in(f"{text}\n{text}", [puzzle, puzzle], Signs())[1]
        assert cells != SMILE or found(text, Puzzle.from_grid(SMILE[::-1])) is None


def test_escaped_signs_of_json_are_read():
    assert found(json.dumps({"solution": ["█  █", "    ", "█  █", " ██ "]})) == SMILE


def test_open_cells_are_seen_in_pictures_and_lists():
    for text in ("x#?#\n####\n#x##\nxxxx\n", '["x# #", "####", "#x##", "xxxx"]', "|x|#|?|#|\n" * 4):
        assert len(open_cells(text, PUZZLE, Signs())) == 3
    assert open_cells("x##x\nxxxx\nx##x\nx##x\n", PUZZLE, Signs()) == ""


def test_boards_of_a_file_go_to_the_puzzles_that_they_solve():
    rng = random.Random(1)
    boards = [random_board(rng, 9) for _ in range(12)]
    puzzles = [Puzzle.from_grid(cells) for cells in boards]
    pictures = ["".join("".join(".#"[cell] for cell in row) + "\n" for row in cells) for cells in boards]
    text = "".join(f"{number}:\n{picture}" for number, picture in enumerate(pictures) if number != 5)
    got = boards_in(text, puzzles, Signs())
    assert [board and [list(row) for row in board.numbers()] for board in got] == [*boards[:5], None, *boards[6:]]


@pytest.mark.parametrize(
    "text",
    [
        "[[1, 0, 0, 1]" + "\n  [0, 0, 0, 0]" * 500,
        "['#..#'" + "\n  '#..#'" * 500,
        "[[" * 20_000,
        "\x1b]0;a title" * 20_000,
        '"' + "\\n" * 100_000,
        "\x1b[" + "9" * 10_000 + "m█\n",
        "1." + "0" * 200_000 + "e" + "0" * 200_000,
        "[|" * 50_000 + "|" * 100_000,
        "\n".join([" " * 4000] * 100),
        pytest.param("#\n" * 3000 + " " * 5000, marks=pytest.mark.slow),
        ("#" + " " * 300 + "\n") * 1000,
    ],
)
@pytest.mark.usefixtures("patience")
def test_what_is_never_finished_or_almost_blank_is_read_soon(text):
    assert found(text) is None
    assert boards_in(text, [PUZZLE] * 3, Signs()) == [None] * 3
