"""Steps about the process: how it ends, what it leaves, what its pipes may do to it."""

from __future__ import annotations

import time

from nonobot.harness.check import shim
from nonobot.harness.check.answer_steps import (
    LARGE_BATCH,
    answers_before_the_next,
    large_batch,
    writes_at_once,
)
from nonobot.harness.check.check_puzzles import easy, hard, numbered, text_of
from nonobot.harness.check.session import Lab, ShortfallError
from nonobot.harness.check.step import MUST, PROCESS, REFUSES, SHOULD, step
from nonobot.harness.play.bot_process import SECONDS_TO_OBEY

__all__ = [
    "cut_off_input",
    "ends_with_its_input",
    "leaves_nothing_behind",
    "sigterm_at_work",
    "sigterm_idle",
    "stderr_unread",
    "stdout_closed",
]

SECONDS_INTO_WORK = 0.3

IN_TIME = f"the bot ends within {SECONDS_TO_OBEY:g} s"

OBEY = "do not catch SIGTERM; if you have to, write out what is there and end at once"


@step(
    MUST,
    "ends by itself when its input ends",
    "A match is over when the bot has ended; a status other than 0 looks like a crash and is a warning.",
    PROCESS,
)
def ends_with_its_input(lab: Lab) -> str:
    """Ends by itself, with status 0, when stdin ends."""
    wanted = numbered(easy(lab.size, 2))
    sent = "two puzzles, then stdin was closed"
    with lab.talk() as talk:
        talk.send(text_of(wanted), last=True)
        talk.wait_for(wanted)
        answered = time.monotonic()
        talk.wait_for_end()
        took = time.monotonic() - answered
    talk.demand(wanted, sent, "answer what came before the end")
    expected, got = "the bot ends by itself with exit status 0", talk.how_it_stood()
    if not talk.ended:
        raise ShortfallError(sent, expected, got, "end when a read says that the input has ended")
    if talk.status < 0:
        raise ShortfallError(sent, expected, got, "look at what runs at the end: threads, handlers, what is freed")
    if talk.status != 0:
        advice = "return 0 when every puzzle is solved: scripts take anything else for a crash"
        raise ShortfallError(sent, expected, got, advice, minor=True)
    return f"{took:.2f} s after the last answer"


@step(
    SHOULD,
    "ends when its input is cut off within a puzzle",
    "A loop that waits for the missing lines burns its core until somebody kills it.",
    REFUSES,
)
def cut_off_input(lab: Lab) -> None:
    """Ends, too, when stdin ends within a puzzle; what came before is answered."""
    wanted = numbered(easy(lab.size, 2))
    data = text_of(wanted[:1]) + text_of(wanted[1:])[:10]
    sent = "a puzzle and the beginning of a second, then stdin was closed"
    advice = "look for the end of the input at every read, not between puzzles only"
    with lab.talk() as talk:
        talk.send(data, last=True)
        talk.wait_for(wanted[:1])
        talk.wait_for_end()
    talk.demand(wanted[:1], sent, advice)
    if not talk.ended:
        raise ShortfallError(sent, "the bot ends by itself", talk.how_it_stood(), advice)


@step(
    SHOULD,
    "ends at SIGTERM while it waits",
    "That is how a judge stops a bot; one that does not obey is killed 1.5 s later.",
    PROCESS,
    needs=(
        writes_at_once,
        answers_before_the_next,
    ),
)
def sigterm_idle(lab: Lab) -> None:
    """Ends at SIGTERM while it waits for a puzzle."""
    wanted = numbered(easy(lab.size, 1))
    with lab.talk() as talk:
        talk.send(text_of(wanted))
        talk.wait_for(wanted)
        early = talk.exited
        talk.stop()
    sent = "SIGTERM after the answer to a puzzle, with stdin open"
    if early:
        got = f"it did not wait for the next puzzle: {talk.how_it_stood()}"
        raise ShortfallError(sent, "the bot waits, then ends", got, "read until the input ends")
    if not talk.obeyed:
        raise ShortfallError(sent, IN_TIME, "it went on and was killed", OBEY)


@step(
    SHOULD,
    "ends at SIGTERM in the middle of a puzzle",
    "At the time limit a bot is at work, and its handler may not run before the puzzle is solved.",
    PROCESS,
    needs=(writes_at_once,),
)
def sigterm_at_work(lab: Lab) -> str | None:
    """Ends at SIGTERM in the middle of a puzzle."""
    puzzles = numbered([*easy(lab.size, 1), *hard(lab.size)])
    with lab.talk() as talk:
        talk.send(text_of(puzzles))
        talk.wait_for(puzzles[:1])
        talk.listen(SECONDS_INTO_WORK)
        idle = len(talk.answers) >= len(puzzles)
        talk.stop()
    if not talk.obeyed:
        raise ShortfallError(
            f"SIGTERM {SECONDS_INTO_WORK} s after the first of {len(puzzles)} puzzles was answered",
            IN_TIME,
            "it went on and was killed",
            f"{OBEY}, also while it computes",
        )
    return "it had solved everything by then: use a larger --size to see it at work" if idle else None


@step(
    SHOULD,
    "ends when its stdout is closed",
    "Solving on for nobody takes time from the next bot.",
    PROCESS,
)
def stdout_closed(lab: Lab) -> None:
    """Ends when nobody can read its answers any more."""
    with lab.talk(watch=shim.STDOUT_CLOSED) as talk:
        talk.send(text_of(numbered(easy(lab.size, LARGE_BATCH))))
        talk.wait_for_end()
    if not talk.ended:
        raise ShortfallError(
            f"{LARGE_BATCH} puzzles; stdin stayed open, stdout was closed at the other end",
            "the bot ends",
            talk.how_it_stood(),
            "end when a write fails (EPIPE), or do not ignore SIGPIPE",
        )


@step(
    SHOULD,
    "leaves no process behind",
    "What is left runs beside the next bot and slows it down.",
    PROCESS,
    needs=(ends_with_its_input,),
)
def leaves_nothing_behind(lab: Lab) -> None:
    """Every process it started is gone when it ends."""
    sent, expected = "two puzzles, then stdin was closed", "no process is left when the bot has ended"
    wanted = numbered(easy(lab.size, 2))
    with lab.talk(watch=shim.LEFT_BEHIND) as talk:
        talk.send(text_of(wanted), last=True)
        talk.wait_for_end(more_seconds=2 * shim.GRACE_SECONDS)
    if not talk.report.exists():
        got = f"nothing could be seen: {talk.how_it_stood()}"
        raise ShortfallError(sent, expected, got, "look at the steps before")
    if left := talk.report.read_text(encoding="utf-8").splitlines():
        more = f" and {len(left) - 1} more" if left[1:] else ""
        raise ShortfallError(
            sent,
            expected,
            f"{left[0]}{more}, {shim.GRACE_SECONDS:g} s later",
            "end helpers, and wait for them, before the bot ends: they take time from the next bot",
        )


@step(
    SHOULD,
    "needs nobody to read its stderr",
    "A pipe holds 64 KiB: a bot that writes more waits for ever where its stderr is not read.",
    PROCESS,
    needs=(large_batch,),
)
def stderr_unread(lab: Lab) -> None:
    """Needs nobody to read its stderr."""
    wanted = numbered(easy(lab.size, LARGE_BATCH))
    with lab.talk(watch=shim.STDERR_UNREAD) as talk:
        talk.send(text_of(wanted), last=True)
        talk.wait_for(wanted)
    talk.demand(
        wanted,
        f"{LARGE_BATCH} puzzles; nobody read stderr",
        "write little to stderr: when the pipe is full (64 KiB), the next write waits for ever",
    )
