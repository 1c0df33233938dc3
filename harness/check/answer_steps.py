"""Steps about answers: their form, their order, when they come."""

from __future__ import annotations

import statistics
from itertools import pairwise

from nonobot.harness.check.check_puzzles import ambiguous, easy, numbered, text_of
from nonobot.harness.check.session import Lab, ShortfallError, Talk, excerpt
from nonobot.harness.check.step import ANSWER, COUNTS, MUST, NOTE, ONE_AT_A_TIME, QUESTION, step
from nonobot.protocol import Answer, format_answer

__all__ = [
    "answers_before_the_next",
    "any_solution",
    "large_batch",
    "numbers_and_order",
    "official_form",
    "one_puzzle",
    "only_answers",
    "same_again",
    "seconds_per_puzzle",
    "writes_at_once",
]

START_MARGIN = 1.5
"""A later start may take so much longer than the first."""

LARGE_BATCH = 200
"""Puzzles; of 25x25 their answers are 250 KB, which no pipe holds."""

TIMED = 20


@step(
    MUST,
    "starts, reads TAB and LF, and solves a puzzle",
    "Everything else builds on it; what the start takes is allowed for in all other steps.",
    QUESTION,
)
def one_puzzle(lab: Lab) -> str:
    """Starts, and solves a puzzle; how long that takes is allowed for later."""
    wanted = numbered(easy(lab.size, 1))
    with lab.talk() as talk:
        talk.send(text_of(wanted), last=True)
        talk.wait_for(wanted)
        talk.wait_for_end()  # what it compiled at its first start is kept on disk only now, by some
    talk.demand(
        wanted,
        f"one puzzle, then stdin was closed: {excerpt(text_of(wanted))}",
        f"is the bot set to boards of {lab.size[0]}x{lab.size[1]} (the check's --size)? A start that takes longer "
        "needs --start-timeout; --verbose shows the whole conversation",
    )
    seconds = talk.arrivals[0]
    lab.start_seconds = START_MARGIN * seconds
    return f"first answer after {seconds:.2f} s"


@step(
    MUST,
    "writes answers in the official form",
    "An organiser's checker may compare bytes; CR or blanks at the end of a line are a warning.",
    ANSWER,
)
def official_form(lab: Lab) -> None:
    """Writes `$k`, then the rows, to the byte."""
    wanted = numbered(easy(lab.size, 2))
    talk = lab.ask(wanted, "two puzzles", "write '$k' and a row of 0 and 1 for each row")
    for answer in talk.answers:
        found, official = _written(talk, answer), _official(answer)
        if found == official:
            continue
        line, expected = next(
            ((one, other) for one, other in zip(_lines(found), _lines(official), strict=False) if one != other),
            (found, official),
        )
        raise ShortfallError(
            f"two puzzles: {excerpt(text_of(wanted))}",
            excerpt(expected),
            excerpt(line),
            "write numbers with one TAB between, nothing after the last, and LF after every line, the last too",
            minor=_without_blanks(found) == _without_blanks(official),
        )


def _written(talk: Talk, answer: Answer) -> bytes:
    """Return an answer as the bot wrote it."""
    height = answer.solution.height if answer.solution else 0
    return b"".join(talk.lines[answer.line - 1 : answer.line + height])


def _official(answer: Answer) -> bytes:
    assert answer.number is not None
    assert answer.solution is not None  # it was right
    return format_answer(answer.number, answer.solution)


def _lines(text: bytes) -> list[bytes]:
    return text.splitlines(keepends=True)


def _without_blanks(text: bytes) -> bytes:
    """Return `text` without CR and blanks at the end of lines; LF stays."""
    return b"\n".join(line.rstrip(b" \t\r") for line in text.split(b"\n"))


@step(
    MUST,
    "writes nothing but answers to stdout",
    "A banner or a line of debug text shifts every answer after it for a checker that counts lines.",
    ANSWER,
)
def only_answers(lab: Lab) -> None:
    """Writes nothing else to stdout, also at the start and at the end."""
    wanted = numbered(easy(lab.size, 2))
    with lab.talk() as talk:
        talk.send(text_of(wanted), last=True)
        talk.wait_for(wanted)
        talk.wait_for_end()
    talk.demand(wanted, "two puzzles", "write '$k' and a row of 0 and 1 for each row")
    rows = {answer.line + offset for answer in talk.answers for offset in range(lab.size[1] + 1)}
    others = [line for number, line in enumerate(talk.lines, 1) if number not in rows]
    if others:
        text = [line for line in others if line.strip()]
        raise ShortfallError(
            "two puzzles, then stdin was closed",
            f"the answers alone, {len(rows)} lines",
            f"{len(others)} more, the first {excerpt((text or others)[0])}",
            "write banners, progress and debug text to stderr",
            minor=not text,  # blank lines are read over
        )


@step(
    MUST,
    "keeps the numbers and the order of the puzzles",
    "Sets are cut and put together: numbers have gaps, and the answer belongs to the number it bears.",
    COUNTS,
)
def numbers_and_order(lab: Lab) -> None:
    """Repeats the numbers as they came, gaps and steps back included."""
    puzzles = easy(lab.size, 4)
    wanted = list(zip((7, 100, 3, 1_000_000), puzzles, strict=True))
    advice = "answer in the order of the questions, each once, and repeat the number that followed its '$'"
    talk = lab.ask(wanted, "puzzles $7, $100, $3, $1000000", advice)
    found = [answer.number for answer in talk.answers]
    if found != [number for number, _ in wanted]:
        got = " ".join(f"${number}" for number in found)
        raise ShortfallError("puzzles $7, $100, $3, $1000000", "answers $7 $100 $3 $1000000", got, advice)


@step(
    MUST,
    "takes any solution where a puzzle has several",
    "Most boards with 35% black cells have several; a bot that waits for a unique one solves few of them.",
    COUNTS,
)
def any_solution(lab: Lab) -> None:
    """Answers a puzzle that has several solutions with one of them."""
    lab.ask(
        numbered([ambiguous(lab.size), *easy(lab.size, 1)]),
        "a puzzle with several solutions and one more",
        "do not insist on a unique solution, and guess where no line tells more",
    )


@step(
    MUST,
    "writes each answer out at once",
    "What is still in a buffer when the time is up is lost.",
    ONE_AT_A_TIME,
)
def writes_at_once(lab: Lab) -> None:
    """Writes an answer out when it has it."""
    wanted = numbered(easy(lab.size, 2))
    with lab.talk() as talk:
        talk.send(text_of(wanted))
        talk.wait_for(wanted[:1])
    talk.demand(
        wanted[:1],
        "two puzzles; stdin stayed open",
        "flush stdout after each answer, and solve each puzzle before the next is read",
    )


@step(
    MUST,
    "answers before the next $ comes",
    "A judge may send the next puzzle only after the answer; a bot that waits for it waits for ever.",
    ONE_AT_A_TIME,
    needs=(writes_at_once,),
)
def answers_before_the_next(lab: Lab) -> None:
    """Answers with the last clue line, not with the next `$`."""
    wanted = numbered(easy(lab.size, 3))
    with lab.talk() as talk:
        for one in wanted:
            talk.send(text_of([one]))
            talk.wait_for([one])
            if not talk.answers or talk.answers[-1].number != one[0]:
                break
    talk.demand(
        wanted,
        "each puzzle after the answer to the one before; stdin stayed open",
        f"count the clue lines: with line {sum(lab.size)} after the '$' the puzzle is complete",
    )


@step(
    MUST,
    "answers a large batch that is sent at once",
    "A tournament sends 1000 puzzles at once; a bot that only reads or only writes stands still.",
    COUNTS,
)
def large_batch(lab: Lab) -> str:
    """Answers everything when everything is sent at once."""
    talk = lab.ask(
        numbered(easy(lab.size, LARGE_BATCH)),
        f"{LARGE_BATCH} puzzles at once",
        "keep reading while you write, free what a puzzle took, and write whole answers",
    )
    return f"{LARGE_BATCH} puzzles in {talk.arrivals[-1]:.2f} s"


@step(
    NOTE,
    "gives the same answers to the same input",
    "Nothing asks for it; faults are found sooner in a bot that does.",
    COUNTS,
)
def same_again(lab: Lab) -> str:
    """Whether the same questions get the same answers."""
    wanted = numbered([*easy(lab.size, 5), ambiguous(lab.size)])
    runs = [lab.ask(wanted, "the same batch twice", "answer the same batch twice") for _ in range(2)]
    first, second = ([answer.solution for answer in talk.answers] for talk in runs)
    if first == second:
        return "the same answers twice"
    differing = [number for (number, _), a, b in zip(wanted, first, second, strict=False) if a != b]
    return f"other answers to {', '.join(f'${number}' for number in differing) or 'some'} the second time"


@step(
    NOTE,
    "how long an easy puzzle takes",
    "Much more than a millisecond is a wait in the reading or writing, not in the solving.",
    COUNTS,
)
def seconds_per_puzzle(lab: Lab) -> str:
    """How long an easy puzzle takes."""
    wanted = numbered(easy(lab.size, TIMED + 1))
    talk = lab.ask(wanted, f"{TIMED + 1} easy puzzles", "answer all of them")
    took = [after - before for before, after in pairwise(talk.arrivals)]
    return (
        f"first answer after {talk.arrivals[0]:.2f} s, then an easy puzzle takes "
        f"{1000 * statistics.median(took):.1f} ms (median), at most {1000 * max(took):.1f} ms"
    )
