"""What the text formats share: lines, clues and drawn boards."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from nonobot.protocol.clues import Clue, Fault, FaultKind, clue_from_words, shown
from nonobot.protocol.formats.base import MOST_SIDE, Draft, Found

LONGEST_CLUE = 1 << 16
"""Characters of the longest clue that is looked at; those of the largest board are shorter."""

NUMBERS = re.compile(r"[\d\s,-]*", re.ASCII)
"""What a line of block lengths matches, right or wrong."""


class TextLine(NamedTuple):
    """A line of a file: its number, counted from 1, and its text without white space around it."""

    number: int
    text: str


def lines_of(data: bytes) -> Iterator[TextLine]:
    """Yield the lines of a file, whatever its line ends; a byte order mark is dropped.

    Bytes that are not UTF-8 become U+FFFD, which :func:`is_text` finds.
    """
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", errors="replace")
    for number, line in enumerate(text, 1):
        yield TextLine(number, line.strip())


def sized_puzzle(
    data: bytes,
    form: re.Pattern[str],
    no_size: str,
    take: Callable[[Draft, int, int, Iterator[TextLine]], None],
    header_lines: int = 1,
) -> Iterator[Found]:
    """Yield the puzzle of a file whose first lines say how large the board is.

    Blank lines do not count, nor do lines above the size that start with `#`.

    The size is on `header_lines` lines. Joined by spaces, they match `form`, whose groups `width` and `height` are
    digits; `no_size` ends the message if they do not. `take` puts the lines after them into a draft, whose board
    has this width and height.
    """
    lines = lines_of(data)
    header = list(islice((line for line in lines if line.text[:1] not in ("", "#")), header_lines))
    if not header:
        return
    draft = Draft(1, header[0].number)
    size = " ".join(line.text for line in header)
    if sides := form.fullmatch(size):
        digits = sides.group("width", "height")
        width, height = (int(side) if len(side) < 10 else MOST_SIDE + 1 for side in digits)
        if 1 <= width <= MOST_SIDE and 1 <= height <= MOST_SIDE:
            take(draft, width, height, lines)
        else:
            draft.refuse(f"a board of {digits[0][:20]}x{digits[1][:20]}; sides are 1 to {MOST_SIDE}")
    else:
        draft.refuse(f"{shown(size)} {no_size}")
    yield draft.finished()


def gathered(lines: Iterable[TextLine]) -> list[TextLine]:
    """Return `lines` as a list that stays small: no more of them, blank or not, than the largest board needs."""
    kept: list[TextLine] = []
    counts = {True: 0, False: 0}  # of blank and of other lines
    for line in lines:
        blank = not line.text
        counts[blank] += 1
        if counts[blank] <= 2 * MOST_SIDE + 1:
            kept.append(line)
    return kept


def is_text(text: str) -> bool:
    """Return whether `text` was text in the file, and not other bytes."""
    return "\0" not in text and "\ufffd" not in text


def clue_from_text(text: str) -> Clue | Fault:
    """Return the clue that a line spells, commas or spaces between its numbers; a fault has no place."""
    if len(text) > LONGEST_CLUE:
        return Fault(FaultKind.FORMAT, f"a clue of over {LONGEST_CLUE} characters")
    if not is_text(text):
        return Fault(FaultKind.FORMAT, "bytes that are not text; expected block lengths")
    words = re.split(r"\s*,\s*|\s+", text) if text else []
    if "" in words:
        return Fault(FaultKind.FORMAT, f"clue {shown(text)} has a comma without a number")
    return clue_from_words(words)


def black_clue(text: str) -> Clue | Fault:
    """Return the clue that a line spells, where a letter behind a number would be the colour of the block."""
    if re.search(r"[0-9][A-Za-z]", text[:100]) and re.fullmatch(r"[0-9A-Za-z,\s]*", text):
        return Fault(FaultKind.FORMAT, f"clue {shown(text)} names a colour; only black and white puzzles are read")
    return clue_from_text(text)


def bracketed_clue(text: str) -> Clue | Fault:
    """Return the clue that stands in square brackets, such as `[ 2 1 ]` or `[]`."""
    if text[:1] != "[" or text[-1:] != "]" or text == "[":
        return Fault(FaultKind.FORMAT, f"{shown(text)} is no clue in brackets, such as [ 2 1 ]")
    return black_clue(text[1:-1].strip())


def clues_between_commas(text: str) -> list[Clue | Fault]:
    """Return the clues of a line that divides them by commas, each in quotes or not: `2 1, '1 1', 0`.

    A comma may stand behind the last one, too, as in a list that is copied from a program.
    """
    words = [unquoted(word.strip()).strip() for word in text.removesuffix(",").split(",", MOST_SIDE)]
    nothing = Fault(FaultKind.FORMAT, f"{shown(text)} has a comma without a clue; an empty clue is written 0")
    return [black_clue(word) if word else nothing for word in words]


def unquoted(text: str) -> str:
    """Return a text without the quotes around it, if it has any."""
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def without_comment(text: str) -> str:
    """Return a line up to the first `#` or `;`, none of which a clue has."""
    return re.split("[#;]", text, maxsplit=1)[0].rstrip()


def spaced(clue: Clue) -> str:
    """Return a clue as it is written with spaces."""
    return " ".join(map(str, clue)) or "0"


def with_commas(clue: Clue) -> str:
    """Return a clue as it is written with commas."""
    return ",".join(map(str, clue)) or "0"


def clue_lines(draft: Draft, lines: Sequence[TextLine], needed: int, what: str) -> Sequence[TextLine]:
    """Return the `needed` clue lines among `lines`; none if there are not so many, a fault of the draft.

    Blank lines are mere space where the others are `needed`, and empty clues where it takes them to have so many.

    `lines` are all lines up to the next part of the file, `what` names them in the message.
    """
    full = [line for line in lines if line.text]
    if len(full) == needed:
        return full
    counted = f"expected {needed} clue lines for {what}, found {len(full)}"
    if len(full) > needed:
        extra = full[needed]
        draft.refuse(f"{counted}: too many from {shown(extra.text)} on", extra.number)
        return ()
    with_blank = lines[:needed]
    if len(with_blank) == needed and not any(line.text for line in lines[needed:]):
        return with_blank
    draft.refuse(counted, lines[-1].number if lines else None)
    return ()


def cells_from_lines(lines: Sequence[TextLine], meaning: Mapping[str, int]) -> list[list[int]] | Fault:
    """Return the cells of a drawn board, one character a cell; the fault has its line, and no puzzle."""
    width = len(lines[0].text) if lines else 0
    if not width:
        return Fault(FaultKind.FORMAT, "a drawn board without cells")
    rows = []
    for line in lines:
        if len(line.text) != width:
            return Fault(
                FaultKind.FORMAT, f"a row of {len(line.text)} cells after rows of {width}", line=line.number
            )
        for cell in line.text:
            if cell not in meaning:
                known = " ".join(meaning)
                return Fault(
                    FaultKind.FORMAT, f"{shown(cell)} is not a cell; expected one of {known}", line=line.number
                )
        rows.append([meaning[cell] for cell in line.text])
    return rows
