"""webpbn.com's XML, black and white: https://webpbn.com/pbn_fmt.html (see docs/formats.md).

Entities and declarations are refused: a `<!DOCTYPE>` may name a DTD, which is not fetched, and no more. Names of
characters that HTML has, such as `&copy;`, are read.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nonobot.protocol.clues import BLACK, UNKNOWN, WHITE, Clue, Fault, FaultKind, clue_from_words, shown
from nonobot.protocol.formats.base import MOST_SIDE, BrokenOffError, Draft, Format, Found, Part, part_named
from nonobot.protocol.puzzle import PartialGrid, Record, Solution

if TYPE_CHECKING:
    from pyexpat import XMLParserType

MOST_DEPTH = 16
_CHUNK_BYTES = 1 << 16
_TEXTS = ("title", "author", "copyright", "description", "source", "id")
_OF_THE_SET = ("author", "copyright", "source")
_READ = (*_TEXTS, "color", "clues", "line", "count", "solution", "image")
_SIGNS = {UNKNOWN: "?", WHITE: ".", BLACK: "X"}


def _looks_like(lines: Sequence[str]) -> bool:
    return lines[0].startswith("<")


def _read(data: bytes) -> Iterator[Found]:
    from pyexpat import ExpatError, ParserCreate
    from pyexpat.errors import messages

    parser = ParserCreate()
    document = _Document(parser)
    try:
        for start in range(0, len(data), _CHUNK_BYTES):
            parser.Parse(data[start : start + _CHUNK_BYTES], start + _CHUNK_BYTES >= len(data))
            yield from document.finished()
    except BrokenOffError as broken:
        fault = broken.fault
    except ExpatError as error:
        what = f"broken XML: {messages.get(error.code, 'unknown error')}"
        fault = Fault(FaultKind.FORMAT, what, line=error.lineno)
    except (ValueError, LookupError):  # of the encoding that the XML declares
        fault = Fault(FaultKind.FORMAT, "XML in an encoding that is not known", line=1)
    else:
        return
    yield from document.finished()
    yield document.broken_off(fault)


class _Document:
    """Takes what the parser finds."""

    def __init__(self, parser: XMLParserType) -> None:
        self._parser = parser
        self._path: list[str] = []
        self._text: list[str] | None = None  # of the element being read, where its text is wanted
        self._of_the_set: dict[str, str] = {}
        self._puzzle: _Elements | None = None
        self._number = 0
        self._finished: list[Found] = []
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._skipped_entity
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    def finished(self) -> list[Found]:
        """Return, once, the puzzles that are complete."""
        finished, self._finished = self._finished, []
        return finished

    def broken_off(self, fault: Fault) -> Fault:
        """Return a fault of the document as that of the puzzle being read, or of the next one."""
        return fault.at(self._number + (0 if self._puzzle else 1), fault.line)

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        if internal:
            raise BrokenOffError("declarations in a <!DOCTYPE> are not read", self._line)

    def _entity(self, *_: object) -> None:
        raise BrokenOffError("declarations of entities are not read", self._line)

    def _skipped_entity(self, name: str, of_parameter: bool) -> None:
        self._characters(html.unescape(f"&{name};"))

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self._path and name not in ("puzzleset", "puzzle"):
            what = f"<{shown(name)[1:-1]}> starts no webpbn file; expected <puzzleset>"
            raise BrokenOffError(what, self._line)
        if len(self._path) == MOST_DEPTH:
            raise BrokenOffError(f"elements nested more than {MOST_DEPTH} deep", self._line)
        if name == "puzzle" and self._path in ([], ["puzzleset"]):
            self._number += 1
            self._puzzle = _Elements(self._number, self._line, attributes)
        elif self._puzzle:
            self._puzzle.start(name, attributes, self._line)
        self._path.append(name)
        self._text = [] if name in (*_TEXTS, "count", "image") else None

    def _end(self, name: str) -> None:
        self._path.pop()
        text = "".join(self._text or ())
        self._text = None
        if name == "puzzle" and self._puzzle and self._path in ([], ["puzzleset"]):
            self._finished.append(self._puzzle.finished(self._of_the_set))
            self._puzzle = None
        elif self._puzzle:
            self._puzzle.end(name, text, self._line, depth=len(self._path) - self._path.index("puzzle"))
        elif self._path == ["puzzleset"] and name in _OF_THE_SET:
            self._of_the_set[name] = text


class _Elements:
    """The elements of one puzzle."""

    def __init__(self, number: int, line: int, attributes: Mapping[str, str]) -> None:
        self._draft = Draft(number, line)
        if attributes.get("type", "grid") != "grid":
            self._draft.refuse(f"a puzzle of the type {shown(attributes['type'])}; only grids are read")
        self._default = attributes.get("defaultcolor", "black")
        self._background = attributes.get("backgroundcolor", "white")
        self._colours = {".": "white", "X": "black"}
        self._counted: set[str] = set()  # the colours that counts have
        self._part: Part | None = None  # inside of <clues>
        self._clue: list[str] = []
        self._solution = "goal"
        self._texts: dict[str, str] = {}
        self._remarked: set[str] = set()
        self._images: dict[str, tuple[str, int]] = {}

    def start(self, name: str, attributes: Mapping[str, str], line: int) -> None:
        """Take the start of an element."""
        if name == "color":
            self._colours[attributes.get("char", "")] = attributes.get("name", "")
        elif name == "clues":
            kind = attributes.get("type", "")
            self._part = part_named(kind)
            if not self._part:
                self._draft.refuse(f"clues of the type {shown(kind)}; expected rows or columns", line)
        elif name == "line":
            self._clue = []
        elif name == "count":
            self._count_colour(attributes.get("color", self._default), line)
        elif name == "solution":
            self._solution = attributes.get("type", "goal")
        elif name not in _READ and name not in self._remarked:
            self._remarked.add(name)
            self._draft.remark(f"<{shown(name)[1:-1]}> is not kept", line)

    def end(self, name: str, text: str, line: int, depth: int) -> None:
        """Take the end of an element, `depth` levels below the puzzle."""
        if name == "count":
            self._clue.append(text.strip())
        elif name == "line":
            if self._part:
                self._draft.clue(self._part, clue_from_words(self._clue), line)
            else:
                self._draft.refuse("a <line> outside of clues of rows or columns", line)
        elif name == "clues":
            self._part = None
        elif name == "image":
            self._take_image(text, line)
        elif name in _TEXTS and depth == 1:
            self._texts[name] = text

    def finished(self, of_the_set: Mapping[str, str]) -> Found:
        """Take the end of the puzzle."""
        texts = {**of_the_set, **self._texts}
        catalogue = f"{texts.pop('source', '')} {texts.pop('id', '')}"
        self._draft.texts = {**texts, "catalogue": catalogue}
        for kind, (image, line) in self._images.items():
            self._draw(kind, image, line)
        return self._draft.finished()

    def _count_colour(self, colour: str, line: int) -> None:
        self._counted.add(colour)
        if len(self._counted) == 2:
            names = " and ".join(shown(name) for name in sorted(self._counted))
            self._draft.refuse(f"blocks of several colours, {names}; only one is read", line)

    def _take_image(self, text: str, line: int) -> None:
        kind = "saved" if self._solution == "saved" else "goal"
        if kind in self._images:
            self._draft.remark("a further image is not kept", line)
        else:
            self._images[kind] = text, line

    def _draw(self, kind: str, image: str, line: int) -> None:
        """Draw the cells of an image; the colours are known only at the end of the puzzle."""
        if image.count("|") > 3 * MOST_SIDE:  # before they are taken apart: the text may be of any length
            self._draft.refuse(f"an image of more than {MOST_SIDE} rows", line)
            return
        rows = [row for row in "".join(image.split()).split("|") if row]
        cells: list[list[int]] = []
        for row in rows:
            drawn = self._cells(row)
            if isinstance(drawn, Fault):
                self._draft.fault(drawn, line)
                return
            if cells and len(drawn) != len(cells[0]):
                self._draft.refuse("an image with rows of different length", line)
                return
            cells.append(drawn)
        if not cells:
            self._draft.refuse("an image without cells", line)
        elif kind == "saved":
            self._draft.start = cells, line
        elif any(UNKNOWN in row for row in cells):
            self._draft.remark("the solution is left out: it has unknown cells", line)
        else:
            self._draft.solution = cells, line

    def _cells(self, row: str) -> list[int] | Fault:
        cells: list[int] = []
        among: set[int] | None = None  # the colours between brackets so far
        for sign in row:
            if sign == "[" and among is None:
                among = set()
            elif sign == "]" and among:
                cells.append(among.pop() if len(among) == 1 else UNKNOWN)
                among = None
            elif sign == "?" and sign not in self._colours:
                cells.append(UNKNOWN)
            elif sign in self._colours:
                cell = WHITE if self._colours[sign] == self._background else BLACK
                if among is None:
                    cells.append(cell)
                else:
                    among.add(cell)
            else:
                return Fault(FaultKind.FORMAT, f"{shown(sign)} in an image is no colour")
        return Fault(FaultKind.FORMAT, "a bracket in an image is not closed") if among is not None else cells


def _write(records: Sequence[Record]) -> str:
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<puzzleset>\n'
    return head + "".join(map(_puzzle_text, records)) + "</puzzleset>\n"


def _puzzle_text(record: Record) -> str:
    lines = ['<puzzle type="grid" defaultcolor="black" backgroundcolor="white">']
    texts = {"source": record.catalogue, **{name: getattr(record, name) for name in _TEXTS[:4]}}
    lines += [f"<{name}>{html.escape(text, quote=False)}</{name}>" for name, text in texts.items() if text]
    lines += ['<color name="white" char=".">fff</color>', '<color name="black" char="X">000</color>']
    for kind, clues in (("columns", record.puzzle.columns), ("rows", record.puzzle.rows)):
        lines += [f'<clues type="{kind}">', *map(_clue_text, clues), "</clues>"]
    for kind, grid in (("goal", record.solution), ("saved", record.start)):
        if grid is not None:
            lines += [f'<solution type="{kind}">', "<image>", *_image_rows(grid), "</image>", "</solution>"]
    return "\n".join([*lines, "</puzzle>"]) + "\n"


def _clue_text(clue: Clue) -> str:
    return f"<line>{''.join(f'<count>{length}</count>' for length in clue)}</line>"


def _image_rows(grid: PartialGrid | Solution) -> list[str]:
    return [f"|{''.join(_SIGNS[cell] for cell in row)}|" for row in grid.cells.tolist()]


FORMAT = Format(
    name="webpbn",
    description="webpbn.com's XML, black and white",
    extensions=(".xml", ".webpbn"),
    holds=frozenset({"title", "author", "copyright", "description", "catalogue", "solution", "start"}),
    several=True,
    looks_like=_looks_like,
    read=_read,
    write=_write,
)
