"""Format `lists`: nested lists of numbers in JSON, in Python and in languages with similar lists.

`json` reads the values of a file, one at a time, and `ast` those that are not JSON; both are imported only then. A
value that cannot be read costs no other puzzle. Numbers are kept as texts. See docs/formats.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from nonobot.protocol.clues import BLACK, UNKNOWN, WHITE, Clue, Fault, clue_from_text, clue_from_words, shown
from nonobot.protocol.formats.base import MOST_SIDE, PARTS, BrokenOffError, Draft, Format, FormatError, part_of
from nonobot.protocol.puzzle import TEXT_FIELDS, Found, Record, text_from_cells

MOST_DEPTH = 16
_MOST_IN_JSON = 1 << 21  # characters of a value for `json`; a longer one is read in parts
_MOST_IN_PYTHON = 1 << 16  # characters of a value for `ast`, which needs 500 bytes of memory for each

# --- values ------------------------------------------------------------------------------------------------------

_STRING = r'"(?:[^"\\\n]|\\.)*"?|\'(?:[^\'\\\n]|\\.)*\'?'
_IRREGULAR = re.compile(
    rf"({_STRING})|(?:#|//).*|[()]|,(?=\s*[\])}}])|(?<=[\d\])}}])(?=\s+[\d\[({{])|\b([^\W\d]\w*)(?=\s*:)"
)
_REGULAR = {"(": "[", ")": "]", "": ","}
_NAMED = re.compile(rf"({_STRING}|[^\W\d]\w*)\s*(?::[\w., \[\]]+=|[=:])(?!=)\s*")  # perhaps with a type
_INSIDE = re.compile(rf"{_STRING}|\[[\d\s,]*\]|[][{{}}]")
_OPENING = re.compile(rf"{_STRING}|([\[{{])")
_CLOSING = {"[": "]", "{": "}"}
_PUZZLES = re.compile(r"\[\s*(?:\{|\[\s*\[\s*\[)")  # starts a list of puzzles, each an object or a pair


class _Node(NamedTuple):
    """A list or an object."""

    line: int
    items: Sequence[Any] | None  # texts, True, False, None and nodes; None if they cannot be read
    names: Sequence[str] | None = None  # of the items of an object


def _regular(text: str) -> str:
    """Return a text with JSON's brackets, names and commas, and without comments."""

    def regular(found: re.Match[str]) -> str:
        return found[1] or (f'"{found[2]}"' if found[2] else _REGULAR.get(found[0], ""))

    text = _IRREGULAR.sub(regular, text)
    return text if re.search("[:\"']", text) else text.replace("{", "[").replace("}", "]")


def _pieces(text: str, line: int, ends: str) -> Iterator[tuple[str, int]]:
    """Yield the parts of a text between any of `ends` that are outside of brackets, each with its first line."""
    outside = re.compile(rf"{_STRING}|[][{{}}{ends}]")
    opened: list[int] = []  # places of the brackets that are open
    start = position = 0
    while mark := (_INSIDE if opened else outside).search(text, position):
        position, sign = mark.end(), mark[0]
        if sign in _CLOSING:
            opened.append(mark.start())
            if len(opened) > MOST_DEPTH:
                line += text.count("\n", start, position)
                raise BrokenOffError(f"lists nested more than {MOST_DEPTH} deep", line)
        elif opened and sign == _CLOSING[text[opened[-1]]]:
            opened.pop()
        elif (sign in ends and not opened) or sign in ("]", "}"):
            yield _stripped(text[start : mark.start()], line)
            line += text.count("\n", start, position)
            start = position
            if sign not in ends:
                raise BrokenOffError(f"{shown(sign)} has no opening bracket", line)
    yield from () if opened else [_stripped(text[start:], line)]
    if opened and _PUZZLES.match(text, opened[0]):
        yield from _pieces(text[opened[0] + 1 :], line + text.count("\n", start, opened[0]), ",")
    if opened:
        opening, end = (line + text.count("\n", start, place) for place in (opened[-1], len(text)))
        raise BrokenOffError(f"the bracket of line {opening} is not closed at the end of the file", end)


def _stripped(text: str, line: int) -> tuple[str, int]:
    """Return a text without white space and commas around it, and its first line."""
    start = text.lstrip(" \t\n\v\f,")
    return start.rstrip(" \t\n\v\f,"), line + text.count("\n", 0, len(text) - len(start))


def _value(text: str, line: int) -> Any:
    """Return the value in a text that starts in a line."""
    wrong = line
    for parse, most in ((_decoder().decode, _MOST_IN_JSON), (_literal, _MOST_IN_PYTHON)):
        try:
            if len(text) <= most:
                return _located(parse(text), _lines_of_brackets(text, line))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
            wrong = line + (getattr(error, "lineno", None) or 1) - 1
        except LookupError:
            break
    return _Node(wrong, None)


@cache
def _decoder() -> Any:
    import json

    return json.JSONDecoder(object_pairs_hook=_unique, parse_int=str, parse_float=str, parse_constant=str)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise LookupError("two values of one name")
    return found


def _literal(text: str) -> Any:
    import ast
    import warnings

    with warnings.catch_warnings(action="ignore"):
        return ast.literal_eval(text)


def _lines_of_brackets(text: str, line: int) -> Iterator[int]:
    """Yield the line of each opening bracket."""
    position = 0
    for mark in _OPENING.finditer(text):
        if mark[1]:
            line, position = line + text.count("\n", position, mark.start()), mark.start()
            yield line


def _located(value: Any, lines: Iterator[int]) -> Any:
    """Return a value with the lines of its lists and objects, and with numbers as texts."""
    if isinstance(value, dict):
        line, names = next(lines), tuple(str(name) or " " for name in value)
        return _Node(line, [_located(item, lines) for item in value.values()], names)
    if isinstance(value, list):
        return _Node(next(lines), [item if isinstance(item, str) else _located(item, lines) for item in value])
    return value if value is None or isinstance(value, bool) else str(value)


# --- puzzles -----------------------------------------------------------------------------------------------------

_BOARDS = ("content", "grid", "start", "cells", "board", "givens", "saved", "solution", "goal")
_CELLS = {"1": BLACK, "#": BLACK, True: BLACK, "0": WHITE, ".": WHITE, False: WHITE, "?": UNKNOWN, None: UNKNOWN}
_CELLS_OF_CONTENT = {**_CELLS, "0": UNKNOWN, "-1": WHITE}  # as nonogram-solver, a program on npm, reads them


def _depth(value: Any) -> int:
    """Return 1 for a clue, 2 for a list of clues, 3 for a list of those, and more for an object."""
    if not isinstance(value, _Node):
        return 0
    return MOST_DEPTH if value.names else 1 + max(map(_depth, value.items or ()), default=0)


def _pairs(value: Any) -> list[tuple[str, Any]]:
    """Return the items of an object with their names."""
    return [*zip(value.names, value.items or (), strict=True)] if isinstance(value, _Node) and value.names else []


def _has_clues(pairs: Sequence[tuple[str, Any]]) -> bool:
    return any(isinstance(item, _Node) and part_of(name) for name, item in pairs)


def _puzzles_in(value: Any) -> Iterator[tuple[int, list[tuple[str, Any]]]]:
    """Yield the first line and the content of each puzzle in an object, a pair, or a list of such.

    The first one has what an object contains beside its puzzles, under names of nothing that belongs to a puzzle.
    """
    pairs = _pairs(value)
    if _has_clues(pairs):
        yield value.line, pairs
    elif pairs:
        inner = [item for _, item in pairs if _has_clues(_pairs(item))]
        if len(inner) == 1:  # a puzzle with its clues in an object of their own
            yield value.line, [*(pair for pair in pairs if pair[1] is not inner[0]), *_pairs(inner[0])]
            return
        puzzles, beside = [], []
        for name, item in pairs:
            is_deep = _depth(item) >= MOST_DEPTH or re.search("puzzle|nonogram|clue|hint", name, re.IGNORECASE)
            inside = [*_puzzles_in(item)] if is_deep else []
            puzzles += inside
            beside += [] if inside else [(f"the set's {name}", item)]
        for _, puzzle in puzzles[:1]:
            puzzle += beside
        yield from puzzles
    elif (depth := _depth(value)) == 3 or (depth > 3 and _depth(value.items[0]) == 2):
        for first in range(0, len(value.items), 2):
            yield value.line, [*zip(PARTS, value.items[first : first + 2], strict=False)]
    elif depth > 3:
        found = [[*_puzzles_in(item)] for item in value.items]
        for of_item, item in zip(found, value.items if any(found) else (), strict=any(found)):
            yield from of_item or [(value.line, [("", item)])]  # among puzzles, anything else is a faulty one


class _Puzzle(Draft):
    needed = PARTS
    missing = "no list of {}"

    def __init__(self, number: int, line: int) -> None:
        super().__init__(number, line)
        self.others: dict[str, Any] = {}  # what is not clues, by name

    def add(self, name: str, value: Any) -> None:
        """Read a value with a name."""
        part, line = part_of(name) if isinstance(value, _Node) else "", getattr(value, "line", self.line)
        if part:
            self.section(part, line, "a puzzle has one list of each")
        if name and not part:
            self.others[name] = value
        elif not part or value.items is None or value.names is not None:
            self.fault(_misplaced(value), line)
        else:
            for item in value.items:
                self.clue(part, _clue(item), getattr(item, "line", line))

    def finished(self) -> Found:
        for name, value in self.others.items():
            field, part = re.sub(r"[\W\d_]", "", name.lower()), part_of(name)
            if value is None or (part and value == str(len(self.clues[part]))):
                continue  # absent, or the number of rows or columns
            if field in TEXT_FIELDS and isinstance(value, str):
                self.text(field, value, self.line, field)
            elif re.fullmatch("(row|col|column)s?", field):
                self.refuse(f"{shown(name)} is {shown(str(value))}, but there are {len(self.clues[part])} {part}")
            elif field not in _BOARDS:
                self.warn(f"{shown(name)} is dropped", self.line)
            elif not self._draw(field, value):
                size = "{1}x{0}".format(*map(len, self.clues.values()))
                self.warn(f"{shown(name)} is dropped; expected {size} cells, each 1, 0 or ?", self.line)
        return super().finished()

    def _draw(self, field: str, value: Any) -> bool:
        """Take known cells or the solution, and return whether they are a board of the right size."""
        width, height = len(self.clues["columns"]), len(self.clues["rows"])
        meaning = _CELLS_OF_CONTENT if field == "content" else _CELLS
        signs: list[Any] = []
        for item in (value.items or ()) if isinstance(value, _Node) else str(value).split():
            is_row = isinstance(item, str) and item not in meaning
            signs += item if is_row else (item.items or ()) if isinstance(item, _Node) else [item]
        cells = [meaning[sign] for sign in signs if not isinstance(sign, _Node) and sign in meaning]
        rows = [cells[start : start + width] for start in range(0, len(cells), width or 1)]
        # A board without unknown cells is the solution, unless it is a start as the writer of this format has it.
        is_start = UNKNOWN in cells or (field == "start" and isinstance(value, str))
        if not len(signs) == len(cells) == width * height or (is_start and field in ("solution", "goal")):
            return False
        setattr(self, "start" if is_start else "solution", (rows, self.line))
        return True


def _clue(value: Any) -> Clue | Fault:
    if isinstance(value, str):
        return clue_from_text(value)
    if not isinstance(value, _Node) or value.items is None or value.names is not None:
        return _misplaced(value)
    lengths = [*value.items]
    if len(lengths) > MOST_SIDE:
        return Fault.of_file(f"a clue of over {MOST_SIDE} numbers")
    if others := [word for word in lengths if not isinstance(word, str)]:
        return _misplaced(others[0])
    if "0" in lengths:  # at the start and at the end, it only makes all lists equally long
        blocks = [index for index, word in enumerate(lengths) if word != "0"]
        lengths = lengths[blocks[0] : blocks[-1] + 1] if blocks else []
    return clue_from_words(lengths)


def _misplaced(value: Any) -> Fault:
    """Return a fault for a value that is not a clue, or not a list of clues."""
    problem = shown(str(value))
    if isinstance(value, _Node):
        problem = "a value that cannot be read" if value.items is None else "a list of another depth"
        if value.names is not None:
            problem = f"an object with the names {shown(', '.join(value.names))}"
    return Fault.of_file(f"{problem}; expected a list of clues such as [[2], [1, 1]], in black and white")


def _values(text: str, first: int, ends: str) -> Iterator[tuple[str, Any, int]]:
    """Yield the values between any of `ends` with their names, if they have one, and their lines."""
    for piece, line in (found for found in _pieces(text, first, ends) if found[0]):
        named = _NAMED.match(piece)
        name, rest = (named[1].strip("\"'"), piece[named.end() :]) if named else ("", piece)
        value = _value(rest, line)
        is_unread = isinstance(value, _Node) and value.items is None and not part_of(name)
        if is_unread and _PUZZLES.match(rest):
            for part, place in _pieces(rest[1:-1], line, ","):
                yield "", _Node(place, [_value(part, place)]), place
        elif is_unread and len(rest) > _MOST_IN_JSON and rest[0] in _CLOSING:
            yield from _values(rest[1:-1], line, ",")
        else:
            yield name, value, line


def _drafts(text: str) -> Iterator[_Puzzle]:
    """Yield drafts of the puzzles of a file, some without a puzzle; lists side by side end where others begin."""
    draft = _Puzzle(1, 1)
    try:
        for name, value, line in _values(_regular(text), 1, ",;\n"):
            puzzles = [] if part_of(name) else [*_puzzles_in(value)]
            for first, pairs in puzzles:
                yield draft
                draft = _Puzzle(draft.number + draft.is_begun, first)
                for pair in pairs:
                    draft.add(*pair)
            if not name and _depth(value) == 2:
                name = "columns" if draft.sections == {"rows"} else "rows"
            is_whole = len(draft.sections) == len(PARTS)
            if puzzles or part_of(name) in draft.sections or (is_whole and name in draft.others):
                yield draft
                draft = _Puzzle(draft.number + draft.is_begun, line)
            if not puzzles and (name or _depth(value) < 3) and value != _Node(line, []):
                draft.line = draft.line if draft.is_begun or draft.others else line
                draft.add(name, value)
            if draft.hopeless:
                break
    except BrokenOffError as broken:
        if len(draft.sections) == len(PARTS):
            yield draft
            draft = _Puzzle(draft.number + 1, 1)
        draft.fault(broken.fault, broken.fault.line)
    yield draft


def _read(data: bytes) -> Iterator[Found]:
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    last = _Puzzle(0, 1)
    for draft in _drafts(text):
        if not draft.is_begun:  # names beside the puzzles: the puzzle before warns, or the first one
            last.others |= {f"the set's {name}": value for name, value in draft.others.items()}
            continue
        if last.is_begun:
            yield last.finished()
        else:
            draft.others |= last.others
        last = draft
    if last.is_begun:
        yield last.finished()
    elif text.strip():
        raise FormatError("cannot find lists of rows and columns, such as rows = [[2], [1, 1]]")


_STARTS = re.compile(rf"(?:{_NAMED.pattern})?[\[({{]\s*(?:[\[({{\d\])}}\"']|$|\w+\s*:)")


def _looks_like(lines: Sequence[str]) -> bool:
    full = [line for line in lines if not line.startswith(("//", "#"))]
    is_named = bool(full) and re.match(r"[^\W\d]\w*\s*[=:]\s*\S", full[0])
    return any(map(_STARTS.match, full if is_named else full[:1]))


def _text(record: Record) -> str:
    import json

    values = {name: getattr(record, name) for name in TEXT_FIELDS}
    values |= {"rows": record.puzzle.rows, "columns": record.puzzle.columns}
    values |= {"start": record.start and text_from_cells(record.start)}
    values |= {"solution": record.solution and text_from_cells(record.solution)}
    kept = (f'"{name}": {json.dumps(value, ensure_ascii=False)}' for name, value in values.items() if value)
    return "{" + ",\n ".join(kept) + "}\n"


FORMAT = Format(
    name="lists",
    description="nested lists of numbers, as in JSON or Python: rows, then columns",
    extensions=(".lists", ".py", ".json"),
    holds=frozenset({*TEXT_FIELDS, "start", "solution"}),
    looks_like=_looks_like,
    sign=r"[\[{(]\s*[\[{(]\s*\d",
    read=_read,
    text=_text,
    joined=lambda texts: texts[0] if len(texts) == 1 else "[" + ",\n".join(map(str.rstrip, texts)) + "]\n",
)
