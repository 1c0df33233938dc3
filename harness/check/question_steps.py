"""Steps about questions: what a bot must read, and what a careful reader accepts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from nonobot.harness.check import check_puzzles
from nonobot.harness.check.check_puzzles import easy, filled, numbered, text_of, with_empty_edge_rows
from nonobot.harness.check.session import BotUnderTest
from nonobot.harness.check.step import FORGIVES, MUST, ONE_AT_A_TIME, QUESTION, REFUSES, SHOULD, UNSOLVED, step
from nonobot.protocol import Puzzle

SECONDS_BETWEEN_PIECES = 0.0005  # pause between pieces: a bot that waits for input gets each piece alone
GIVE_UP = "give such a puzzle up with '$2' and a grid of zeros, report it on stderr, and continue with the next"


def _ask(
    bot: BotUnderTest,
    sent: str,
    advice: str,
    puzzles: Sequence[Puzzle] = (),
    written: Callable[[bytes], bytes] = lambda text: text,
    second_given_up: bool = False,
) -> None:
    """Send `puzzles`, or two easy ones, as `written` changes their official form; demand the right answers."""
    batch = numbered(puzzles or easy(bot.size, 2))
    wanted = batch[::2] if second_given_up else batch
    bot.ask(wanted, sent, advice, written(text_of(batch)), is_odd=True)


@step(MUST, "reads input that comes in odd pieces", ONE_AT_A_TIME)
def odd_pieces(bot: BotUnderTest) -> None:
    """A pipe can split the text anywhere, even within a number."""
    wanted = numbered(easy(bot.size, 4))
    data = text_of(wanted[1:])
    half = len(data) // 2
    singles = [data[start : start + 1] for start in range(half)]
    sevens = [data[start : start + 7] for start in range(half, len(data), 7)]
    with bot.session() as session:
        session.send(text_of(wanted[:1]))
        session.wait_for(wanted[:1])  # now it waits for input and gets every piece separately
        session.send_pieces([*singles, *sevens], SECONDS_BETWEEN_PIECES)
        session.wait_for(wanted)
    advice = "a read may return part of a line: read lines, or keep the unfinished one until its end comes"
    session.demand(wanted, "a puzzle, then three more in pieces of a byte and of seven bytes", advice)


@step(MUST, "reads CRLF line ends", FORGIVES)
def crlf(bot: BotUnderTest) -> None:
    """Half of the official sets have them."""
    advice = "strip CR as well as LF from each line"
    _ask(bot, "two puzzles with CRLF line ends", advice, written=lambda text: text.replace(b"\n", b"\r\n"))


@step(MUST, "counts an empty line as a column's clue, first and last", QUESTION)
def empty_columns(bot: BotUnderTest) -> None:
    """A column without black cells is an empty line, also directly after the `$`."""
    advice = "an empty line is a clue line: count it, also directly after the '$'"
    puzzles = [check_puzzles.with_empty_edge_columns(bot.size), *easy(bot.size, 1)]
    _ask(bot, "a puzzle whose first and last columns are empty lines, and one more", advice, puzzles)


@step(MUST, "counts an empty line as a row's clue, first and last", QUESTION)
def empty_rows(bot: BotUnderTest) -> None:
    """A row without black cells is an empty line, also directly before the next `$`."""
    advice = "an empty line is a clue line: count it, also directly before the next '$'"
    puzzles = [with_empty_edge_rows(bot.size), *easy(bot.size, 1)]
    _ask(bot, "a puzzle whose first and last rows are empty lines, and one more", advice, puzzles)


@step(MUST, "solves the board without black cells", QUESTION)
def all_white(bot: BotUnderTest) -> None:
    """All lines are empty: a reader that treats them as space finds no puzzle."""
    advice = "empty lines are clue lines; the answer is all zeros"
    _ask(bot, "a puzzle of empty lines alone, and one more", advice, [filled(bot.size, 0), *easy(bot.size, 1)])


@step(MUST, "solves the board without white cells", QUESTION)
def all_black(bot: BotUnderTest) -> None:
    """Blocks as long as their line overflow masks and bounds that are one short."""
    advice = "a block may be as long as its line; look at masks and bounds"
    puzzles = [filled(bot.size, 1), *easy(bot.size, 1)]
    _ask(bot, "a puzzle whose clues fill their lines, and one more", advice, puzzles)


@step(SHOULD, "reads 0 as an empty clue", FORGIVES)
def zero_clue(bot: BotUnderTest) -> None:
    """Other programs write it."""
    sent = "a puzzle with 0 for its empty rows, and one more"
    advice = "read a single 0 as an empty clue"
    puzzles = [with_empty_edge_rows(bot.size), *easy(bot.size, 1)]
    _ask(bot, sent, advice, puzzles, lambda text: re.sub(rb"^\n", b"0\n", text, flags=re.MULTILINE))


@step(SHOULD, "reads spaces in place of TAB", FORGIVES)
def spaces_for_tab(bot: BotUnderTest) -> None:
    """Editors and web pages turn TAB into spaces."""
    advice = "split clue lines at any white space"
    _ask(bot, "two puzzles with spaces for TAB", advice, written=lambda text: text.replace(b"\t", b" "))


@step(SHOULD, "reads spaces around the number after $", FORGIVES)
def spaces_around_the_number(bot: BotUnderTest) -> None:
    """Hand-made sets have them."""
    advice = "strip what follows the '$'"
    _ask(bot, "'$ 1 ' and '$ 2 '", advice, written=lambda text: re.sub(rb"\$(.)", rb"$ \1 ", text))


@step(SHOULD, "reads over a byte order mark", FORGIVES)
def byte_order_mark(bot: BotUnderTest) -> None:
    """Some editors on Windows write one."""
    advice = "drop the bytes EF BB BF at the start"
    _ask(bot, "two puzzles after a UTF-8 byte order mark", advice, written=lambda text: b"\xef\xbb\xbf" + text)


@step(SHOULD, "reads over blank lines between puzzles", FORGIVES)
def blank_lines(bot: BotUnderTest) -> None:
    """Sets joined from several files have them."""
    sent = "blank lines before, between and after two puzzles"
    advice = "once a puzzle has all its clue lines, leave out blank lines up to the next '$'"
    _ask(bot, sent, advice, written=lambda text: b"\n" + text.replace(b"$2\n", b"\n\n$2\n") + b"\n")


@step(SHOULD, "reads a last line without a line end", FORGIVES)
def no_final_newline(bot: BotUnderTest) -> None:
    """Some editors leave it out, and the last puzzle counts like any other."""
    advice = "take a last line that the end of the input ends"
    _ask(bot, "two puzzles, without the very last line end", advice, written=lambda text: text.removesuffix(b"\n"))


@step(SHOULD, "survives a clue that is not a number", REFUSES)
def garbled_clue(bot: BotUnderTest) -> None:
    """One damaged line should cost one puzzle, not the rest of the tournament."""

    def garbled(text: bytes) -> bytes:
        return re.sub(rb"(?<=\$2\n)(.*\n).*", rb"\g<1>2x", text, count=1)

    sent = "three puzzles; the clue of column 2 of $2 is '2x'"
    _ask(bot, sent, GIVE_UP, easy(bot.size, 3), garbled, second_given_up=True)


@step(SHOULD, "survives a puzzle without a solution", UNSOLVED)
def unsolvable_puzzle(bot: BotUnderTest) -> None:
    """It costs one puzzle; a search that finds no solution must not stop the bot."""
    before, after = easy(bot.size, 2)
    puzzles = [before, check_puzzles.unsolvable(bot.size), after]
    _ask(bot, "three puzzles; $2 has no solution", GIVE_UP, puzzles, second_given_up=True)
