"""Boards in what a program prints: in any usual alphabet, among clues, frames, colours and other text.

A board is `height` text lines at equal distances, with `width` cells at equal distances, of two signs. The number
of black cells decides which sign is black, unless :class:`Signs` names them. Nothing is solved: the clues only
choose among readings that share cells, such as a picture on white paper and the same one a column further left.
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

USUAL = "█■⬛◼●▓#@*%&1XOx░○□◻⬜0·-_. "
"""Signs of cells. The earlier one is black if as many cells are black as white."""

MOST_READINGS = 10_000  # tried in an output, in all: paper that is almost blank contains many
MOST_COLUMNS = 2_000  # of a text line that are looked at
MOST_PAIRS = 3  # of unusual signs that are tried
_PITCHES = ((1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (4, 1), (4, 2), (3, 2))  # from cell to cell, from row to row

_COMMANDS = re.compile(
    r"\x1b\[[0-9;?]*([A-Za-z])|\x1b[()][A-Z0-9]|\x1b\][^\x07\x1b]{0,1000}\x07|[\ufe0e\ufe0f\u200b]"
)
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")  # as in JSON
_COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
_UPRIGHT = re.compile("[|│┃║┆┊╎╏¦]")
_FRAME = re.compile(r"(?=.*[+─━═┌└├╔╚╠╭╰┬┴┼])[\s+|=─-╿-]+")
_FILLING = re.compile("[\\s|│┃║┆┊╎╏¦,;:'\"\\[\\](){}]")
_NESTED = re.compile(r"[\[({]\s*(?:[\[({][^][(){}]*[\])}][\s,]*)+[\])}]")
_LIST = re.compile(r"\[([^][]*)\]")
_TEXTS = re.compile(r"[\[({]\s*(?:(?:\"[^\"\n]*\"|'[^'\n]*')[\s,]*)+[\])}]")
_FLAT = re.compile(r"[\[({][^][(){}]*[\])}]")
_SQUARE = str.maketrans("(){}", "[][]")
_TEXT = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'")
_BLACK_WORDS = {"1": "1", "true": "1", "black": "1", "0": "0", "false": "0", "white": "0", "none": "0", "-1": "0"}
_UPPER, _LOWER = str.maketrans("▀▄", "█ "), str.maketrans("▀▄", " █")


@dataclass(frozen=True)
class Signs:
    """How a program draws, as far as the user says so."""

    black: str = ""
    white: str = ""
    pattern: re.Pattern[str] | None = None  # of the text around the board; its first group, if it has one

    @cached_property
    def cells(self) -> str:
        """The signs that cells may have, in the order of USUAL."""
        black, white = self.black[:1], self.white[:1]
        others = [] if black and white else [sign for sign in USUAL if sign not in (black, white)]
        return "".join([black, *others, white])


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
    if signs.pattern is None:
        return output
    found = [*signs.pattern.finditer(output)]
    return (found[-1][1] if signs.pattern.groups else found[-1][0]) or "" if found else ""


def _views(output: str, size: tuple[int, int], signs: Signs) -> Iterator[_View]:
    """Yield the text of an output as it is, and then with less and less of what may surround cells."""
    text = _without_commands(output)
    lines = _with_lists_drawn(text, size).split("\n")
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
    if "▀" in text or "▄" in text:
        halves = [half for line in unframed for half in (line.translate(_UPPER), line.translate(_LOWER))]
        yield _View(_padded(halves), [number for number in kept for _ in range(2)], signs.cells)
    if _COLOUR.search(output):
        coloured, kinds = _coloured(output)
        yield _View(_padded(coloured), range(len(coloured)), kinds)
    stretched = _padded(unframed, further=2 * size[0])  # white cells at the end of all lines
    yield _View(stretched, kept, signs.cells, only_right=True)
    pairs = [] if signs.black or signs.white else _other_pairs(lines)
    for number in range(MOST_PAIRS):  # as many views for each size
        yield _view_of_pair(lines, pairs[number]) if number < len(pairs) else _View([], [], "")


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
    text = output.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ").replace("\u00a0", " ")
    text = _ESCAPED.sub(lambda sign: chr(int(sign[1], 16)), text)
    if "\x1b" not in text and text.isascii():
        return text
    return _COMMANDS.sub(lambda command: "\n" if command[1] and command[1] in "HJf" else "", text)


def _with_lists_drawn(text: str, size: tuple[int, int]) -> str:
    """Return a text in which lists of rows or of all cells, as in JSON and Python, are drawn if they fit."""
    width, height = size

    def drawn(found: re.Match[str]) -> str:
        texts = ["".join(row) for row in _TEXT.findall(found[0])]
        text = found[0].translate(_SQUARE)
        rows = texts or [_signs_of(row) for row in _LIST.findall(text[1:-1]) or [text[1:-1]]]
        if len(rows) == 1 and len(rows[0]) == width * height:
            rows = [rows[0][start : start + width] for start in range(0, width * height, width)]
        is_board = len(rows) == height and {*map(len, rows)} == {width}
        return "\n".join(["", *rows, ""]) if is_board else found[0]

    def bracketed(found: re.Match[str]) -> str:
        return drawn(found) if found[0].count(",") >= width * height - 1 else found[0]

    return _FLAT.sub(bracketed, _NESTED.sub(drawn, _TEXTS.sub(drawn, text)))


def _signs_of(row: str) -> str:
    """Return a sign for each item of a list; no sign of a cell for one of several signs."""
    cells = [word.strip("'\"") or " " for word in re.split(r"\s*,\s*|\s+", row.strip(" \t\n,"))]
    return "".join(_BLACK_WORDS.get(word.lower(), word if len(word) == 1 else "\0") for word in cells)


def _coloured(output: str) -> tuple[list[str], str]:
    """Return text lines in which the colours of spaces and blocks are signs, and all signs of cells."""
    signs: dict[tuple[str, str], str] = {}
    state, pieces = "", []
    for number, piece in enumerate(_COLOUR.split(output.replace("\r\n", "\n"))):
        if number % 2:
            state = piece if piece not in ("", "0") else ""
        else:
            for sign in _COMMANDS.sub("", piece):
                is_cell = sign in " █■" and state
                new = signs.setdefault((state, sign), chr(0xE000 + len(signs) % 0x1000)) if is_cell else sign
                pieces.append(new)
    return "".join(pieces).split("\n"), "".join(signs.values()) + " █■"


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
    """Return the board of these cells; None if they have more than two signs, or none as often as black cells."""
    kinds = {*cells}
    if len(kinds) > 2:
        return None
    wanted = _black_cells(puzzle)
    blacks = [sign for sign in sorted(kinds, key=view.signs.index) if cells.count(sign) == wanted]
    if signs.black or signs.white:
        blacks = [sign for sign in blacks if sign == signs.black or (sign != signs.white and not signs.black)]
    if not blacks and (wanted or len(kinds) > 1):
        return None
    boards = [Solution.from_bytes(bytes(sign == black for sign in cells), puzzle.size) for black in blacks or [""]]
    if view.only_right and boards[1:] and mismatches(puzzle, boards[0]):
        return boards[1]
    return boards[0]
