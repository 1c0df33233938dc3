"""Steps about answers: their form, their order, when they come."""

from __future__ import annotations

import statistics
from itertools import pairwise

from nonobot.harness.check.check_puzzles import ambiguous, easy, numbered, text_of
from nonobot.harness.check.session import BotUnderTest, Session, ShortfallError, excerpt
from nonobot.harness.check.step import ANSWER, COUNTS, MUST, NOTE, ONE_AT_A_TIME, QUESTION, step
from nonobot.protocol import Solution, format_answer

LARGE_BATCH = 200  # number of puzzles. At 25x25 their answers take 250 KB, more than a pipe can store
SHORTEST_MS = 0.1  # shortest time that the step on times shows: answers of one read arrive together


@step(MUST, "starts, reads TAB and LF, and solves a puzzle", QUESTION)
def one_puzzle(bot: BotUnderTest) -> str:
    """All other steps build on it, and allow for the time that this start takes."""
    wanted = numbered(easy(bot.size, 1))
    # Wait for the end: some bots save the code compiled at their first start only then.
    with bot.session() as session:
        session.send(text_of(wanted), last=True)
        session.wait_for(wanted)
        if session.answers:
            session.wait_for_end()
    sent = f"one puzzle, then stdin was closed: {excerpt(text_of(wanted))}"
    session.demand(wanted, sent, _start_advice(bot, session))
    seconds = session.arrivals[0]
    bot.start_seconds = 1.5 * seconds  # a later start may take longer than the first
    return f"first answer after {seconds:.2f} s"


def _start_advice(bot: BotUnderTest, session: Session) -> str:
    """Return advice for the author of a bot that did not solve the first puzzle, by how the bot ended."""
    verbose = "`nonojudge check --verbose` shows the whole conversation"
    if session.answers:
        return f"compare the answer with the clues: first the columns from the left, then the rows; {verbose}"
    if session.ended and not session.process.exit_status:
        first, _ = two = numbered(easy(bot.size, 2))
        with bot.session() as session:  # it may leave out the last puzzle
            session.send(text_of(two), last=True)
            session.wait_for([first])
        if session.answers and session.answers[0].solution:
            return "answer the last puzzle, too: it is complete with its last clue line, no '$' follows it"
    before = "" if session.ended else "flush stdout after each answer; "
    if session.ended and session.last_line:
        before = "find the cause in what the bot wrote to stderr; otherwise "
    size = f"check that the bot expects boards of {bot.size[0]}x{bot.size[1]} (option --size)"
    return f"{before}{size}; a start that takes longer needs --start-timeout; {verbose}"


@step(MUST, "writes answers in the official form", ANSWER)
def official_form(bot: BotUnderTest) -> None:
    """An organiser's checker may compare bytes; CR or blanks at the end of a line are a warning."""
    wanted = numbered(easy(bot.size, 2))
    session = bot.ask(wanted, "two puzzles", "write '$k' and a row of 0 and 1 for each row")
    for answer in session.answers:
        assert answer.number is not None
        assert answer.solution is not None  # it was right
        written = b"".join(session.lines[answer.line - 1 : answer.line + answer.solution.height])
        official = format_answer(answer.number, answer.solution)
        if written == official:
            continue
        pairs = zip(written.splitlines(keepends=True), official.splitlines(keepends=True), strict=False)
        line, expected = next((pair for pair in pairs if pair[0] != pair[1]), (written, official))
        # CR and blanks at the end of lines
        plain, official_lines = (
            [line.rstrip(b" \t\r") for line in text.split(b"\n")] for text in (written, official)
        )
        raise ShortfallError(
            f"two puzzles: {excerpt(text_of(wanted))}",
            excerpt(expected),
            excerpt(line),
            "write numbers with one TAB between, nothing after the last, and LF after every line, the last too",
            minor=plain == official_lines,
        )


@step(MUST, "writes nothing but answers to stdout", ANSWER)
def only_answers(bot: BotUnderTest) -> None:
    """A banner or a line of debug text shifts every answer after it for a checker that counts lines."""
    wanted = numbered(easy(bot.size, 2))
    session = bot.ask(wanted, "two puzzles", "write '$k' and a row of 0 and 1 for each row", to_the_end=True)
    rows = {answer.line + offset for answer in session.answers for offset in range(bot.size[1] + 1)}
    others = [line for number, line in enumerate(session.lines, 1) if number not in rows]
    if others:
        text = [line for line in others if line.strip()]
        raise ShortfallError(
            "two puzzles, then stdin was closed",
            f"the answers alone, {len(rows)} lines",
            f"{len(others)} more, the first {excerpt((text or others)[0])}",
            "write banners, progress and debug text to stderr",
            minor=not text,  # blank lines are skipped
        )


@step(MUST, "keeps the numbers and the order of the puzzles", COUNTS)
def numbers_and_order(bot: BotUnderTest) -> None:
    """Organisers cut and join sets: numbers have gaps, and an answer counts for its number."""
    puzzles = easy(bot.size, 4)
    wanted = list(zip((7, 100, 3, 1_000_000), puzzles, strict=True))
    advice = "answer in the order of the questions, each once, and repeat the number that followed its '$'"
    session = bot.ask(wanted, "puzzles $7, $100, $3, $1000000", advice)
    numbers = [answer.number for answer in session.answers]
    if numbers != [number for number, _ in wanted]:
        got = " ".join(f"${number}" for number in numbers)
        raise ShortfallError("puzzles $7, $100, $3, $1000000", "answers $7 $100 $3 $1000000", got, advice)


@step(MUST, "takes any solution where a puzzle has several", COUNTS)
def any_solution(bot: BotUnderTest) -> None:
    """Most boards with 35% black cells have several; a bot that waits for a unique one solves few of them."""
    wanted = numbered([ambiguous(bot.size), *easy(bot.size, 1)])
    advice = "do not insist on a unique solution, and guess where no line tells more"
    bot.ask(wanted, "a puzzle with several solutions and one more", advice, is_odd=True)


@step(MUST, "writes each answer out at once", ONE_AT_A_TIME)
def writes_at_once(bot: BotUnderTest) -> None:
    """What is still in a buffer when the time is up is lost."""
    wanted = numbered(easy(bot.size, 2))
    with bot.session() as session:
        session.send(text_of(wanted))
        session.wait_for(wanted[:1])
    advice = "flush stdout after each answer, and solve each puzzle before the next is read"
    session.demand(wanted[:1], "two puzzles; stdin stayed open", advice)


@step(MUST, "answers before the next $ comes", ONE_AT_A_TIME, needs=(writes_at_once,))
def answers_before_the_next(bot: BotUnderTest) -> None:
    """A judge may send the next puzzle only after the answer; a bot that waits for it waits for ever."""
    wanted = numbered(easy(bot.size, 3))
    with bot.session() as session:
        for question in wanted:
            session.send(text_of([question]))
            session.wait_for([question])
            if not session.answers or session.answers[-1].number != question[0]:
                break
    advice = f"count the clue lines: with line {sum(bot.size)} after the '$' the puzzle is complete"
    session.demand(wanted, "each puzzle after the answer to the one before; stdin stayed open", advice)


@step(MUST, "answers a large batch that is sent at once", COUNTS)
def large_batch(bot: BotUnderTest) -> str:
    """A tournament sends 1000 puzzles at once; a bot that only reads or only writes stands still."""
    advice = "keep reading while you write, free what a puzzle took, and write whole answers"
    session = bot.ask(numbered(easy(bot.size, LARGE_BATCH)), f"{LARGE_BATCH} puzzles at once", advice)
    return f"{LARGE_BATCH} puzzles in {session.arrivals[-1]:.2f} s"


@step(NOTE, "gives the same answers to the same input", COUNTS)
def same_again(bot: BotUnderTest) -> str:
    """No rule requires it, but errors are easier to find in such a bot."""
    wanted = numbered([*easy(bot.size, 5), ambiguous(bot.size)])
    runs: list[dict[int | None, Solution | None]] = []
    for _ in range(2):
        with bot.session() as session:
            session.send(text_of(wanted), last=True)
            session.wait_for(wanted)
        runs.append({answer.number: answer.solution for answer in session.answers})
        # Wrong answers are for other steps.
        unanswered = [(number, puzzle) for number, puzzle in wanted if number not in runs[-1]]
        sent = f"the same batch twice: {excerpt(text_of(wanted))}"
        session.demand(unanswered, sent, "answer the same batch twice")
    first, second = runs
    if first == second:
        return "the same answers twice"
    differing = [number for number, _ in wanted if first.get(number) != second.get(number)]
    return f"other answers to {', '.join(f'${number}' for number in differing) or 'some'} the second time"


@step(NOTE, "solves 21 easy puzzles, whose times it shows", COUNTS)
def seconds_per_puzzle(bot: BotUnderTest) -> str:
    """Much more than a millisecond means that the bot waits while reading or writing, not while solving."""
    session = bot.ask(numbered(easy(bot.size, 21)), "21 easy puzzles", "answer all of them")
    took = [after - before for before, after in pairwise(session.arrivals)]
    middle, most = 1000 * statistics.median(took), 1000 * max(took)
    usual = f"{middle:.1f} ms" if middle >= SHORTEST_MS else f"less than {SHORTEST_MS} ms"
    later = f"then an easy puzzle takes {usual} (median), at most {max(most, SHORTEST_MS):.1f} ms"
    return f"first answer after {session.arrivals[0]:.2f} s, {later}"
