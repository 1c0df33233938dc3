"""The TAAI batch stream: puzzles in, answers out.

A file contains puzzles. `$k` starts puzzle k. A text line for each column follows, left to right, each read top to
bottom; then one for each row, top to bottom, each read left to right. Block lengths are separated by TAB. **The
text line of a row or column without black cells is empty, and counts.** The answer repeats `$k`, followed by a
text line for each row: 0 for white, 1 for black, separated by TAB (official rules, 2015).

:class:`TaaiReader` never waits: it reads one text line at a time and returns a puzzle with its last clue line.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate

from nonobot.protocol.clues import (
    BLACK,
    MOST_DIGITS,
    WHITE,
    Clue,
    Fault,
    FaultKind,
    clue_from_words,
    count,
    is_text,
    needed_length,
    number_of,
    shown,
)
from nonobot.protocol.puzzle import Found, Puzzle, Record, Solution, fault_in_clues

DEFAULT_SIZE = (25, 25)  # width and height of the tournaments' boards
MOST_LINE_BYTES = 4096  # largest length of an input line, in bytes; a longer one is a fault
_PLAIN = b"0123456789 \t\r\n"
_MOST_PLAIN_BYTES = 128  # longest text line whose clue is cached, so that the cache stays small
_DIGITS = bytes.maketrans(bytes((WHITE, BLACK)), b"01")


@lru_cache(1 << 14)
def _plain_clue(line: bytes) -> Clue | None:
    """Return the clue in a text line of digits and white space, otherwise None; most text lines repeat."""
    if line.translate(None, _PLAIN):
        return None
    clue = tuple(map(int, line.split()))
    return clue if not clue or (min(clue) > 0 and max(clue) < 10**MOST_DIGITS) else None


class TaaiReader:
    """Turns the text lines of a TAAI batch into puzzles, one text line at a time.

    `size` is the size of all boards. None: infer the size of square boards from the number of text lines up to the
    next `$` or the end, so that a puzzle is complete only then. :meth:`feed` and :meth:`close` return a `Record`
    for each complete puzzle, a `Fault` in the place of an unusable one, and a `Fault` for text outside puzzles.
    """

    def __init__(self, size: tuple[int, int] | None = DEFAULT_SIZE) -> None:
        self._size = size
        self._needed = sum(size or ())  # clue lines of a puzzle, if the size is known
        self._line = 0  # number of the line being read
        self._number: int | None = None  # k of the puzzle being read; None outside of a puzzle
        self._last_number: int | None = None  # k of the last `$k`; None before the first
        self._header_line = 0
        self._lines: list[Clue | Fault] = []
        self._header_fault: Fault | None = None
        self._stray_said = False  # consecutive stray text lines get one message

    def feed(self, line: bytes) -> list[Found]:
        """Read the next text line, with or without its line end, and return what it completes."""
        self._line += 1
        if self._number is not None and len(line) <= _MOST_PLAIN_BYTES:
            clue = _plain_clue(line)
            if clue is not None:
                return self._take(clue)
        if self._line == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        text = line[: MOST_LINE_BYTES + 1].decode("utf-8", "replace").strip()
        if text.startswith("$"):
            done = self._end_of_puzzle()
            self._start(text)
            return done
        if self._number is None:
            return self._stray(text)
        return self._take(self._clue(line, text))

    def _take(self, clue: Clue | Fault) -> list[Found]:
        self._lines.append(clue)
        if self._size is None or len(self._lines) < self._needed:
            return []
        return [self._finish(self._size[0], self._needed)]

    def close(self) -> list[Found]:
        """Read the end of the input and return what it completes."""
        if self._number is None:
            return []
        whole = len(self._lines)
        self._lines.append(())  # an empty last text line without a line end
        if self._size is None:
            return [self._finish_square(whole)]
        if len(self._lines) == self._needed:
            puzzle = self._puzzle(self._size[0], whole + 1)
            if not self._fault_in(puzzle):
                return [self._hand_over(puzzle, [])]
        self._lines.pop()
        return [self._missing_lines()]

    def _start(self, text: str) -> None:
        self._header_line = self._line
        self._lines = []
        self._stray_said = False
        self._number, self._header_fault = number_of(text), None
        if self._number is None:
            self._number = (self._last_number or 0) + 1
            message = f"{shown(text)} does not start a puzzle; expected '$' and a number such as '${self._number}'"
            self._header_fault = Fault(FaultKind.BAD_HEADER, message, self._number, self._line)
        self._last_number = self._number

    def _clue(self, line: bytes, text: str) -> Clue | Fault:
        if len(line) > MOST_LINE_BYTES:
            message = f"a line of over {MOST_LINE_BYTES} bytes; expected block lengths"
            clue: Clue | Fault = Fault(FaultKind.LINE_TOO_LONG, message)
        elif not is_text(text):
            message = "bytes that are not text; expected block lengths separated by TAB"
            clue = Fault(FaultKind.NOT_TEXT, message)
        else:
            clue = clue_from_words(text.split())
        return clue.at(self._number, self._line) if isinstance(clue, Fault) else clue

    def _stray(self, text: str) -> list[Found]:
        if not text or self._stray_said:
            return []
        self._stray_said = True
        if self._size and self._last_number is not None:
            width, height = self._size
            where = f"after the {width + height} clue lines of a {width}x{height} board"
            message = f"{shown(text)} comes {where} and is ignored; check --size"
            return [Fault(FaultKind.EXTRA_LINES, message, self._last_number, self._line)]
        message = f"{shown(text)} is before the first '$' and is ignored; expected '$1'"
        return [Fault(FaultKind.STRAY_TEXT, message, line=self._line)]

    def _end_of_puzzle(self) -> list[Found]:
        if self._number is None:
            return []
        return [self._finish_square(len(self._lines)) if self._size is None else self._missing_lines()]

    def _missing_lines(self) -> Found:
        assert self._size is not None
        width, height = self._size
        found = len(self._lines)
        hint = f"; perhaps --size {found // 2}x{found // 2}" if found and found % 2 == 0 else ""
        message = f"expected {width + height} clue lines for a {width}x{height} board, found {found}{hint}"
        fault = Fault(FaultKind.MISSING_LINES, message, self._number, self._line)
        return self._hand_over(None, [fault, *self._faults_of_lines()])

    def _finish(self, width: int, lines: int) -> Found:
        """Return the board of this width from the first clue lines, or its fault."""
        puzzle = self._puzzle(width, lines)
        return self._hand_over(puzzle, self._fault_in(puzzle))

    def _finish_square(self, most: int) -> Found:
        """Return the largest board that the clues fit, from the first `most` text lines or otherwise from all.

        Blank text lines at the end may be empty clues or only space; in the official form all of them are clues.
        """
        least = most
        while least and self._lines[least - 1] == ():
            least -= 1
        least_board = max(2, least + least % 2)
        # Half of the text lines are rows: if most text lines were blank, all rows would be empty.
        boards = [*range(least_board, min(most, max(2, 2 * least)) + 1 if least else most + 1, 2)]
        boards.reverse()
        if most % 2 and most < len(self._lines):
            boards.append(most + 1)
        fitting = None if self._faults_of_lines() else self._first_fitting(boards)
        if fitting or least_board <= most:
            lines = fitting or least_board
            return self._finish(lines // 2, lines)
        del self._lines[most:]
        text = "no clue lines; expected one for each column and each row"
        if most:
            text = f"{count(most, 'clue line')} cannot make a square board; expected an even number, or --size WxH"
        return self._hand_over(None, [Fault(FaultKind.ODD_LINE_COUNT, text, self._number, self._header_line)])

    def _first_fitting(self, boards: Iterable[int]) -> int | None:
        """Return the first of `boards`, numbers of text lines, that makes a square board without a fault.

        They differ only in the empty clues at the end, so one pass over the text lines is enough for all of them.
        """
        clues = [clue for clue in self._lines if not isinstance(clue, Fault)]
        longest = max(map(needed_length, clues), default=0)
        black = list(accumulate(map(sum, clues), initial=0))
        for lines in boards:
            if longest <= lines // 2 and 2 * black[lines // 2] == black[lines]:
                return lines
        return None

    def _puzzle(self, width: int, lines: int) -> Puzzle:
        clues = tuple(() if isinstance(clue, Fault) else clue for clue in self._lines[:lines])
        return Puzzle.unchecked(columns=clues[:width], rows=clues[width:])

    def _faults_of_lines(self) -> list[Fault]:
        return [clue for clue in self._lines if isinstance(clue, Fault)]

    def _fault_in(self, puzzle: Puzzle) -> list[Fault]:
        faults = self._faults_of_lines()
        found = None if faults else fault_in_clues(puzzle)
        if found:
            fault, index = found
            line = self._header_line + (0 if index is None else 1 + index)
            faults.append(fault.at(self._number, line))
        return faults

    def _hand_over(self, puzzle: Puzzle | None, faults: list[Fault]) -> Found:
        number, self._number = self._number, None
        assert number is not None
        if self._header_fault:
            faults = [self._header_fault, *faults]
        if puzzle and not faults:
            return Record(puzzle, number=number, line=self._header_line)
        side = len(self._lines) // 2
        size = puzzle.size if puzzle else self._size or (side, side)
        return replace(faults[0], more=len(faults) - 1, size=size)


def read_batch(lines: Iterable[bytes], size: tuple[int, int] | None = DEFAULT_SIZE) -> Iterator[Found]:
    """Yield the puzzles of a TAAI batch (see :class:`TaaiReader`), each as soon as its last text line is read."""
    reader = TaaiReader(size)
    for line in lines:
        yield from reader.feed(line)
    yield from reader.close()


def format_puzzle(number: int, puzzle: Puzzle) -> bytes:
    r"""Return a puzzle in the official form, with LF line ends.

    >>> format_puzzle(1, Puzzle(columns=((1,), ()), rows=((1,), ())))
    b'$1\n1\n\n1\n\n'
    """
    lines = [f"${number}", *("\t".join(map(str, clue)) for clue in (*puzzle.columns, *puzzle.rows))]
    return ("\n".join(lines) + "\n").encode("ascii")


def format_answer(number: int, solution: Solution) -> bytes:
    r"""Return an answer in the official form.

    >>> format_answer(7, Solution([[1, 0], [0, 0]]))
    b'$7\n1\t0\n0\t0\n'
    """
    text = bytearray(b"\t") * (2 * len(solution.content))
    text[::2] = solution.content.translate(_DIGITS)
    text[2 * solution.width - 1 :: 2 * solution.width] = b"\n" * solution.height
    return b"$%d\n" % number + text
