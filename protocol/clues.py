"""Cell colours, clues, faults of puzzles with their places, and words of messages such as `3 puzzles`.

Every fault of a puzzle prints as one text line: its place (puzzle number, line number), what is wrong, and what
was expected. A fault affects only its own puzzle; the others of the file are still read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from nonobot.system import shortened

UNKNOWN, WHITE, BLACK = -1, 0, 1  # colours of cells
LONGEST_CLUE = 1 << 16  # largest number of characters of a clue; those of the largest board are shorter
MOST_DIGITS = 6  # largest number of digits of a block length; a longer number is a fault

Clue = tuple[int, ...]  # the lengths of the blocks of a line, in order; empty for a line without black cells


def clue_of(cells: Iterable[int]) -> Clue:
    """Return the clue of a full line: the lengths of its runs of black cells."""
    return tuple(len(run) for run in bytes(map(bool, cells)).split(b"\0") if run)


def clue_from_words(lengths: list[str]) -> Clue | Fault:
    """Return the clue in `lengths`, or a fault without its place; no length, or a single 0, is the empty clue."""
    if not lengths:
        return ()
    text = "".join(lengths)
    if text.isascii() and text.isdigit() and max(map(len, lengths)) <= MOST_DIGITS:
        clue = tuple(map(int, lengths))
        if 0 not in clue:
            return clue
        if len(clue) == 1:
            return ()
    for word in lengths:
        digits = word.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            return Fault(FaultKind.NOT_A_NUMBER, f"clue {shown(word)} is not a number")
        if word != digits:
            return Fault(FaultKind.NEGATIVE_NUMBER, f"clue {shown(word)} is negative; block lengths are 1 or more")
        if len(digits) > MOST_DIGITS:
            return Fault(FaultKind.TOO_LARGE_NUMBER, f"clue {shown(word)} is longer than any board")
    return Fault(FaultKind.ZERO_BLOCK, "a 0 among other block lengths; only a 0 alone is an empty clue")


def is_text(text: str) -> bool:
    """Return whether `text` was valid text in the file, not other bytes."""
    return "\0" not in text and "\ufffd" not in text


def number_of(header: str) -> int | None:
    """Return the k of a text line `$k`, or None if it contains no such number."""
    word = header[1:].strip()
    return int(word) if word.isascii() and word.isdigit() and len(word) < 19 else None


def clue_from_text(text: str) -> Clue | Fault:
    """Return the clue in a text of numbers with commas or spaces between; a fault has no place."""
    if len(text) > LONGEST_CLUE:
        return Fault.of_file(f"a clue of over {LONGEST_CLUE} characters")
    if not is_text(text):
        return Fault.of_file("bytes that are not text; expected block lengths")
    lengths = re.split(r"\s*,\s*|\s+", text) if text else []
    if "" in lengths:
        return Fault.of_file(f"clue {shown(text)} has a comma without a number")
    return clue_from_words(lengths)


def spaced(clue: Clue, empty: str = "0") -> str:
    """Return a clue as text with spaces."""
    return " ".join(map(str, clue)) or empty


def with_commas(clue: Clue) -> str:
    """Return a clue as text with commas."""
    return ",".join(map(str, clue)) or "0"


def needed_length(clue: Clue) -> int:
    """Return the number of cells that `clue` needs: its blocks, and one white cell between neighbours."""
    return sum(clue) + len(clue) - 1 if clue else 0


# --- faults ----------------------------------------------------------------------------------------------------


class PuzzleError(ValueError):
    """A puzzle, board or file that cannot be used; the message is one text line."""

    __module__ = "nonobot"  # the name under which programs catch it


def count(number: int, name: str) -> str:
    """Return a number of things, as in `1 puzzle`, `1,000 puzzles`."""
    return f"{number:,} {plural(number, name)}"


def plural(number: int, name: str) -> str:
    """Return the name of a number of things, as in `puzzle`, `puzzles`."""
    return name if number == 1 else f"{name}s"


def shown(text: str) -> str:
    """Return `text` quoted for a message, escaped, and shortened to 40 characters."""
    quote = '"' if "'" in text else "'"
    return f"{quote}{shortened(text, 40)}{quote}"


class FaultKind(Enum):
    """Kinds of faults of a batch; all faults of other formats are one kind."""

    NOT_A_NUMBER = "a word of a clue line is not a whole number"
    NEGATIVE_NUMBER = "a block length below zero"
    TOO_LARGE_NUMBER = "a block length that no board can have"
    ZERO_BLOCK = "a 0 among other block lengths (a 0 alone is an empty clue)"
    NOT_TEXT = "bytes that no text file has"
    LINE_TOO_LONG = "an input line that no clue can need"
    CLUE_TOO_LONG = "blocks and the gaps between them are longer than their line"
    BLACK_CELL_MISMATCH = "rows and columns count different numbers of black cells"
    MISSING_LINES = "the next puzzle or the end of the input came before the last clue line"
    EXTRA_LINES = "lines after the last clue line of a puzzle: they are dropped, the puzzle is kept"
    ODD_LINE_COUNT = "the size of a square board cannot be inferred from an odd number of clue lines"
    BAD_HEADER = "a `$` without a number"
    STRAY_TEXT = "text before the first `$`"
    REPEATED_NUMBER = "the number of an earlier puzzle, where a set needs different ones"
    ASSUMED_SIZE = "a size inferred from the number of lines, since nothing states it"
    FORMAT = "a fault of another format, or a dropped part of a file"
    UNREADABLE = "a file that cannot be read, or has an unknown format"


def located(message: str, file: str = "", number: int | None = None, line: int | None = None) -> str:
    """Return a message with its place in front: file (`-`: standard input), puzzle, and text line of the file."""
    place = ["standard input" if file == "-" else file] if file else []
    place += [] if number is None else [f"${number}"]
    place += [] if line is None else [f"line {line}"]
    return ": ".join([*place, message])


@dataclass(frozen=True, slots=True)
class Fault:
    """An error in a puzzle, or a warning about it."""

    kind: FaultKind
    message: str  # what is wrong and what was expected, without the place
    number: int | None = None  # the k of the puzzle's `$k`; None for text outside any puzzle
    line: int | None = None  # text line of the input, counted from 1; None if unknown
    more: int = 0  # number of further faults of the same puzzle
    size: tuple[int, int] | None = None  # width and height of the puzzle's board, if known
    file: str = ""  # `-` for standard input; empty if there is only one input

    @classmethod
    def of_file(cls, message: str) -> Fault:
        """Return a fault in a file of another format than the batch, without its place."""
        return cls(FaultKind.FORMAT, message)

    def __str__(self) -> str:
        more = f" (and {self.more} more in this puzzle)" if self.more else ""
        return located(self.message + more, self.file, self.number, self.line)

    @property
    def is_in_place(self) -> bool:
        """Whether this fault takes the place of an unusable puzzle in the output of a reader."""
        return self.number is not None and self.kind is not FaultKind.EXTRA_LINES

    def at(self, number: int | None, line: int | None) -> Fault:
        """Return the same fault with its place."""
        return replace(self, number=number, line=line)
