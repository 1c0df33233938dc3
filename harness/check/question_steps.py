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

__all__ = ["QUESTION_STEPS"]

SECONDS_BETWEEN_PIECES = 0.0005
"""A bot that waits for input gets each piece alone."""

GIVE_UP = "give such a puzzle up with '$2' and a grid of zeros, say so on stderr, and go on with the next"

EVERY, ALL_BUT_THE_SECOND = slice(None), slice(0, None, 2)


def _question(
    level: Level,
    title: str,
    section: str,
    sent: str,
    advice: str,
    puzzles: Callable[[Size], list[Puzzle]] = lambda size: easy(size, 2),
    wanted: slice = EVERY,
) -> Callable[[Callable[[bytes], bytes]], Step]:
    """Make a step of the function below it, which writes a batch, given its official form.

    The step demands the right answers to the `wanted` part of the batch that `puzzles` makes.
    """

    def step_of(written: Callable[[bytes], bytes]) -> Step:
        def test(bot: BotUnderTest) -> None:
            batch = numbered(puzzles(bot.size))
            bot.ask(batch[wanted], sent, advice, written(text_of(batch)))

        return Step(written.__name__, level, title, written.__doc__ or "", section, test)

    return step_of


def _then_an_easy_one(puzzle: Callable[[Size], Puzzle]) -> Callable[[Size], list[Puzzle]]:
    """Return a maker of a puzzle and an easy one, whose answer shows whether the lines were counted right."""
    return lambda size: [puzzle(size), *easy(size, 1)]


@step(MUST, "reads input that comes in odd pieces", ONE_AT_A_TIME)
def odd_pieces(bot: BotUnderTest) -> None:
    """A pipe cuts where it likes, also within a number."""
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


@_question(
    MUST,
    "reads CRLF line ends",
    FORGIVES,
    sent="two puzzles with CRLF line ends",
    advice="strip CR as well as LF from each line",
)
def crlf(text: bytes) -> bytes:
    """Two of the official sets have them."""
    return text.replace(b"\n", b"\r\n")


@_question(
    MUST,
    "counts an empty line as a column's clue, first and last",
    QUESTION,
    sent="a puzzle whose first and last columns are empty lines, and one more",
    advice="an empty line is a clue line: count it, also directly after the '$'",
    puzzles=_then_an_easy_one(with_empty_edge_columns),
)
def empty_columns(text: bytes) -> bytes:
    """A column without black cells is an empty line, also directly after the `$`."""
    return text


@_question(
    MUST,
    "counts an empty line as a row's clue, first and last",
    QUESTION,
    sent="a puzzle whose first and last rows are empty lines, and one more",
    advice="an empty line is a clue line: count it, also directly before the next '$'",
    puzzles=_then_an_easy_one(with_empty_edge_rows),
)
def empty_rows(text: bytes) -> bytes:
    """A row without black cells is an empty line, also directly before the next `$`."""
    return text


@_question(
    MUST,
    "solves the board without black cells",
    QUESTION,
    sent="a puzzle of empty lines alone, and one more",
    advice="empty lines are clue lines; the answer is all zeros",
    puzzles=_then_an_easy_one(lambda size: filled(size, 0)),
)
def all_white(text: bytes) -> bytes:
    """It is all empty lines: a reader that takes them for space finds no puzzle."""
    return text


@_question(
    MUST,
    "solves the board without white cells",
    QUESTION,
    sent="a puzzle whose clues fill their lines, and one more",
    advice="a block may be as long as its line; look at masks and bounds",
    puzzles=_then_an_easy_one(lambda size: filled(size, 1)),
)
def all_black(text: bytes) -> bytes:
    """Blocks as long as their line overflow masks and bounds that are one short."""
    return text


@_question(
    SHOULD,
    "reads 0 as an empty clue",
    FORGIVES,
    sent="a puzzle with 0 for its empty rows, and one more",
    advice="read a 0 that stands alone as an empty clue",
    puzzles=_then_an_easy_one(with_empty_edge_rows),
)
def zero_clue(text: bytes) -> bytes:
    """Other programs write it."""
    return b"".join((line or b"0") + b"\n" for line in text.splitlines())


@_question(
    SHOULD,
    "reads spaces in place of TAB",
    FORGIVES,
    sent="two puzzles with spaces for TAB",
    advice="split clue lines at any white space",
)
def spaces_for_tab(text: bytes) -> bytes:
    """Editors and web pages turn TAB into spaces."""
    return text.replace(b"\t", b" ")


@_question(
    SHOULD,
    "reads spaces around the number after $",
    FORGIVES,
    sent="'$ 1 ' and '$ 2 '",
    advice="strip what follows the '$'",
)
def spaces_around_the_number(text: bytes) -> bytes:
    """Hand-made sets have them."""
    return text.replace(b"$1\n", b"$ 1 \n").replace(b"$2\n", b"$ 2 \n")


@_question(
    SHOULD,
    "reads over a byte order mark",
    FORGIVES,
    sent="two puzzles after a UTF-8 byte order mark",
    advice="drop the bytes EF BB BF at the start",
)
def byte_order_mark(text: bytes) -> bytes:
    """Some editors on Windows write one."""
    return b"\xef\xbb\xbf" + text


@_question(
    SHOULD,
    "reads over blank lines between puzzles",
    FORGIVES,
    sent="blank lines before, between and after two puzzles",
    advice="once a puzzle has all its clue lines, leave out blank lines up to the next '$'",
)
def blank_lines(text: bytes) -> bytes:
    """Sets that were put together from several files have them."""
    return b"\n" + text.replace(b"$2\n", b"\n\n$2\n") + b"\n"


@_question(
    SHOULD,
    "reads a last line without a line end",
    FORGIVES,
    sent="two puzzles, without the very last line end",
    advice="take a last line that the end of the input ends",
)
def no_final_newline(text: bytes) -> bytes:
    """Some editors leave it out, and the last puzzle counts like any other."""
    return text.removesuffix(b"\n")


@_question(
    SHOULD,
    "survives a clue that is not a number",
    REFUSES,
    sent="three puzzles; the clue of column 2 of $2 is '2x'",
    advice=GIVE_UP,
    puzzles=lambda size: easy(size, 3),
    wanted=ALL_BUT_THE_SECOND,
)
def garbled_clue(text: bytes) -> bytes:
    """One damaged line is to cost one puzzle, not the rest of the tournament."""
    return re.sub(rb"(?<=\$2\n)(.*\n).*", rb"\g<1>2x", text, count=1)


def _with_an_unsolvable_second(size: Size) -> list[Puzzle]:
    before, after = easy(size, 2)
    return [before, unsolvable(size), after]


@_question(
    SHOULD,
    "survives a puzzle without a solution",
    UNSOLVED,
    sent="three puzzles; $2 has no solution",
    advice=GIVE_UP,
    puzzles=_with_an_unsolvable_second,
    wanted=ALL_BUT_THE_SECOND,
)
def unsolvable_puzzle(text: bytes) -> bytes:
    """It costs one puzzle, and a search that ends without a board must not end the bot."""
    return text


QUESTION_STEPS = (
    odd_pieces,
    crlf,
    empty_columns,
    empty_rows,
    all_white,
    all_black,
    zero_clue,
    spaces_for_tab,
    spaces_around_the_number,
    byte_order_mark,
    blank_lines,
    no_final_newline,
    garbled_clue,
    unsolvable_puzzle,
)
