"""Steps about questions: what has to be read, and what a careful reader forgives."""

from __future__ import annotations

from nonobot.harness.check.check_puzzles import (
    Numbered,
    easy,
    filled,
    numbered,
    text_of,
    unsolvable,
    with_empty_edge_columns,
    with_empty_edge_rows,
)
from nonobot.harness.check.lab import Lab
from nonobot.protocol import Puzzle

__all__ = [
    "all_black",
    "all_white",
    "blank_lines",
    "byte_order_mark",
    "crlf",
    "empty_columns",
    "empty_rows",
    "garbled_clue",
    "no_final_newline",
    "odd_pieces",
    "spaces_around_the_number",
    "spaces_for_tab",
    "unsolvable_puzzle",
    "zero_clue",
]

SECONDS_BETWEEN_PIECES = 0.0005
"""A bot that waits for input gets each piece alone."""


def _ask_with_another(lab: Lab, puzzle: Puzzle, sent: str, advice: str) -> None:
    """Ask for `puzzle` and then for an easy one, which shows whether the lines were counted right."""
    lab.ask(numbered([puzzle, *easy(lab.size, 1)]), sent, advice)


def _two(lab: Lab) -> tuple[list[Numbered], bytes]:
    wanted = numbered(easy(lab.size, 2))
    return wanted, text_of(wanted)


def crlf(lab: Lab) -> None:
    """Two of the official sets end their lines so."""
    wanted, data = _two(lab)
    lab.ask(
        wanted,
        "two puzzles with CRLF line ends",
        "strip CR as well as LF from each line",
        data.replace(b"\n", b"\r\n"),
    )


def empty_columns(lab: Lab) -> None:
    """The first and the last column's clue lines are empty."""
    _ask_with_another(
        lab,
        with_empty_edge_columns(lab.size),
        "a puzzle whose first and last columns are empty lines, and one more",
        "an empty line is a clue line: count it, also directly after the '$'",
    )


def empty_rows(lab: Lab) -> None:
    """The first and the last row's clue lines are empty."""
    _ask_with_another(
        lab,
        with_empty_edge_rows(lab.size),
        "a puzzle whose first and last rows are empty lines, and one more",
        "an empty line is a clue line: count it, also directly before the next '$'",
    )


def all_white(lab: Lab) -> None:
    """All clue lines are empty."""
    _ask_with_another(
        lab,
        filled(lab.size, 0),
        "a puzzle of empty lines alone, and one more",
        "empty lines are clue lines; the answer is all zeros",
    )


def all_black(lab: Lab) -> None:
    """Each clue is as long as its line."""
    _ask_with_another(
        lab,
        filled(lab.size, 1),
        "a puzzle whose clues fill their lines, and one more",
        "a block may be as long as its line; look at masks and bounds",
    )


def zero_clue(lab: Lab) -> None:
    """Some programs write 0 for a line without black cells."""
    puzzle = with_empty_edge_rows(lab.size)
    wanted = numbered([puzzle, *easy(lab.size, 1)])
    first = b"$1\n" + b"".join(
        ("\t".join(map(str, clue)) or "0").encode() + b"\n" for clue in (*puzzle.columns, *puzzle.rows)
    )
    lab.ask(
        wanted,
        "a puzzle with 0 for its empty rows, and one more",
        "read a 0 that stands alone as an empty clue",
        first + text_of(wanted[1:]),
    )


def spaces_for_tab(lab: Lab) -> None:
    """Files that went through an editor have spaces."""
    wanted, data = _two(lab)
    lab.ask(
        wanted,
        "two puzzles with spaces for TAB",
        "split clue lines at any white space",
        data.replace(b"\t", b" "),
    )


def spaces_around_the_number(lab: Lab) -> None:
    """White space after `$` and after the number."""
    wanted, data = _two(lab)
    lab.ask(wanted, "'$ 1 ' and '$ 2 '", "strip what follows the '$'", _with_spaced_numbers(data))


def _with_spaced_numbers(data: bytes) -> bytes:
    return data.replace(b"$1\n", b"$ 1 \n").replace(b"$2\n", b"$ 2 \n")


def byte_order_mark(lab: Lab) -> None:
    """Some editors put a UTF-8 mark before the first `$`."""
    wanted, data = _two(lab)
    lab.ask(
        wanted,
        "two puzzles after a UTF-8 byte order mark",
        "drop the bytes EF BB BF at the start",
        b"\xef\xbb\xbf" + data,
    )


def blank_lines(lab: Lab) -> None:
    """Blank lines before, between and after puzzles."""
    wanted = numbered(easy(lab.size, 2))
    lab.ask(
        wanted,
        "blank lines before, between and after two puzzles",
        "once a puzzle has all its clue lines, leave out blank lines up to the next '$'",
        b"\n" + text_of(wanted[:1]) + b"\n\n" + text_of(wanted[1:]) + b"\n",
    )


def no_final_newline(lab: Lab) -> None:
    """The last line of the input has no end."""
    wanted, data = _two(lab)
    lab.ask(
        wanted,
        "two puzzles, without the very last line end",
        "take a last line that the end of the input ends",
        data.removesuffix(b"\n"),
    )


def odd_pieces(lab: Lab) -> None:
    """A pipe cuts where it likes: in a line, in a number, in CRLF, a byte at a time."""
    wanted = numbered(easy(lab.size, 4))
    data = text_of(wanted[1:])
    half = len(data) // 2
    singles = [data[at : at + 1] for at in range(half)]
    sevens = [data[at : at + 7] for at in range(half, len(data), 7)]
    with lab.talk() as talk:
        talk.send(text_of(wanted[:1]))
        talk.wait_for(wanted[:1])  # now it waits for input and sees every piece by itself
        talk.send_pieces([*singles, *sevens], SECONDS_BETWEEN_PIECES)
        talk.wait_for(wanted)
    talk.demand(
        wanted,
        "a puzzle, then three more in pieces of a byte and of seven bytes",
        "a read may return part of a line: read lines, or keep the unfinished one until its end comes",
    )


def garbled_clue(lab: Lab) -> None:
    """A clue that is no number costs its own puzzle alone."""
    wanted = numbered(easy(lab.size, 3))
    lines = text_of(wanted[1:2]).split(b"\n")
    lines[2] = b"2x"
    data = text_of(wanted[:1]) + b"\n".join(lines) + text_of(wanted[2:])
    lab.ask(
        [wanted[0], wanted[2]],
        "three puzzles; the clue of column 2 of $2 is '2x'",
        "give such a puzzle up with '$2' and a grid of zeros, say so on stderr, and go on with the next",
        data,
    )


def unsolvable_puzzle(lab: Lab) -> None:
    """Clues without a board cost their own puzzle alone."""
    before, after = easy(lab.size, 2)
    wanted = numbered([before, unsolvable(lab.size), after])
    lab.ask(
        [wanted[0], wanted[2]],
        "three puzzles; $2 has no solution",
        "give such a puzzle up with '$2' and a grid of zeros, say so on stderr, and go on with the next",
        text_of(wanted),
    )
