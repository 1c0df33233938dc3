"""Format of webpbn.com's XML, black and white: https://webpbn.com/pbn_fmt.html (see docs/formats.md).

Entities and declarations are refused: a `<!DOCTYPE>` may only name a DTD, which is not fetched. HTML's names of
characters, such as `&copy;`, are read.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from nonobot.protocol.clues import BLACK, UNKNOWN, WHITE, Fault, FaultKind, clue_from_words, shown
from nonobot.protocol.formats.base import MOST_SIDE, PARTS, BrokenOffError, Draft, Format
from nonobot.protocol.puzzle import Found, Record

if TYPE_CHECKING:
    from pyexpat import XMLParserType

MOST_DEPTH = 16
_CHUNK_BYTES = 1 << 16
_TEXTS = ("title", "author", "copyright", "description", "source", "id")
_OF_THE_SET = ("author", "copyright", "source")
_READ = (*_TEXTS, "color", "clues", "line", "count", "solution", "image")
_CONTENT = {"clues": "line", "line": "count", "count": "number"}  # all that an element contains
_PARENTS = {"line": "clues", "count": "line"}
_CELL = re.compile(r"\[([^][]+)\]|(.)")  # of an image: its sign, or in brackets those that it may have
_START = '<?xml version="1.0" encoding="UTF-8"?>\n', "<puzzleset>\n"
_SIGNS = {UNKNOWN: "?", WHITE: ".", BLACK: "X"}


def _read(data: bytes) -> Iterator[Found]:
    from pyexpat import ExpatError, ParserCreate
    from pyexpat.errors import messages

    parser = ParserCreate()
    document = _Document(parser)
    try:
        for start in range(0, len(data), _CHUNK_BYTES):
            parser.Parse(data[start : start + _CHUNK_BYTES], start + _CHUNK_BYTES >= len(data))
            yield from document.finished
            document.finished.clear()
    except BrokenOffError as broken:
        fault = broken.fault
    except ExpatError as error:
        message = f"broken XML: {messages.get(error.code, 'unknown error')}"
        fault = Fault(FaultKind.FORMAT, message, line=error.lineno)
    except (ValueError, LookupError):  # unknown encoding in the XML declaration
        fault = Fault(FaultKind.FORMAT, "XML with an unknown encoding", line=1)
    else:
        return
    yield from document.finished
    yield fault.at(document.number, fault.line)


class _Document:
    """Collects the puzzles and faults that the XML parser finds."""

    def __init__(self, parser: XMLParserType) -> None:
        self._parser = parser
        self._path: list[str] = []
        self._text: list[str] | None = None  # text of the element being read, if it is needed
        self._of_the_set: dict[str, str] = {}
        self._puzzle: _Puzzle | None = None
        self.number = 1  # of the current puzzle, or of the next one
        self.finished: list[Found] = []  # complete puzzles; the reader removes them
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.SkippedEntityHandler = self._skipped_entity
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    def _doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        if internal:
            raise BrokenOffError("declarations in a <!DOCTYPE> are not read", self._parser.CurrentLineNumber)

    def _skipped_entity(self, name: str, of_parameter: bool) -> None:
        self._characters(html.unescape(f"&{name};"))

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)
        elif self._puzzle and self._path[-1] in _CONTENT and text.strip():
            message = f"{shown(text.strip())} in <{self._path[-1]}>; expected <{_CONTENT[self._path[-1]]}>"
            self._puzzle.refuse(message, self._parser.CurrentLineNumber)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        if not self._path and name not in ("puzzleset", "puzzle"):
            raise BrokenOffError(f"<{shown(name)[1:-1]}> does not start a webpbn file; expected <puzzleset>", line)
        if len(self._path) == MOST_DEPTH:
            raise BrokenOffError(f"elements nested more than {MOST_DEPTH} deep", line)
        if name == "puzzle" and self._path in ([], ["puzzleset"]):
            self._puzzle = _Puzzle(self.number, line, attributes)
        elif self._puzzle:
            parent = self._path[-1]
            if _CONTENT.get(parent, name) != name or _PARENTS.get(name, parent) != parent:
                self._puzzle.refuse(f"<{shown(name)[1:-1]}> does not belong in <{shown(parent)[1:-1]}>", line)
            self._puzzle.start_of(name, attributes, line)
        self._path.append(name)
        self._text = [] if name in (*_TEXTS, "count", "image") else None

    def _end(self, name: str) -> None:
        self._path.pop()
        text, self._text = "".join(self._text or ()), None
        if name == "puzzle" and self._puzzle and self._path in ([], ["puzzleset"]):
            self.finished.append(self._puzzle.finished_in(self._of_the_set))
            self._puzzle = None
            self.number += 1
        elif self._puzzle:
            line, depth = self._parser.CurrentLineNumber, len(self._path) - self._path.index("puzzle")
            self._puzzle.end_of(name, text, line, depth)
        elif self._path == ["puzzleset"]:
            self._of_the_set[name] = text


class _Puzzle(Draft):
    """Draft of one puzzle: collects its XML elements."""

    def __init__(self, number: int, line: int, attributes: Mapping[str, str]) -> None:
        super().__init__(number, line)
        if attributes.get("type", "grid") != "grid":
            self.refuse(f"a puzzle of the type {shown(attributes['type'])}; only rectangular grids are supported")
        self._default = attributes.get("defaultcolor", "black")
        self._background = attributes.get("backgroundcolor", "white")
        self._colours = {".": "white", "X": "black"}
        self._clue: list[str] = []
        self._kind = "goal"  # type of the last <solution>
        self._images: dict[str, tuple[str, int]] = {}

    def start_of(self, name: str, attributes: Mapping[str, str], line: int) -> None:
        """Read the start of an element."""
        if name == "color":
            self._colours[attributes.get("char", "")] = attributes.get("name", "")
        elif name == "clues":
            kind = attributes.get("type", "").lower()
            self.part = kind if kind in PARTS else ""
            if self.part:
                self.section(kind, line, "a puzzle has one list of each")
            else:
                self.refuse(f"clues of the type {shown(kind)}; expected rows or columns", line)
        elif name == "line":
            self._clue = []
        elif name == "count":
            self.use_colours([attributes.get("color", self._default)], line)
        elif name == "solution":
            self._kind = "saved" if attributes.get("type") == "saved" else "goal"
        elif name not in _READ and name not in self.sections:
            self.sections.add(name)
            self.warn(f"<{shown(name)[1:-1]}> is dropped", line)

    def end_of(self, name: str, text: str, line: int, depth: int) -> None:
        """Read the end of an element, `depth` levels below the puzzle."""
        if name == "count":
            self._clue.append(text.strip())
        elif name == "line" and self.part:
            self.clue(self.part, clue_from_words(self._clue), line)
        elif name == "clues":
            self.part = ""
        elif name == "image":
            if self._kind in self._images:
                self.warn("a further image is dropped", line)
            self._images.setdefault(self._kind, (text, line))
        elif name in _TEXTS and depth == 1:
            self.texts[name] = text

    def finished_in(self, of_the_set: dict[str, str]) -> Found:
        """Return the complete puzzle, with the texts of its set; the first puzzle warns of others of the set."""
        for name in [name for name in of_the_set if name not in _OF_THE_SET]:
            self.warn(f"the set's <{shown(name)[1:-1]}> is dropped", self.line)
            of_the_set.pop(name)
        texts = {**of_the_set, **self.texts}
        catalogue = f"{texts.pop('source', '')} {texts.pop('id', '')}"
        self.texts = {**texts, "catalogue": catalogue}
        for kind, (image, line) in self._images.items():
            self._draw(kind, image, line)
        return self.finished()

    def _draw(self, kind: str, image: str, line: int) -> None:
        """Draw the cells of an image; the colours are known only at the end of the puzzle."""
        if image.count("|") > 3 * MOST_SIDE:  # before splitting: the text may have any length
            self.refuse(f"an image of more than {MOST_SIDE} rows", line)
            return
        meaning = {"?": UNKNOWN}
        for sign, colour in self._colours.items():
            meaning[sign] = WHITE if colour == self._background else BLACK
        rows = []
        for row in filter(None, "".join(image.split()).split("|")):
            rows.append((line, [cell or among for among, cell in _CELL.findall(row)]))
            for among in {sign for sign in rows[-1][1] if len(sign) > 1 and meaning.keys() >= set(sign)}:
                colours = {meaning[sign] for sign in among}
                meaning[among] = colours.pop() if len(colours) == 1 else UNKNOWN
        if kind == "goal" and any(meaning.get(sign) == UNKNOWN for _, signs in rows for sign in signs):
            self.warn("the solution is dropped: it has unknown cells", line)
        else:
            self.draw("start" if kind == "saved" else "solution", rows, meaning)


def _text(record: Record) -> str:
    lines = ['<puzzle type="grid" defaultcolor="black" backgroundcolor="white">']
    texts = {"source": record.catalogue, **{name: getattr(record, name) for name in _TEXTS[:4]}}
    lines += [f"<{name}>{html.escape(text, quote=False)}</{name}>" for name, text in texts.items() if text]
    lines += ['<color name="white" char=".">fff</color>', '<color name="black" char="X">000</color>']
    for kind, clues in (("columns", record.puzzle.columns), ("rows", record.puzzle.rows)):
        counts = ("".join(f"<count>{length}</count>" for length in clue) for clue in clues)
        lines += [f'<clues type="{kind}">', *(f"<line>{count}</line>" for count in counts), "</clues>"]
    for kind, grid in (("goal", record.solution), ("saved", record.start)):
        if grid is not None:
            rows = (f"|{''.join(_SIGNS[cell] for cell in row)}|" for row in grid.numbers())
            lines += [f'<solution type="{kind}">', "<image>", *rows, "</image>", "</solution>"]
    return "\n".join([*lines, "</puzzle>"]) + "\n"


FORMAT = Format(
    name="webpbn",
    description="webpbn.com's XML, black and white",
    extensions=(".xml", ".webpbn"),
    holds=frozenset({"title", "author", "copyright", "description", "catalogue", "solution", "start"}),
    looks_like=lambda lines: lines[0].startswith("<"),
    sign="<(puzzle|clues|count)",
    read=_read,
    text=_text,
    joined=lambda puzzles: "".join([*_START, *puzzles, "</puzzleset>\n"]),
)
