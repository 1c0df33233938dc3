"""Steps about questions: what has to be read, and what a careful reader forgives."""

from __future__ import annotations

import re
from collections.abc import Callable

from nonobot.harness.check.check_puzzles import (
    Size,
    easy,
    filled,
    numbered,
    text_of,
    unsolvable,
    with_empty_edge_columns,
    with_empty_edge_rows,
)
from nonobot.harness.check.session import BotUnderTest
from nonobot.harness.check.step import (
    FORGIVES,
    MUST,
    ONE_AT_A_TIME,
    QUESTION,
    REFUSES,
    SHOULD,
    UNSOLVED,
    Level,
    Step,
    step,
)
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

EVERY, ALL_BUT_THE_SECOND = slice(None), slice(0, None, 2)


def _question(
    name: str,
    level: Level,
    title: str,
    why: str,
    section: str,
    *,
    sent: str,
    advice: str,
    puzzles: Callable[[Size], list[Puzzle]] = lambda size: easy(size, 2),
    written: Callable[[bytes], bytes] = lambda text: text,
    wanted: slice = EVERY,
) -> Step:
    """Return a step that sends a batch and demands the right answers to its `wanted` part.

    `puzzles` makes the batch for a size of boards, `written` its text of the official form.
    """

    def test(bot: BotUnderTest) -> None:
        batch = numbered(puzzles(bot.size))
        bot.ask(batch[wanted], sent, advice, written(text_of(batch)))

    return Step(name, level, title, why, section, test)


def _then_an_easy_one(puzzle: Callable[[Size], Puzzle]) -> Callable[[Size], list[Puzzle]]:
    """Return what makes `puzzle` and another, which shows whether the lines were counted right."""
    return lambda size: [puzzle(size), *easy(size, 1)]


@step(
    MUST,
    "reads input that comes in odd pieces",
    "A pipe cuts where it likes, also within a number.",
    ONE_AT_A_TIME,
)
def odd_pieces(bot: BotUnderTest) -> None:
    wanted = numbered(easy(bot.size, 4))
    data = text_of(wanted[1:])
    half = len(data) // 2
    singles = [data[at : at + 1] for at in range(half)]
    sevens = [data[at : at + 7] for at in range(half, len(data), 7)]
    with bot.session() as session:
        session.send(text_of(wanted[:1]))
        session.wait_for(wanted[:1])  # now it waits for input and sees every piece by itself
        session.send_pieces([*singles, *sevens], SECONDS_BETWEEN_PIECES)
        session.wait_for(wanted)
    session.demand(
        wanted,
        "a puzzle, then three more in pieces of a byte and of seven bytes",
        "a read may return part of a line: read lines, or keep the unfinished one until its end comes",
    )


crlf = _question(
    "crlf",
    MUST,
    "reads CRLF line ends",
    "Two of the official sets have them.",
    FORGIVES,
    sent="two puzzles with CRLF line ends",
    advice="strip CR as well as LF from each line",
    written=lambda text: text.replace(b"\n", b"\r\n"),
)

empty_columns = _question(
    "empty_columns",
    MUST,
    "counts an empty line as a column's clue, first and last",
    "A column without black cells is an empty line, also directly after the `$`.",
    QUESTION,
    sent="a puzzle whose first and last columns are empty lines, and one more",
    advice="an empty line is a clue line: count it, also directly after the '$'",
    puzzles=_then_an_easy_one(with_empty_edge_columns),
)

empty_rows = _question(
    "empty_rows",
    MUST,
    "counts an empty line as a row's clue, first and last",
    "A row without black cells is an empty line, also directly before the next `$`.",
    QUESTION,
    sent="a puzzle whose first and last rows are empty lines, and one more",
    advice="an empty line is a clue line: count it, also directly before the next '$'",
    puzzles=_then_an_easy_one(with_empty_edge_rows),
)

all_white = _question(
    "all_white",
    MUST,
    "solves the board without black cells",
    "It is all empty lines: a reader that takes them for space finds no puzzle.",
    QUESTION,
    sent="a puzzle of empty lines alone, and one more",
    advice="empty lines are clue lines; the answer is all zeros",
    puzzles=_then_an_easy_one(lambda size: filled(size, 0)),
)

all_black = _question(
    "all_black",
    MUST,
    "solves the board without white cells",
    "Blocks as long as their line overflow masks and bounds that are one short.",
    QUESTION,
    sent="a puzzle whose clues fill their lines, and one more",
    advice="a block may be as long as its line; look at masks and bounds",
    puzzles=_then_an_easy_one(lambda size: filled(size, 1)),
)

zero_clue = _question(
    "zero_clue",
    SHOULD,
    "reads 0 as an empty clue",
    "Other programs write it.",
    FORGIVES,
    sent="a puzzle with 0 for its empty rows, and one more",
    advice="read a 0 that stands alone as an empty clue",
    puzzles=_then_an_easy_one(with_empty_edge_rows),
    written=lambda text: b"".join((line or b"0") + b"\n" for line in text.splitlines()),
)

spaces_for_tab = _question(
    "spaces_for_tab",
    SHOULD,
    "reads spaces in place of TAB",
    "Editors and web pages turn TAB into spaces.",
    FORGIVES,
    sent="two puzzles with spaces for TAB",
    advice="split clue lines at any white space",
    written=lambda text: text.replace(b"\t", b" "),
)

spaces_around_the_number = _question(
    "spaces_around_the_number",
    SHOULD,
    "reads spaces around the number after $",
    "Hand-made sets have them.",
    FORGIVES,
    sent="'$ 1 ' and '$ 2 '",
    advice="strip what follows the '$'",
    written=lambda text: text.replace(b"$1\n", b"$ 1 \n").replace(b"$2\n", b"$ 2 \n"),
)

byte_order_mark = _question(
    "byte_order_mark",
    SHOULD,
    "reads over a byte order mark",
    "Some editors on Windows write one.",
    FORGIVES,
    sent="two puzzles after a UTF-8 byte order mark",
    advice="drop the bytes EF BB BF at the start",
    written=lambda text: b"\xef\xbb\xbf" + text,
)

blank_lines = _question(
    "blank_lines",
    SHOULD,
    "reads over blank lines between puzzles",
    "Sets that were put together from several files have them.",
    FORGIVES,
    sent="blank lines before, between and after two puzzles",
    advice="once a puzzle has all its clue lines, leave out blank lines up to the next '$'",
    written=lambda text: b"\n" + text.replace(b"$2\n", b"\n\n$2\n") + b"\n",
)

no_final_newline = _question(
    "no_final_newline",
    SHOULD,
    "reads a last line without a line end",
    "Some editors leave it out, and the last puzzle counts like any other.",
    FORGIVES,
    sent="two puzzles, without the very last line end",
    advice="take a last line that the end of the input ends",
    written=lambda text: text.removesuffix(b"\n"),
)

garbled_clue = _question(
    "garbled_clue",
    SHOULD,
    "survives a clue that is not a number",
    "One damaged line is to cost one puzzle, not the rest of the tournament.",
    REFUSES,
    sent="three puzzles; the clue of column 2 of $2 is '2x'",
    advice="give such a puzzle up with '$2' and a grid of zeros, say so on stderr, and go on with the next",
    puzzles=lambda size: easy(size, 3),
    written=lambda text: re.sub(rb"(?<=\$2\n)(.*\n).*", rb"\g<1>2x", text, count=1),
    wanted=ALL_BUT_THE_SECOND,
)


def _with_an_unsolvable_second(size: Size) -> list[Puzzle]:
    before, after = easy(size, 2)
    return [before, unsolvable(size), after]


unsolvable_puzzle = _question(
    "unsolvable_puzzle",
    SHOULD,
    "survives a puzzle without a solution",
    "It costs one puzzle, and a search that ends without a board must not end the bot.",
    UNSOLVED,
    sent="three puzzles; $2 has no solution",
    advice="give such a puzzle up with '$2' and a grid of zeros, say so on stderr, and go on with the next",
    puzzles=_with_an_unsolvable_second,
    wanted=ALL_BUT_THE_SECOND,
)
