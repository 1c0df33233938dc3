"""Boards in what a program prints: in any usual alphabet, among clues, frames, colours and other text.

A board is `height` text lines at equal distances, with `width` cells at equal distances, of two signs. The number
of black cells decides which sign is black, unless :class:`Signs` names them; the unusual choice, such as `.` for
black, must solve the puzzle. Nothing is solved: the clues only choose among readings that share cells, such as a
picture on white paper and the same one a column further left.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from nonobot.protocol import Puzzle, Solution
from nonobot.protocol.verify import mismatches

BLACK, WHITE = "█■⬛◼●▓#@*%&1X", "░○□◻⬜0·-_. "
USUAL = f"{BLACK}Ox{WHITE}"
"""Signs of cells. The earlier one is usually black."""

MOST_READINGS = 10_000  # tried in an output, in all: paper that is almost blank contains many
MOST_COLUMNS = 2_000  # of a text line that are looked at
MOST_PAIRS = 3  # of unusual signs that are tried
_PITCHES = ((1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (4, 1), (4, 2), (3, 2))  # from cell to cell, from row to row

_COMMANDS = re.compile(
    r"\x1b\[[0-9;?]*([A-Za-z])|\x1b[()][A-Z0-9]|\x1b\][^\x07\x1b]{0,1000}\x07|[\ufe0e\ufe0f\u200b]"
)
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")  # as in JSON
_QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"")
_BARS = re.compile(r"\[\|([^][]*)\|\]")  # as in MiniZinc
_FLOAT = re.compile(r"(?<![\w.])([01])\.0*(?:e[+-]?0+)?(?![\w.])")
_COLOUR = re.compile(r"\x1b\[([0-9;]{0,100})m")
_FIRST_COLOURS = {30: "", 40: "", 90: "bright ", 100: "bright "}
_UPRIGHT = re.compile("[|│┃║┆┊╎╏¦]")
_FRAME = re.compile(r"(?=.*[+─━═┌└├╔╚╠╭╰┬┴┼])[\s+|=─-╿-]+")
_FILLING = re.compile("[\\s|│┃║┆┊╎╏¦,;:'\"\\[\\](){}]")
_NESTED = re.compile(r"[\[({]\s*(?:[\[({][^][(){}]*[\])}][\s,]*)+[\])}]")
_LIST = re.compile(r"\[([^][]*)\]")
_TEXTS = re.compile(r"[\[({]\s*(?:(?:\"[^\"\n]*\"|'[^'\n]*')[\s,]*)+[\])}]")
_FLAT = re.compile(r"[\[({][^][(){}]*[\])}]")
_SQUARE = str.maketrans("(){}", "[][]")
_TEXT = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'")
_ITEM = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|([^\s,;\"']+)")
_BETWEEN_CELLS = ",", ";"
_OPEN = "∅"  # white in a list without another white: None may be that, or a cell that is not decided
_WORDS = {
    **dict.fromkeys(("1", "true", "black", "filled", "full", "yes", "on"), "1"),
    **dict.fromkeys(("0", "false", "white", "empty", "blank", "no", "off"), "0"),
    **dict.fromkeys(("none", "null", "nan", "-1"), _OPEN),
}
_UPPER, _LOWER = str.maketrans("▀▄", "█ "), str.maketrans("▀▄", " █")


@dataclass(frozen=True)
class Signs:
    """How a program draws, as far as the user says so."""

    black: str = ""
    white: str = ""
    pattern: re.Pattern[str] | None = None  # of the text around the board; its first group, if it has one

    @cached_property
    def ink(self) -> str:
        """The sign of a black cell, also if the program prints a word for it; empty if the user named none."""
        return self.black if len(self.black) < 2 else BLACK[0]

    @cached_property
    def paper(self) -> str:
        """The sign of a white cell; empty if the user named none."""
        return self.white if len(self.white) < 2 else WHITE[0]

    @cached_property
    def cells(self) -> str:
        """The signs that cells may have, in the order of USUAL."""
        named = self.ink, self.paper
        others = [] if all(named) else [sign for sign in USUAL if sign not in named]
        return "".join([self.ink, *others, self.paper])

    def fit(self, black: str, white: str) -> bool:
        """Return whether these signs of black and white cells, either may be missing, can be those of the user."""
        if self.ink not in ("", black):
            return False
        return self.paper in ("", white) or (self.paper != black and bool(self.ink))

    def with_signs(self, output: str) -> str:
        """Return an output in which the words for cells are signs; a word of letters becomes one sign."""
        for word, sign in ((self.black, self.ink), (self.white, self.paper)):
            if len(word) > 1:
                is_word = word.isalnum()
                pattern = rf"(?<!\w){word}(?!\w)" if is_word else re.escape(word)
                output = re.sub(pattern, sign if is_word else sign * len(word), output)
        return output


@dataclass(frozen=True)
class _View:
    """Text lines in which boards may be found."""

    lines: Sequence[str]
    numbers: Sequence[int]  # of these lines in the output
    signs: str  # of cells, the blackest first
    only_right: bool = False  # a wrong board may be an accident


class _Reading(NamedTuple):
    """What may be a board: its first text line, its first column there, and the signs of its cells."""

    line: int
    column: int
    cells: str


def board_in(output: str, puzzle: Puzzle, signs: Signs) -> Solution | None:
    """Return the last board in the output of a program that may be one of this puzzle, if there is any.

    A wrong board counts only if it stands apart: it must not be a part of something larger of the same signs.
    """
    left = iter(range(MOST_READINGS))
    wrong: tuple[int, int, Solution] | None = None  # the last wrong board, with its first and its last line
    for view in _views(_around(output, signs), puzzle.size, signs):
        for pitches in _PITCHES:
            for reading, _ in zip(_readings(view, puzzle.size, pitches, from_end=True), left, strict=False):
                first, last = reading.line, reading.line + pitches[1] * (puzzle.height - 1)
                first, last = view.numbers[first], view.numbers[last]
                if wrong and last < wrong[0]:
                    break  # an earlier board
                if solution := _solution(reading.cells, puzzle, view, signs):
                    if not mismatches(puzzle, solution):
                        return solution
                    is_later = not wrong or first > wrong[1]
                    if is_later and not view.only_right and _is_apart(reading, view, puzzle.size, pitches):
                        wrong = (first, last, solution)
    return wrong[2] if wrong else None


def boards_in(output: str, puzzles: Sequence[Puzzle], signs: Signs) -> list[Solution | None]:
    """Return a board for each puzzle of a file: in the order of the output, the next one that solves it."""
    best: list[Solution | None] = [None] * len(puzzles)
    text = _around(output, signs)
    most = MOST_READINGS + 100 * len(puzzles)
    [*sizes] = {puzzle.size: None for puzzle in puzzles}
    for views in zip(*(_views(text, size, signs) for size in sizes), strict=True):
        for pitches in _PITCHES:
            boards = {
                size: _by_black_cells(islice(_readings(view, size, pitches), most))
                for size, view in zip(sizes, views, strict=True)
            }
            found: list[Solution | None] = []
            line = 0
            for puzzle in puzzles:
                readings = boards[puzzle.size].get(_black_cells(puzzle), [])
                view = views[sizes.index(puzzle.size)]
                here, solution = _next_board(readings, line, puzzle, view, signs)
                line = here + puzzle.height * pitches[1] if solution else line
                found.append(solution)
            best = max(best, found, key=lambda boards: len(boards) - boards.count(None))
            if None not in best:
                return best
    return best


def _black_cells(puzzle: Puzzle) -> int:
    return sum(map(sum, puzzle.rows))


def _by_black_cells(readings: Iterable[_Reading]) -> dict[int, list[_Reading]]:
    """Return readings by the numbers of black cells that they may have."""
    by_count: dict[int, list[_Reading]] = {}
    for reading in readings:
        kinds = {*reading.cells}
        for black in {reading.cells.count(sign) for sign in kinds} | ({0} if len(kinds) == 1 else set()):
            by_count.setdefault(black, []).append(reading)
    return by_count


def _next_board(
    readings: Sequence[_Reading], line: int, puzzle: Puzzle, view: _View, signs: Signs
) -> tuple[int, Solution | None]:
    """Return the first reading from a text line on that solves a puzzle, with its line."""
    for reading in readings[bisect_left(readings, line, key=lambda reading: reading.line) :]:
        solution = _solution(reading.cells, puzzle, view, signs)
        if solution and not mismatches(puzzle, solution):
            return reading.line, solution
    return line, None


# --- views -------------------------------------------------------------------------------------------------------


def _around(output: str, signs: Signs) -> str:
    output = signs.with_signs(output)
    if signs.pattern is None:
        return output
    found = [*signs.pattern.finditer(output)]
    return (found[-1][1] if signs.pattern.groups else found[-1][0]) or "" if found else ""


def _views(output: str, size: tuple[int, int], signs: Signs) -> Iterator[_View]:
    """Yield the text of an output as it is, and then with less and less of what may surround cells."""
    text = _without_commands(output)
    every_line = _with_lists_drawn(text, size).split("\n")
    lines = every_line if every_line[-1] else every_line[:-1]
    every = range(len(lines))
    yield _View(_padded(lines), every, signs.cells)
    if "[]" in text:
        yield _View(_padded([line.replace("[]", "██") for line in lines]), every, signs.cells)
    kept = [number for number, line in enumerate(lines) if not _FRAME.fullmatch(line)]
    unframed = [_UPRIGHT.sub("", lines[number]) for number in kept]
    yield _View(_padded(unframed), kept, signs.cells)
    yield _View(_padded([line.rstrip() for line in lines], right=True), every, signs.cells)
    compact = {number: _FILLING.sub("", lines[number]) for number in kept}
    compact = {number: line for number, line in compact.items() if line}
    yield _View(_padded([*compact.values()]), [*compact], signs.cells)
    yield _View(_padded([*compact.values()], right=True), [*compact], signs.cells)
    words: dict[str, str] = {}
    rows = [_row_of_words(line, size[0], words) for line in lines]
    yield _View(_padded(rows), every, signs.cells)
    is_coloured = bool(_COLOUR.search(output))
    if "▀" in text or "▄" in text:
        halves = [half for line in unframed for half in (line.translate(_UPPER), line.translate(_LOWER))]
        numbers = [number for number in kept for _ in range(2)]
        yield _View(_padded(halves), numbers, signs.cells, only_right=is_coloured)
        yield _View(_padded(halves, further=size[0]), numbers, signs.cells, only_right=True)
    if is_coloured:
        coloured, numbers, kinds = _coloured(output)
        yield _View(_padded(coloured), numbers, kinds)
    # White rows and columns that the program has not printed at the end.
    yield _View(_padded(every_line), range(len(every_line)), signs.cells, only_right=True)
    yield _View(_padded(unframed, further=2 * size[0]), kept, signs.cells, only_right=True)
    pairs = [] if signs.black or signs.white else _other_pairs(rows)
    for number in range(MOST_PAIRS):  # as many views for each size
        yield _view_of_pair(rows, pairs[number]) if number < len(pairs) else _View([], [], "")


def _other_pairs(lines: Sequence[str]) -> list[str]:
    """Return the most frequent pairs of unusual signs that text lines consist of, but for frames and clues."""
    kinds = Counter("".join(sorted({*_cells_alone(line)})) for line in lines)
    pairs = [pair for pair, _ in kinds.most_common() if len(pair) == 2 and not {*pair} <= {*USUAL}]
    alone = [sign + " " for sign, _ in kinds.most_common() if len(sign) == 1 and sign not in USUAL]
    return [*pairs, *alone][:MOST_PAIRS]


def _view_of_pair(lines: Sequence[str], pair: str) -> _View:
    """Return the text lines of these two signs alone. A wrong board may be an accident, such as two letters."""
    cleaned = [_UPRIGHT.sub("", line) if " " in pair else _cells_alone(line) for line in lines]
    kept = [number for number, line in enumerate(cleaned) if line and {*line} <= {*pair}]
    return _View(_padded([cleaned[number] for number in kept]), kept, pair, only_right=True)


def _cells_alone(line: str) -> str:
    """Return a text line without frames, gaps, quotes and clues."""
    return _FILLING.sub("", re.sub("[0-9]", "", line[:MOST_COLUMNS]))


def open_cells(output: str, puzzle: Puzzle, signs: Signs) -> str:
    """Return the three signs of what has the size of a board, if the output has it; otherwise nothing."""
    width, height = puzzle.size
    lines = _with_lists_drawn(_without_commands(_around(output, signs)), puzzle.size).split("\n")
    for form in (lines, [_FILLING.sub("", line) for line in lines]):
        fits = [line for line in form if len(line) == width]
        for start in range(len(fits) - height + 1):
            kinds = {*"".join(fits[start : start + height])}
            if len(kinds) == 3:
                return "".join(sorted(kinds))
    return ""


def _padded(lines: Sequence[str], right: bool = False, further: int = 0) -> list[str]:
    """Return lines of one length, with spaces at their ends or at their beginnings."""
    length = min(max(map(len, lines), default=0), MOST_COLUMNS) + further
    return [line[-length:].rjust(length) if right else line[:length].ljust(length) for line in lines]


def _without_commands(output: str) -> str:
    """Return what a terminal shows; where a program moves the cursor, a text line ends."""
    text = output.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    text = text.replace("\u00a0", " ").replace("\u3000", " ")
    text = _ESCAPED.sub(lambda sign: chr(int(sign[1], 16)), text)
    if "\x1b" not in text and text.isascii():
        return text
    return _COMMANDS.sub(_line_end, text)


def _line_end(command: re.Match[str]) -> str:
    return "\n" if command[1] and command[1] in "HJf" else ""


def _with_lists_drawn(text: str, size: tuple[int, int]) -> str:
    """Return a text in which lists of rows or of all cells, as in JSON and Python, are drawn if they fit."""
    width, height = size
    words: dict[str, str] = {}

    def drawn(found: re.Match[str]) -> str:
        content = found[0].translate(_SQUARE)[1:-1]
        texts = ["".join(row) for row in _TEXT.findall(found[0])]
        if rows := _LIST.findall(content):
            rows = [_signs_of(row, words) for row in rows]
        elif len(texts) == height and {*map(len, texts)} == {width}:
            rows = texts
        else:
            cells = _signs_of(content, words)
            if len(cells) == width and len({*cells}) <= 2:
                return f"[{cells}]"  # a row
            rows = [cells[start : start + width] for start in range(0, len(cells), width)]
        if len(rows) != height or {*map(len, rows)} != {width}:
            return found[0]
        board = "\n".join(["", *rows, ""])
        return board if "0" in board else board.replace(_OPEN, "0")

    def lines_of(found: re.Match[str]) -> str:
        lines = found[1].split("\\n")
        return "\n".join(["", *lines, ""]) if lines[1:] else found[0]

    def in_lines(found: re.Match[str]) -> str:
        cells = found[1]
        rows = [cells[start : start + width] for start in range(0, len(cells), width)]
        return "\n".join(["", *rows, ""]) if len({*cells}) <= 2 else found[0]

    if "\\n" in text:
        text = _QUOTED.sub(lines_of, text)
    text = _BARS.sub(lambda found: "\n{}\n".format(found[1].replace("|", "\n")), _FLOAT.sub(r"\1", text))
    text = _FLAT.sub(drawn, _TEXTS.sub(drawn, _NESTED.sub(drawn, text)))
    if height == 1:
        return text
    return re.sub(rf"(?<!\S)[\"']?([^\s\"']{{{width * height}}})[\"']?(?!\S)", in_lines, text)


def _signs_of(row: str, words: dict[str, str]) -> str:
    """Return a sign for each item of a list; `words` has those of words without one."""
    return "".join(_sign_of("".join(item), words) for item in _ITEM.findall(row))


def _sign_of(item: str, words: dict[str, str]) -> str:
    if item.lower() in _WORDS:
        return _WORDS[item.lower()]
    if len({*item}) <= 1:
        return item[:1] or " "
    return words.setdefault(item, chr(0xE800 + len(words) % 0x1000))


def _row_of_words(line: str, width: int, words: dict[str, str]) -> str:
    """Return a sign for each word of a text line if it is a row: of true and false, or of columns in CSV."""
    words_alone = line.split(maxsplit=width)
    columns = [line.split(sign) for sign in _BETWEEN_CELLS if line.count(sign) == width - 1 > 0]
    for items in [*columns, words_alone] if columns or max(map(len, words_alone), default=1) > 1 else []:
        signs = [_sign_of(item.strip(" \"'"), words) for item in items]
        if len(signs) == width and len({*signs}) <= 2:
            return "".join(signs)
    return line


def _coloured(output: str) -> tuple[list[str], list[int], str]:
    """Return text lines in which colours are signs, the numbers of these lines, and all signs of cells.

    A space has the colour of the paper and a block that of the ink; half blocks make two text lines of one.
    """
    signs = {"█": "█", " ": " "}
    ink, paper, is_swapped = "█", " ", False
    upper: list[str] = []
    lower: list[str] = []
    for number, piece in enumerate(_COLOUR.split(output.replace("\r\n", "\n").replace("\r", "\n"))):
        if number % 2:
            ink, paper, is_swapped = _colours_after(piece, ink, paper, is_swapped)
            continue
        for sign in _COMMANDS.sub(_line_end, piece):
            above, below = (paper, ink) if is_swapped else (ink, paper)
            halves = {" ": (below, below), "▀": (above, below), "▄": (below, above)}
            colours = halves.get(sign) or ((above, above) if sign in "█■" else ("", ""))
            for line, colour in zip((upper, lower), colours, strict=True):
                line.append(signs.setdefault(colour, chr(0xE000 + len(signs) % 0x800)) if colour else sign)
    lines = "".join(upper).split("\n")
    numbers = [*range(len(lines))]
    if "▀" in output or "▄" in output:
        lines = [line for pair in zip(lines, "".join(lower).split("\n"), strict=True) for line in pair]
        numbers = [number for number in numbers for _ in range(2)]
    return lines, numbers, "".join(sorted(signs.values(), key="█ ".find))[::-1]


def _colours_after(codes: str, ink: str, paper: str, is_swapped: bool) -> tuple[str, str, bool]:
    """Return the colours of ink and paper, and whether they are exchanged, after codes that change them."""
    left = iter(codes.split(";"))
    for code in left:
        value = int(code or 0)
        if value == 0:
            ink, paper, is_swapped = "█", " ", False
        elif value in (7, 27):
            is_swapped = value == 7
        elif value in (38, 48):
            kind = next(left, "")
            colour = f"{kind}:{':'.join(islice(left, 3 if kind == '2' else 1))}"
            ink, paper = (colour, paper) if value == 38 else (ink, colour)
        elif value in (39, 49):
            ink, paper = ("█", paper) if value == 39 else (ink, " ")
        elif (first := value - value % 10) in _FIRST_COLOURS:
            colour = f"{_FIRST_COLOURS[first]}{value % 10}"
            ink, paper = (colour, paper) if first in (30, 90) else (ink, colour)
    return ink, paper, is_swapped


# --- readings ----------------------------------------------------------------------------------------------------


def _readings(
    view: _View, size: tuple[int, int], pitches: tuple[int, int], from_end: bool = False
) -> Iterator[_Reading]:
    """Yield all that has the form of a board: signs of cells at these distances, in columns and rows."""
    width, height = size
    across, down = pitches
    masks = _places(view.lines, view.signs, size, pitches)
    if " " in view.signs:  # except for blank paper
        blank = _places(view.lines, " ", size, pitches)
        masks = [mask & ~empty for mask, empty in zip(masks, blank, strict=True)]
    span = across * (width - 1) + 1
    for line in range(len(masks))[:: -1 if from_end else 1]:
        rows = view.lines[line : line + down * (height - 1) + 1 : down]
        mask = masks[line]
        while mask:
            column = (mask & -mask).bit_length() - 1
            mask &= mask - 1
            yield _Reading(line, column, "".join(row[column : column + span : across] for row in rows))


def _is_apart(reading: _Reading, view: _View, size: tuple[int, int], pitches: tuple[int, int]) -> bool:
    """Return whether nothing around and between the cells of a board is one of its signs, but for spaces."""
    (width, height), (across, down) = size, pitches
    first, start, cells = reading
    end = start + across * width
    beside = [
        line[column] if 0 <= column < len(line) else " "
        for line in view.lines[first : first + down * height : down]
        for column in (start - across, end)
    ]
    for number in (first - down, first + down * height):
        if 0 <= number < len(view.lines):
            beside += view.lines[number][start:end:across]
    signs = {*cells} - {" "}
    between: set[str] = set()
    for number, line in enumerate(view.lines[first : first + down * height : down]):
        row = cells[number * width : (number + 1) * width]
        for shift in range(1, across):
            between |= {
                other for cell, other in zip(row, line[start + shift :: across], strict=False) if other != cell
            }
    return not signs & ({*beside} | between)


def _places(lines: Sequence[str], signs: str, size: tuple[int, int], pitches: tuple[int, int]) -> list[int]:
    """Return a mask of each text line; bit x: a board with these signs may begin at x."""
    table = defaultdict(lambda: "0", {ord(sign): "1" for sign in signs})
    masks = [int(line[::-1].translate(table) or "0", 2) for line in lines]
    for step in _steps(size[0]):
        masks = [mask & mask >> step * pitches[0] for mask in masks]
    for step in _steps(size[1]):
        masks = [mask & below for mask, below in zip(masks, masks[step * pitches[1] :], strict=False)]
    return masks


def _steps(length: int) -> Iterator[int]:
    """Yield the shifts by which runs of one become runs of `length`."""
    count = 1
    while count < length:
        step = min(count, length - count)
        yield step
        count += step


def _solution(cells: str, puzzle: Puzzle, view: _View, signs: Signs) -> Solution | None:
    """Return the board of these cells, of one or two signs; None if none of them can be black.

    As many cells must be black as in the puzzle. Where the usual sign would be white, and where it is not known
    which of two is black, the board that solves the puzzle counts.
    """
    kinds = sorted({*cells}, key=view.signs.index)
    if len(kinds) > 2:
        return None
    wanted = _black_cells(puzzle)
    unsure: list[Solution] = []
    for black in kinds if len(kinds) == 2 else ["", *kinds]:
        white = "".join(sign for sign in kinds if sign != black)
        if (cells.count(black) if black else 0) != wanted or not signs.fit(black, white):
            continue
        bits = cells
        for sign in kinds:
            bits = bits.replace(sign, "\1" if sign == black else "\0")
        board = Solution.from_bytes(bits.encode(), puzzle.size)
        is_named = bool(signs.ink or signs.paper)
        is_unusual = white in {*BLACK} or black in {*WHITE} or kinds[1:] == [black]
        if is_named or ({*kinds} <= {*USUAL} and not is_unusual):
            return board
        if len(kinds) == 2 or not is_unusual:
            unsure.append(board)
    solving = [board for board in unsure if not mismatches(puzzle, board)]
    return solving[0] if solving else None
