"""Reader of a bot's answers, one text line at a time: grids, words that give a puzzle up, and malformed answers.

An answer is `$k` and then a text line for each row. Instead of a grid, a bot may write one word (`unsolvable`,
`timeout`, `invalid`) or nothing: it gave up the puzzle.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nonobot.protocol.clues import count, number_of, shown
from nonobot.protocol.puzzle import Puzzle, Solution

_MARKS = codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE  # byte order marks, before the first `$`
GIVEN_UP_WORDS = frozenset({"unsolvable", "timeout", "invalid"})
FURTHER_ROW = "is a further row"  # in the `problem` of a stray line: the board before it is complete
NOT_A_ROW = "is not a row"  # in the `problem` of an answer: other text is in its place
BYTES_PER_CELL = 4  # most bytes of an answer for a cell: a digit, a separator, and some layout


def most_bytes_of_an_answer(board: Puzzle) -> int:
    """Return the most bytes that an answer to `board` may have."""
    return BYTES_PER_CELL * (board.width + 1) * (board.height + 1)


@dataclass(frozen=True, slots=True)
class Answer:
    """A bot's answer to a puzzle; without a solution, `word` or `problem` contains the reason."""

    number: int | None  # the k of `$k`; None for text that is not under a readable `$k`
    line: int  # text line of the `$k`, counted from 1
    solution: Solution | None = None  # the grid, right or wrong, if it is well-formed
    word: str | None = None  # the word in place of a grid; empty if there is nothing under the `$k`
    problem: str | None = None  # place and kind of a format error


class AnswerReader:
    """Turns text lines into answers with grids of one size, each as soon as its last text line is read."""

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width, height
        self._line = 0
        self._open = False  # a `$k` was read and its answer is not complete
        self._number: int | None = None
        self._header_line = 0
        self._rows: list[bytes] = []
        self._stray_said = False  # consecutive stray text lines get one message

    def feed(self, line: bytes) -> list[Answer]:
        """Read the next text line, with or without its line end, and return the answers it completes."""
        self._line += 1
        if line.startswith(_MARKS):
            if not line.startswith(codecs.BOM_UTF8):
                self._stray_said = True  # the rest is as unreadable
                return [self._problem("UTF-16 text; write the answers as UTF-8")]
            line = line.removeprefix(codecs.BOM_UTF8)
        text = line.decode("utf-8", "replace").strip()
        if text.startswith("$"):
            return [*self.close(), *self._start(text)]
        if not self._open:
            return self._stray(text)
        if text in GIVEN_UP_WORDS and not self._rows:
            return [self._finish(word=text)]
        row = self._row(text)
        if isinstance(row, str):
            self._stray_said = True  # the rest of this answer needs no message of its own
            return [self._finish(problem=row)]
        self._rows.append(row)
        if len(self._rows) < self._height:
            return []
        return [self._finish(Solution.from_bytes(b"".join(self._rows), (self._width, self._height)))]

    def close(self) -> list[Answer]:
        """Read the end of the stream, or of an answer, and return the answers it completes."""
        if not self._open:
            return []
        if not self._rows:
            return [self._finish(word="")]
        rows = count(len(self._rows), "row")
        return [self._finish(problem=f"line {self._line}: {rows}, expected {self._height}")]

    def _stray(self, text: str) -> list[Answer]:
        if not text or self._stray_said:
            return []
        self._stray_said = True
        if self._number is not None and isinstance(self._row(text), bytes):
            remedy = f"an answer has {count(self._height, 'row')}, and begins with '$' and its number"
            return [self._problem(f"{shown(text)} {FURTHER_ROW}; {remedy}")]
        is_row = {*text} <= {*"01 \t"}
        remedy = "begin an answer with '$' and its number" if is_row else "write other text to stderr"
        return [self._problem(f"{shown(text)} does not belong to an answer; {remedy}")]

    def _start(self, text: str) -> list[Answer]:
        self._stray_said = False
        self._header_line, self._rows = self._line, []
        self._number = number_of(text)
        self._open = self._number is not None
        if self._open:
            return []
        return [self._problem(f"{shown(text)} does not start an answer; expected '$' and a number")]

    def _row(self, text: str) -> bytes | str:
        cells = text.split()
        if len(cells) != self._width:
            if not all(map(str.isdecimal, cells)):
                return f"line {self._line}: {shown(text)} {NOT_A_ROW} of {count(self._width, 'number')}"
            return f"line {self._line}: {count(len(cells), 'number')}, expected {self._width}"
        for cell in cells:
            if cell not in ("0", "1"):
                return f"line {self._line}: {shown(cell)} is neither 0 nor 1"
        return bytes(map(int, cells))

    def _problem(self, message: str) -> Answer:
        return Answer(None, self._line, problem=f"line {self._line}: {message}")

    def _finish(
        self, solution: Solution | None = None, word: str | None = None, problem: str | None = None
    ) -> Answer:
        self._open = False
        return Answer(self._number, self._header_line, solution, word, problem)


def read_answers(lines: Iterable[bytes], width: int, height: int) -> Iterator[Answer]:
    """Yield the answers of a stream or file of `lines`; see :class:`AnswerReader`."""
    reader = AnswerReader(width, height)
    for line in lines:
        yield from reader.feed(line)
    yield from reader.close()
