"""Formats with only clues and many puzzles per file: `oneline`, `letters`, `taai` and `lists`.

See docs/formats.md. Source of `letters`: https://rosettacode.org/wiki/Nonogram_solver
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from nonobot.protocol.batch import DEFAULT_SIZE, format_puzzle, read_batch
from nonobot.protocol.clues import Clue, Fault, FaultKind, clue_from_words, shown
from nonobot.protocol.formats.base import (
    MOST_SIDE,
    PARTS,
    BrokenOffError,
    Draft,
    Format,
    Size,
    TextLine,
    clue_from_text,
    lines_of,
    parts_of,
    with_commas,
)
from nonobot.protocol.puzzle import TEXT_FIELDS, Found, Record


def _puzzle(
    number: int, parts: Sequence[TextLine], divider: str | None, clue_of_word: Callable[[str], Clue | Fault]
) -> Found:
    """Return the puzzle in a text of rows and a text of columns; `divider` or spaces separate their clues."""
    draft = Draft(number, parts[0].number)
    for name, part in zip(PARTS, parts, strict=True):
        for word in part.text.split(divider, MOST_SIDE):
            draft.clue(name, clue_of_word(word.strip()), part.number)
    return draft.finished()


def _read_oneline(data: bytes) -> Iterator[Found]:
    for number, line in enumerate((line for line in lines_of(data) if line.text), 1):
        parts = line.text.split("-", 2)
        if len(parts) == 2:
            yield _puzzle(number, [TextLine(line.number, part) for part in parts], ":", clue_from_text)
        else:
            count = "more than one" if parts[1:] else "no"
            what = f"{count} '-'; expected the rows' clues, '-', the columns' clues"
            yield Fault(FaultKind.FORMAT, what, number, line.number)


ONELINE = Format(
    name="oneline",
    description="a puzzle a line: rows, '-', columns; ':' between clues, ',' between numbers",
    extensions=(".oneline",),
    looks_like=lambda lines: bool(re.fullmatch(r"[\d,:\s]+-[\d,:\s]+", lines[0], re.ASCII)),
    read=_read_oneline,
    text=lambda record: "-".join(":".join(map(with_commas, clues)) for _, clues in parts_of(record.puzzle)) + "\n",
    between="",
)

_WORDS = re.compile(r"([A-Z]+|0|@)(\s+([A-Z]+|0|@))*")
_BEFORE_A = ord("A") - 1


def _read_letters(data: bytes) -> Iterator[Found]:
    number = 0
    lines = chain(lines_of(data), [TextLine(0, "")])
    for rows in lines:
        if not rows.text:
            continue
        number += 1
        columns = next(lines)
        if columns.text:
            yield _puzzle(number, (rows, columns), None, _clue_in_letters)
        else:
            what = "a line of rows without the line of columns that should follow"
            yield Fault(FaultKind.FORMAT, what, number, rows.number)


def _clue_in_letters(word: str) -> Clue | Fault:
    if word in ("0", "@"):
        return ()
    if not (word.isascii() and word.isalpha() and word.isupper()):
        what = f"clue {shown(word)} is not made of the letters A to Z; an empty clue is written 0"
        return Fault(FaultKind.FORMAT, what)
    return tuple(ord(letter) - _BEFORE_A for letter in word)


def _in_letters(clue: Clue) -> str:
    return "".join(chr(_BEFORE_A + length) for length in clue) or "0"


LETTERS = Format(
    name="letters",
    description="Rosetta Code's strings: a line of rows, a line of columns, A = 1, B = 2",
    extensions=(".letters",),
    looks_like=lambda lines: all(map(_WORDS.fullmatch, lines[:2])),
    read=_read_letters,
    text=lambda record: "".join(" ".join(map(_in_letters, clues)) + "\n" for _, clues in parts_of(record.puzzle)),
    between="\n",
    longest_block=26,
)

# --- the tournaments' batch -------------------------------------------------------------------------------------

# `nonobot.protocol.batch` reads the stream; this reads the same form as a whole.


def _read_taai(data: bytes, size: Size | None) -> Iterator[Found]:
    sides = None if size == "auto" else size or _first_size(data)
    assumed = size is None and sides is None
    for entry in read_batch(io.BytesIO(data), sides):
        if isinstance(entry, Record) and max(entry.size) > MOST_SIDE:
            what = f"board size {entry.size[0]}x{entry.size[1]}: width and height must be 1 to {MOST_SIDE}"
            entry = Fault(FaultKind.FORMAT, what, entry.number, entry.line)
        elif isinstance(entry, Record) and assumed:
            assumed = False  # one warning is enough
            size_of_entry = f"{entry.size[0]}x{entry.size[1]}"
            what = f"the file states no size; assuming {size_of_entry} from the number of clue lines"
            entry = replace(entry, warnings=(Fault(FaultKind.ASSUMED_SIZE, what, entry.number, entry.line),))
        yield entry


def _first_size(data: bytes) -> tuple[int, int] | None:
    """Return the tournaments' size if the first puzzle has it and no lines are left over, otherwise None."""
    match list(islice(read_batch(io.BytesIO(data), DEFAULT_SIZE), 2)):
        case [Record(), Fault(is_in_place=False)]:
            return None
        case [Record(), *_]:
            return DEFAULT_SIZE
    return None


TAAI = Format(
    name="taai",
    description="the tournaments' batch: $k, the columns' clues, the rows' clues",
    extensions=(".txt", ".taai"),
    looks_like=lambda lines: any(re.fullmatch(r"\$\s*\d{1,18}", line, re.ASCII) for line in lines),
    read=_read_taai,
    text=lambda record: format_puzzle(record.number, record.puzzle).decode("ascii"),
    between="",
    states_size=False,
)

# --- nested lists ------------------------------------------------------------------------------------------------

# No parser of a language is used: each clue needs its text line, and files mix the brackets and comments of
# several languages.

MOST_DEPTH = 16

_PART_OF_NAME = dict.fromkeys(("rows", "row", "x"), "rows")
_PART_OF_NAME |= dict.fromkeys(("columns", "column", "cols", "col", "y"), "columns")
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_START = re.compile(r"(//.*|#.*|[A-Za-z_]\w*\s*[=:]\s*[\[({].*|[\[({].*)", re.ASCII)
_TOKEN = re.compile(
    r"""(?P<end>\n) | (?P<space>[^\S\n]+ | [,;]) | (?P<comment>(?://|\#)[^\n]*)
      | (?P<name>(?:[A-Za-z_]\w*|"[A-Za-z_]\w*"|'[A-Za-z_]\w*')(?=\s*[=:])) | (?P<is>[=:])
      | (?P<open>[\[({]) | (?P<close>[\])}]) | (?P<text>"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\n]*')
      | (?P<word>[+-]?[\w.]+) | (?P<other>.)""",
    re.VERBOSE | re.ASCII,
)


def _looks_like_lists(lines: Sequence[str]) -> bool:
    first = next((line for line in lines if not line.startswith(("//", "#"))), "")
    return bool(_START.fullmatch(first))


def _read_lists(data: bytes) -> Iterator[Found]:
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    number = 0
    try:
        for number, parts in enumerate(_puzzles_of_lists(text), 1):
            draft = Draft(number, min(clues.line for clues in parts.values()))
            for name, (value, line) in parts[min(parts)].texts.items():
                if name in TEXT_FIELDS:
                    draft.texts[name] = value
                else:
                    draft.warn(f"{shown(name)} is dropped", line)
            for part in PARTS:
                if part not in parts:
                    draft.refuse(f"no list of {part}")
            for part, clues in parts.items():
                for clue, line in clues.clues:
                    draft.clue(part, clue, line)
            yield draft.finished()
    except BrokenOffError as broken:
        yield broken.fault.at(number + 1, broken.fault.line)


def _puzzles_of_lists(text: str) -> Iterator[dict[str, _List]]:
    """Yield the lists of each puzzle, by name or in order, when the next begins: texts may follow the lists."""
    parts: dict[str, _List] = {}
    try:
        for clues in _clue_lists(text):
            if len(parts) == len(PARTS):
                yield parts
                parts = {}
            part = _PART_OF_NAME.get(clues.name or ("columns" if "rows" in parts else "rows"))
            if part is None:
                raise BrokenOffError(f"{shown(clues.name)} is not a name for rows or columns", clues.line)
            if part in parts:
                yield parts
                parts = {}
            parts[part] = clues
    except BrokenOffError:
        if len(parts) == len(PARTS):
            yield parts
        raise
    if parts:
        yield parts


@dataclass
class _List:
    """A list of numbers (a clue), of clues, or of other lists; open or closed."""

    closing: str
    line: int
    name: str = ""
    kind: str = ""  # numbers, clues or lists; nothing while it is empty
    numbers: list[str] = field(default_factory=list)
    clues: list[tuple[Clue | Fault, int]] = field(default_factory=list)
    texts: dict[str, tuple[str, int]] = field(default_factory=dict)  # of an object, shared by the lists in it

    def take(self, kind: str, problem: str, line: int) -> None:
        """Add an item of a kind; BrokenOffError: other items have another kind."""
        if self.kind not in ("", kind):
            raise BrokenOffError(problem, line)
        self.kind = kind


def _clue_lists(text: str) -> Iterator[_List]:
    """Yield the lists of clues, each with its name."""
    opened = [_List("", 1, kind="lists")]  # the file, and the lists that are open
    line, name = 1, ""
    for token in _TOKEN.finditer(text):
        kind, word = token.lastgroup, token[0]
        if kind == "end":
            line += 1
        elif kind == "name":
            name = word.strip("\"'").lower()
        elif kind == "open":
            if len(opened) > MOST_DEPTH:
                raise BrokenOffError(f"lists nested more than {MOST_DEPTH} deep", line)
            opened.append(_List(_CLOSING[word], line, name))
            name = ""
        elif kind == "close":
            closed = opened[-1]
            if closed.closing != word:
                raise BrokenOffError(f"{shown(word)} has no opening bracket", line)
            opened.pop()
            if closed.kind == "clues":
                closed.texts = opened[-1].texts
                yield closed
            _close(closed, opened[-1], line)
        elif kind in ("text", "word") and name and opened[1:] and name not in _PART_OF_NAME:
            opened[-1].texts[name] = _unquoted(word), line
            name = ""
        elif kind == "word":
            opened[-1].take("numbers", f"{shown(word)} is not in a list of numbers", line)
            if len(opened[-1].numbers) <= MOST_SIDE:  # one more than a line can have, for the fault
                opened[-1].numbers.append(word)
        elif kind in ("text", "other"):
            what = f"a text, {shown(word[1:-1])}," if kind == "text" else shown(word)
            raise BrokenOffError(f"{what} does not belong in lists of numbers", line)
    if opened[1:]:
        raise BrokenOffError(f"the bracket of line {opened[-1].line} is not closed at the end of the file", line)


def _unquoted(word: str) -> str:
    """Return the value of a string in JSON, or in Python without escapes."""
    import json

    with contextlib.suppress(ValueError):
        return str(json.loads(word))
    return word.strip("\"'")


def _close(closed: _List, parent: _List, line: int) -> None:
    """Put a closed list into the one around it."""
    if closed.kind in ("clues", "lists"):
        parent.take("lists", "a list of clues among clues or numbers", line)
        return
    parent.take("clues", "a clue is not in a list of clues", closed.line)
    clue = clue_from_words(closed.numbers)
    if len(closed.numbers) > MOST_SIDE:
        clue = Fault(FaultKind.FORMAT, f"a clue of over {MOST_SIDE} numbers")
    if len(parent.clues) <= MOST_SIDE:  # one more than a board can have, for the fault
        parent.clues.append((clue, closed.line))


LISTS = Format(
    name="lists",
    description="nested lists of numbers, as in Python or JSON: rows, then columns",
    extensions=(".lists", ".py", ".json"),
    looks_like=_looks_like_lists,
    read=_read_lists,
    text=lambda record: "".join(f"{part} = {[*map(list, clues)]}\n" for part, clues in parts_of(record.puzzle)),
    between="\n",
)
