"""All steps of the self-test in their order, and the steps about the process: its end, signals, leftovers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Sequence

from msgspec import Struct

from nonobot.harness.check import answer_steps, question_steps, shim
from nonobot.harness.check.answer_steps import LARGE_BATCH, answers_before_the_next, large_batch, writes_at_once
from nonobot.harness.check.check_puzzles import easy, hard, numbered, text_of
from nonobot.harness.check.session import BotUnderTest, ShortfallError
from nonobot.harness.check.step import INDENT, MUST, PROCESS, REFUSES, SHOULD, Step, StepResult, StepVerdict, step
from nonobot.harness.process.bot_process import SECONDS_TO_OBEY
from nonobot.harness.results.result_files import content_of
from nonobot.harness.results.run_result import SCHEMA_VERSION
from nonobot.harness.text import first_of
from nonobot.protocol.clues import count, plural

SECONDS_INTO_WORK = 0.3
MOST_ALIKE = 4  # steps that may give the same advice before the summary repeats it
IN_TIME = f"the bot ends within {SECONDS_TO_OBEY:g} s"
OBEY = "do not catch SIGTERM; if you have to, write out what is there and end at once"


@step(MUST, "ends by itself when its input ends", PROCESS)
def ends_with_its_input(bot: BotUnderTest) -> str:
    """A run is over when the bot has ended; a status other than 0 looks like a crash and is a warning."""
    wanted = numbered(easy(bot.size, 2))
    sent = "two puzzles, then stdin was closed"
    with bot.session() as session:
        session.send(text_of(wanted), last=True)
        session.wait_for(wanted)
        answered = time.monotonic()
        session.wait_for_end()
        took = time.monotonic() - answered
    session.demand(wanted, sent, "answer what came before the end")
    expected, got = "the bot ends by itself with exit status 0", session.how_it_stood()
    if not session.ended:
        raise ShortfallError(sent, expected, got, "exit when a read reports the end of the input")
    if session.process.exit_status < 0:
        raise ShortfallError(sent, expected, got, "look at what runs at the end: threads, handlers, what is freed")
    if session.process.exit_status:
        advice = "return 0 when every puzzle is solved: scripts take anything else for a crash"
        raise ShortfallError(sent, expected, got, advice, minor=True)
    return f"{took:.2f} s after the last answer"


@step(SHOULD, "ends when its input is cut off within a puzzle", REFUSES)
def cut_off_input(bot: BotUnderTest) -> None:
    """A loop that waits for the missing lines uses its core until somebody kills it."""
    wanted = numbered(easy(bot.size, 2))
    data = text_of(wanted[:1]) + text_of(wanted[1:])[:10]
    sent = "a puzzle and the beginning of a second, then stdin was closed"
    advice = "look for the end of the input at every read, not between puzzles only"
    session = bot.ask(wanted[:1], sent, advice, data, to_the_end=True)
    if not session.ended:
        raise ShortfallError(sent, "the bot ends by itself", session.how_it_stood(), advice)


@step(SHOULD, "ends at SIGTERM while it waits", PROCESS, needs=(writes_at_once, answers_before_the_next))
def sigterm_idle(bot: BotUnderTest) -> None:
    """That is how a judge stops a bot; one that does not obey is killed 1.5 s later."""
    wanted = numbered(easy(bot.size, 1))
    with bot.session() as session:
        session.send(text_of(wanted))
        session.wait_for(wanted)
        early = session.process.exited
        session.stop()
    sent = "SIGTERM after the answer to a puzzle, with stdin open"
    if early:
        got = f"it did not wait for the next puzzle: {session.how_it_stood()}"
        raise ShortfallError(sent, "the bot waits, then ends", got, "read until the input ends")
    if not session.obeyed:
        raise ShortfallError(sent, IN_TIME, "it went on and was killed", OBEY)


@step(SHOULD, "ends at SIGTERM in the middle of a puzzle", PROCESS, needs=(writes_at_once,))
def sigterm_at_work(bot: BotUnderTest) -> str | None:
    """At the time limit a bot is at work, and its handler may not run before the puzzle is solved."""
    puzzles = numbered([*easy(bot.size, 1), *hard(bot.size)])
    with bot.session() as session:
        session.send(text_of(puzzles))
        session.wait_for(puzzles[:1])
        session.listen(SECONDS_INTO_WORK)
        idle = len(session.answers) >= len(puzzles)
        session.stop()
    if not session.obeyed:
        sent = f"SIGTERM {SECONDS_INTO_WORK} s after the first of {len(puzzles)} puzzles was answered"
        raise ShortfallError(sent, IN_TIME, "it went on and was killed", f"{OBEY}, also while it computes")
    return "it had solved everything by then: use a larger --size to see it at work" if idle else None


@step(SHOULD, "ends when its stdout is closed", PROCESS)
def stdout_closed(bot: BotUnderTest) -> None:
    """A bot that goes on solving takes time from the next bot."""
    with bot.session(watch=shim.STDOUT_CLOSED) as session:
        session.send(text_of(numbered(easy(bot.size, LARGE_BATCH))))
        session.wait_for_end()
    if not session.ended:
        sent = f"{LARGE_BATCH} puzzles; stdin stayed open, stdout was closed at the other end"
        advice = "end when a write fails (EPIPE), or do not ignore SIGPIPE"
        raise ShortfallError(sent, "the bot ends", session.how_it_stood(), advice)


@step(SHOULD, "leaves no process behind", PROCESS, needs=(ends_with_its_input,))
def leaves_nothing_behind(bot: BotUnderTest) -> None:
    """Leftover processes run alongside the next bot and slow it down."""
    sent, expected = "two puzzles, then stdin was closed", "no process is left when the bot has ended"
    wanted = numbered(easy(bot.size, 2))
    with bot.session(watch=shim.LEFT_BEHIND) as session:
        session.send(text_of(wanted), last=True)
        session.wait_for_end(more_seconds=2 * shim.GRACE_SECONDS)
    if not bot.report.exists():
        got = f"nothing could be seen: {session.how_it_stood()}"
        raise ShortfallError(sent, expected, got, "look at the steps before")
    if left := content_of(bot.report).decode(errors="replace").splitlines():
        got = f"{first_of(left, 1)}, {shim.GRACE_SECONDS:g} s later"
        advice = "end helpers, and wait for them, before the bot ends: they take time from the next bot"
        raise ShortfallError(sent, expected, got, advice)


@step(SHOULD, "needs nobody to read its stderr", PROCESS, needs=(large_batch,))
def stderr_unread(bot: BotUnderTest) -> None:
    """A pipe holds 64 KiB: a bot that writes more waits for ever where its stderr is not read."""
    wanted = numbered(easy(bot.size, LARGE_BATCH))
    advice = "write little to stderr: when the pipe is full (64 KiB), the next write waits for ever"
    bot.ask(wanted, f"{LARGE_BATCH} puzzles; nobody read stderr", advice, watch=shim.STDERR_UNREAD)


STEPS: tuple[Step, ...] = (
    answer_steps.one_puzzle,
    answer_steps.official_form,
    answer_steps.only_answers,
    answer_steps.numbers_and_order,
    answer_steps.any_solution,
    answer_steps.writes_at_once,
    answer_steps.answers_before_the_next,
    ends_with_its_input,
    answer_steps.large_batch,
    *(entry for entry in vars(question_steps).values() if isinstance(entry, Step)),  # in the order of the module
    cut_off_input,
    sigterm_idle,
    sigterm_at_work,
    stdout_closed,
    leaves_nothing_behind,
    stderr_unread,
    answer_steps.same_again,
    answer_steps.seconds_per_puzzle,
)


class CheckResult(Struct, tag_field="kind", tag="check"):
    """The result of a check, as JSON."""

    command: list[str]
    size: tuple[int, int]
    timeout_seconds: float
    start_timeout_seconds: float
    judge_version: str
    conforms: bool
    checks: list[StepResult]
    schema_version: int = SCHEMA_VERSION


def selected(only: Collection[int]) -> list[int]:
    """Return the numbers of the steps to carry out: those of `only`, or all, and those that they need."""
    waiting = [STEPS[0]]  # needed by all
    waiting += [STEPS[number - 1] for number in only] if only else STEPS
    chosen: set[Step] = set()
    while waiting:
        step = waiting.pop()
        chosen.add(step)
        waiting += step.needs
    return [number for number, step in enumerate(STEPS, 1) if step in chosen]


def list_of_steps() -> str:
    """Return the steps with their reasons, two lines each."""
    return "\n".join(
        f"{number:3}  {step.level:<6}  {step.title}\n{INDENT}{step.why}" for number, step in enumerate(STEPS, 1)
    )


def summary(results: Sequence[StepResult]) -> str:
    """Return how many steps had which verdict, and the conclusion."""
    counts = Counter(result.verdict for result in results)
    names = {StepVerdict.WARNING: plural(counts[StepVerdict.WARNING], "warning")}
    shown = [verdict for verdict in StepVerdict if counts[verdict]]
    tally = ", ".join(f"{counts[verdict]} {names.get(verdict, verdict)}" for verdict in shown)
    failed = [str(result.number) for result in results if result.verdict is StepVerdict.FAILED]
    if failed:
        tally += f": not ready for a tournament; see {plural(len(failed), 'check')} {', '.join(failed)}"
        advice, alike = Counter(result.advice for result in results if result.advice).most_common(1)[0]
        return f"{tally}\n{alike} checks give the same advice: {advice}" if alike > MOST_ALIKE else tally
    return f"{tally}: {musts_passed(results)}"


def musts_passed(results: Sequence[StepResult]) -> str:
    """Return in words how many checks marked must passed."""
    musts = [result.verdict for result in results if result.level is MUST]
    skipped = musts.count(StepVerdict.SKIPPED)
    passed = len(musts) - skipped - musts.count(StepVerdict.FAILED)
    return f"{passed} of {count(len(musts), 'must')} passed" + (f", {skipped} not reached" if skipped else "")
