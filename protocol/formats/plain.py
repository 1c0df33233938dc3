"""Formats that begin with clues, or with the size of the board: `oneline`, `taai`, `nin` and four more.

See docs/formats.md, which links to their sources.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, dropwhile, islice, pairwise

from nonobot.protocol.batch import DEFAULT_SIZE, format_puzzle, read_batch
from nonobot.protocol.clues import (
    BLACK,
    UNKNOWN,
    WHITE,
    Clue,
    Fault,
    FaultKind,
    clue_from_text,
    count,
    shown,
    with_commas,
)
from nonobot.protocol.formats.base import (
    MOST_SIDE,
    NUMBERS,
    PARTS,
    SIDES,
    Draft,
    Format,
    Size,
    clue_lines,
    fitting,
    in_lines,
    parts_of,
)
from nonobot.protocol.puzzle import Found, Record
from nonobot.protocol.text_lines import TextLine, keep, lines_of


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
            message = f"{count} '-'; expected the rows' clues, '-', the columns' clues"
            yield Fault(FaultKind.FORMAT, message, number, line.number)


ONELINE = Format(
    name="oneline",
    description="a puzzle a line: rows, '-', columns; ':' between clues, ',' between numbers",
    extensions=(".oneline",),
    looks_like=lambda lines: bool(re.fullmatch(r"[\d,:\s]+-[\d,:\s]+", lines[0], re.ASCII)),
    sign=r"^[\d:, ]+-[\d:, ]*$",
    read=_read_oneline,
    text=lambda record: "-".join(":".join(map(with_commas, clues)) for _, clues in parts_of(record.puzzle)) + "\n",
    joined="".join,
)

_WORDS = re.compile(r"([A-Z]+|0|@)(\s+([A-Z]+|0|@))*")
_BEFORE_A = ord("A") - 1


def _read_letters(data: bytes) -> Iterator[Found]:
    lines = chain(lines_of(data), [TextLine(0, "")])
    for number, rows in enumerate((line for line in lines if line.text), 1):
        columns = next(lines)
        if columns.text:
            yield _puzzle(number, (rows, columns), None, _clue_in_letters)
        else:
            message = "a line of rows without the line of columns that should follow"
            yield Fault(FaultKind.FORMAT, message, number, rows.number)


def _clue_in_letters(word: str) -> Clue | Fault:
    if word in ("0", "@"):
        return ()
    if not (word.isascii() and word.isalpha() and word.isupper()):
        message = f"clue {shown(word)} is not made of the letters A to Z; an empty clue is written 0"
        return Fault.of_file(message)
    return tuple(ord(letter) - _BEFORE_A for letter in word)


def _in_letters(clue: Clue) -> str:
    return "".join(chr(_BEFORE_A + length) for length in clue) or "0"


LETTERS = Format(
    name="letters",
    description="Rosetta Code's strings: a line of rows, a line of columns, A = 1, B = 2",
    extensions=(".letters",),
    looks_like=lambda lines: all(map(_WORDS.fullmatch, lines[:2])),
    sign=r"(?-i:\A[A-Z0@ ]+\n[A-Z0@ ]+$)",
    read=_read_letters,
    text=lambda record: "".join(" ".join(map(_in_letters, clues)) + "\n" for _, clues in parts_of(record.puzzle)),
    joined="\n".join,
    longest_block=26,
)

# --- the tournaments' batch -------------------------------------------------------------------------------------

# `nonobot.protocol.batch` reads the stream; this reads the same form as a whole.


def _read_taai(data: bytes, size: Size | None) -> Iterator[Found]:
    sides = None if size == "auto" else size or _first_size(data)
    assumed = size is None and sides is None
    for entry in read_batch(io.BytesIO(data), sides):
        if isinstance(entry, Record) and max(entry.size) > MOST_SIDE:
            message = f"board size {entry.size[0]}x{entry.size[1]}: width and height must be 1 to {MOST_SIDE}"
            entry = Fault(FaultKind.FORMAT, message, entry.number, entry.line)
        elif isinstance(entry, Record) and assumed:
            assumed = False  # one warning is enough
            message = "the file states no size; assuming {}x{} from the number of clue lines".format(*entry.size)
            entry = replace(entry, warnings=(Fault(FaultKind.ASSUMED_SIZE, message, entry.number, entry.line),))
        yield entry


def _first_size(data: bytes) -> tuple[int, int] | None:
    """Return the tournaments' size if the first puzzle has it and no lines are left over, otherwise None."""
    match list(islice(read_batch(io.BytesIO(data), DEFAULT_SIZE), 2)):
        case [Record()] | [Record(), Record() | Fault(is_in_place=True)]:
            return DEFAULT_SIZE
    return None


TAAI = Format(
    name="taai",
    description="the tournaments' batch: $k, the columns' clues, the rows' clues",
    extensions=(".txt", ".taai"),
    looks_like=lambda lines: any(re.fullmatch(r"\$\s*\d{1,18}", line, re.ASCII) for line in lines),
    read=_read_taai,
    text=lambda record: format_puzzle(record.number, record.puzzle).decode("ascii"),
    joined="".join,
    states_size=False,
)

# --- the size of the board, then clue lines ----------------------------------------------------------------------

_Parts = Sequence[Sequence[TextLine]]


def _read(
    data: bytes, size: str, parts: Callable[..., _Parts], form: re.Pattern[str] = SIDES, example: str = "25 25"
) -> Iterator[Found]:
    """Yield the puzzle of a file that begins with text lines like `size`, perhaps below lines that start with `#`.

    `form` matches these. `parts` takes the draft, the width, the height and the further text lines, and returns
    those with the clues of the rows and of the columns.
    """
    lines: list[TextLine] = []
    for line in lines_of(data):
        if lines or line.text[:1] not in ("", "#"):
            keep(lines, line)
    header = [index for index, line in enumerate(lines) if line.text][: size.count("\n")]
    if not header:
        return
    draft = Draft(1, lines[0].number)
    text = " ".join(lines[index].text for index in header)
    names = re.findall("width|height", size)
    sides = dict(zip(names, map(int, found.groups()), strict=True)) if (found := form.fullmatch(text)) else {}
    if not sides:
        draft.refuse(f"{shown(text)} is not a {names[0]} and a {names[1]}, such as {shown(example)}")
    elif not 1 <= min(sides.values()) <= max(sides.values()) <= MOST_SIDE:
        draft.refuse(f"board size {shown(text)}: width and height must be 1 to {MOST_SIDE}")
    else:
        clues = parts(draft, sides["width"], sides["height"], lines[header[-1] + 1 :])
        for part, of_part in zip(PARTS, clues, strict=True):
            for line in of_part:
                draft.clue(part, clue_from_text(line.text), line.number)
    yield draft.finished()


def _looks_like(lines: Sequence[str], size: str, divider: str) -> bool:
    """Return whether the text lines may be a size and clues for it: numbers, in no more text lines than it needs.

    A file without a size has more: with r rows and c columns, its first clue needs at most c cells, so that it is
    a size for fewer than the r + c - 1 text lines after it.
    """
    lines = list(dropwhile(lambda line: line.startswith("#"), lines))
    clues = lines[size.count("\n") :]
    sides = SIDES.fullmatch(" ".join(lines[: size.count("\n")]))
    if not sides or not all(map(int, sides.groups())):
        return False
    if divider.strip():
        before = next((index for index, line in enumerate(clues) if line.startswith("#")), len(clues))
        return before <= int(sides[1]) and before < len(clues)
    return 0 < len(clues) <= sum(map(int, sides.groups())) and all(map(NUMBERS.fullmatch, clues[:3]))


def _nin_parts(draft: Draft, width: int, height: int, lines: Sequence[TextLine]) -> _Parts:
    purpose = f"the {count(height, 'row')} and {count(width, 'column')}"
    clues = clue_lines(draft, lines, width + height, purpose)
    return clues[:height], clues[height:]


def _mk_parts(draft: Draft, width: int, height: int, lines: Sequence[TextLine]) -> _Parts:
    divider = next((index for index, line in enumerate(lines) if line.text.startswith("#")), None)
    if divider is None:
        draft.refuse("no line '#' between the rows and the columns")
        return (), ()
    rows = clue_lines(draft, lines[:divider], height, f"the {count(height, 'row')} before '#'")
    return rows, clue_lines(draft, lines[divider + 1 :], width, f"the {count(width, 'column')} after '#'")


def _cwd_parts(draft: Draft, width: int, height: int, lines: Sequence[TextLine]) -> _Parts:
    full = [index for index, line in enumerate(lines) if line.text]
    after_rows = [index + 1 for index in full[height - 1 : height]]
    for divider in (*after_rows, height):  # further blank lines are only space, or they are empty clues
        rows, columns = fitting(lines[:divider], height), fitting(lines[divider + 1 :], width)
        if rows and columns and not lines[divider].text:
            return rows, columns
    expected = f"{count(height, 'row')}, a blank line and {count(width, 'column')}"
    draft.refuse(f"expected {expected}, found {len(full)} clue lines", lines[-1].number if lines else None)
    return (), ()


def _format(
    name: str, description: str, size: str, parts: Callable[..., _Parts], sign: str, divider: str = ""
) -> Format:
    """Return a format of clue lines below a `size`, its text lines, with a `divider` between rows and columns."""
    return Format(
        name=name,
        description=description,
        extensions=(f".{name}",),
        looks_like=partial(_looks_like, size=size, divider=divider),
        sign=sign,
        read=partial(_read, size=size, parts=parts),
        text=lambda record: in_lines(record, size.format(width=record.size[0], height=record.size[1]), divider),
    )


_NIN_FORM = "'width height', the rows' clues, the columns' clues"
NIN = _format("nin", _NIN_FORM, "{width} {height}\n", _nin_parts, r"\A(#.*\n)*\d+ +\d+\n")
_MK_FORM = "'height width', the rows' clues, '#', the columns' clues"
MK = _format("mk", _MK_FORM, "{height} {width}\n", _mk_parts, r"\A(#.*\n)*\d+ +\d+\n[^#]*\n#", "#\n")
_CWD_FORM = "the height, the width, the rows' clues, a blank line, the columns' clues"
CWD = _format("cwd", _CWD_FORM, "{height}\n{width}\n", _cwd_parts, r"\A\d+\n\d+\n[\d ,]+\n", "\n")

# --- the 8x11 text form -----------------------------------------------------------------------------------------

_SIZE = re.compile(r"(\d{1,18})\s*[xX*\u00d7]\s*(\d{1,18})", re.ASCII)
_TEXTS = ("title", "author")
_DRAWN = {
    "grid": {".": UNKNOWN, "#": BLACK, "X": WHITE, "x": WHITE},
    "solution": {".": WHITE, "#": BLACK, "X": WHITE, "x": WHITE},
}
_SECTIONS = (*_TEXTS, *PARTS, *_DRAWN)
_HEADING = re.compile(r"(?P<bracket>\[)?(?P<name>[A-Za-z]\w*)(?(bracket)\])(?:(?::\s*|\s+|$)(?P<behind>.*))")
_CELLS = re.compile(r"[.#xX]+")
_NO_SECTION = f"is not a section; expected {', '.join(_SECTIONS)}"


def _grid_parts(draft: Draft, width: int, height: int, lines: Sequence[TextLine]) -> _Parts:
    sections = _sections(lines, draft)
    for name in _TEXTS:
        for line in sections.get(name, [])[:1]:
            draft.text(name, line.text, line.number, name)
    for name in _DRAWN:
        if name in sections:
            rows = [line for line in sections[name] if line.text]
            draft.draw("start" if name == "grid" else name, rows, _DRAWN[name])
    for part in PARTS:
        if part not in sections:
            draft.refuse(f"no section '{part}'")
    return _clues(draft, sections, "rows", height), _clues(draft, sections, "columns", width)


def _sections(lines: Sequence[TextLine], draft: Draft) -> dict[str, list[TextLine]]:
    """Return the text lines of each section, including blank ones."""
    sections: dict[str, list[TextLine]] = {}
    name = ""
    for line in lines:
        heading = _HEADING.fullmatch(line.text)
        if name in _TEXTS and not sections[name]:  # any text, even the name of a section
            sections[name].append(line)
        elif heading and not (name in _DRAWN and _CELLS.fullmatch(line.text)):
            name = heading["name"].lower()
            if name in _SECTIONS:
                draft.section(name, line.number, "such a file contains one puzzle")
            else:
                draft.refuse(f"{shown(name)} {_NO_SECTION}", line.number)
            sections[name] = [TextLine(line.number, heading["behind"])] if heading["behind"] else []
        elif name and name not in _TEXTS:
            keep(sections[name], line)
        elif line.text:
            draft.refuse(f"{shown(line.text)} {_NO_SECTION}", line.number)
    return sections


def _clues(draft: Draft, sections: Mapping[str, list[TextLine]], name: str, needed: int) -> Sequence[TextLine]:
    """Return the clues of a section, each on its text line, or all on one with spaces between."""
    if name not in sections:
        return ()
    full = [line for line in sections[name] if line.text]
    clues = full[0].text.split(maxsplit=MOST_SIDE) if len(full) == 1 else []
    if len(clues) == needed:
        return [TextLine(full[0].number, word) for word in clues]
    return clue_lines(draft, sections[name], needed, f"the {count(needed, name.removesuffix('s'))}")


def _is_drawing(lines: Iterable[str]) -> bool:
    """Return whether the text lines are only a drawn board; text lines of `#` alone are comments."""
    first = next((line for line in lines if line.strip("#")), "")
    return bool(re.fullmatch(r"[.#]+", first))


def _read_grid(data: bytes) -> Iterator[Found]:
    lines = list(islice((line for line in lines_of(data) if line.text), MOST_SIDE + 1))  # one more, for the fault
    if not _is_drawing(line.text for line in lines):
        yield from _read(data, "{width}x{height}\n", _grid_parts, _SIZE, "8x11")
        return
    draft = Draft(1, lines[0].number)
    if len(lines[0].text) > MOST_SIDE:
        draft.refuse(f"a row of {len(lines[0].text)} cells is too long; the limit is {MOST_SIDE}")
    elif gap := next((line for before, line in pairwise(lines) if line.number > before.number + 1), None):
        draft.refuse("a blank line above this row; such a file contains one puzzle", gap.number)
    else:
        draft.draw("solution", lines, _DRAWN["solution"])
    yield draft.finished()


def _grid_text(record: Record) -> str:
    width, height = record.size
    texts = "".join(f"{name}: {getattr(record, name)}\n" for name in _TEXTS if getattr(record, name))
    drawn = ""
    for (name, meaning), grid in zip(_DRAWN.items(), (record.start, record.solution), strict=True):
        if grid is not None:
            signs = {value: sign for sign, value in reversed(meaning.items())}
            rows = ("".join(signs[cell] for cell in row) for row in grid.numbers())
            drawn += "\n".join([name, *rows, ""])
    return in_lines(record, f"{width}x{height}\n{texts}rows\n", "columns\n", drawn, with_commas)


GRID = Format(
    name="grid",
    description="8x11, then sections title, author, rows, columns, grid, solution; or '#' and '.' alone",
    extensions=(".grid",),
    holds=frozenset({*_TEXTS, "start", "solution"}),
    looks_like=lambda lines: bool(_SIZE.fullmatch(lines[0])) or _is_drawing(lines),
    sign=r"^\d+[ \t]*x[ \t]*\d+$|^[^\w\n]*(grid|solution)[^\w\n]*$",
    read=_read_grid,
    text=_grid_text,
)
