"""Runs in words: the summary that `run` prints, how a run ended, likely mistakes, doubts; checked answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import UnsetType

from nonobot.harness.results.conditions import Configuration, Feed
from nonobot.harness.results.run_result import (
    FINISHED_UNSEEN,
    BotEnd,
    EndReason,
    RunResult,
    Score,
    Usage,
    Verdict,
    VerifyResult,
)
from nonobot.harness.results.terms import LIMITS
from nonobot.harness.text import duration, first_of, last_line_of, megabytes, ranges

EXPLAINED = (Verdict.WRONG, Verdict.MALFORMED, Verdict.OUT_OF_ORDER, Verdict.LATE)
"""Verdicts whose details help the author of a bot."""

SHOWN_PUZZLES = 5  # puzzles of a kind that a summary names
SHOWN_MISSING = 10  # puzzles without an answer that a summary names
LONG_SECONDS, AT_ONCE = 2.0, 0.01  # time before the first answer, and share of all time for all others: kept back
COMPUTING_SHARE = 0.1  # of the time without an answer: a busy machine leaves a bot little of its core
LOG_SECONDS = 0.5  # error allowed to the total of a bot's own log: some programs count whole seconds
OF_A_FILE = ("No such file or directory", "FileNotFoundError", "Read-only file system", "Permission denied")
LAST_LINE = "its last line on stderr"
MOST_LOGGED, LEAST_LOGGED = 1.05, 0.5  # of the bot's run time, and of the time between its first and last answer


def run_lines(run: RunResult) -> list[str]:
    """Return the whole summary of a run."""
    right, *mistakes = score_lines(run.score)
    if run.score.unanswered and (likely := likely_mistake(run)):
        mistakes.insert(0, f"  {likely}")
    if run.end.reason is EndReason.CRASHED:  # it may be the cause of the mistakes
        lines = [right, *_end_lines(run), *mistakes, _used(run.usage)]
    else:
        lines = [right, *mistakes, _used(run.usage), *_end_lines(run)]
    return [*lines, *filter(None, (line_of(run) for line_of in MORE)), *_file_lines(run), *_stderr_lines(run)]


def _end_lines(run: RunResult) -> list[str]:
    last_words = last_words_of_failure(run)
    hint = sandbox_hint(last_words) if run.sandboxed == "yes" else ""
    return [
        end_in_words(run.end, run.configuration),
        *filter(None, [last_words and f"{LAST_LINE}: {last_words}", hint]),
    ]


def _other_cores(run: RunResult) -> str:
    taken = sorted({core for attempt in run.attempts for core in attempt.cores_taken or ()})
    return f"the bot used other cores ({ranges(taken)}); its times are unreliable" if taken else ""


def _slowest(run: RunResult) -> str:
    slowest = sorted(run.score.timed, key=lambda timed: -timed[0])[:SHOWN_PUZZLES]
    named = [f"${puzzle.number} {duration(took)}" for took, puzzle in slowest]
    return f"slowest: {', '.join(named)}" if named else ""


def _came_at_once(run: RunResult) -> str:
    arrivals = [seconds for seconds, _ in run.score.arrivals]
    if len(arrivals) < 2 or run.attempts[1:] or min(arrivals) < LONG_SECONDS:
        return ""
    if max(arrivals) - min(arrivals) >= AT_ONCE * max(arrivals):
        return ""
    return "all answers came at once, at its end: at a limit, a bot that writes each answer loses fewer"


def starts(run: RunResult) -> str:
    """Return how often the bot was started; empty if it was once."""
    return f"the bot was started {len(run.attempts)} times" if run.attempts[1:] else ""


MORE: Sequence[Callable[[RunResult], str]] = (
    _other_cores,
    lambda run: standstill(run.stood_still_seconds),
    starts,
    _slowest,
    _came_at_once,
)
"""Lines on what deserves a look in a run; empty if nothing does."""


def standstill(seconds: float | UnsetType) -> str:
    """Return in a sentence that the judge stood still; empty if it did not."""
    if not seconds:
        return ""
    return (
        f"the judge stood still for {duration(seconds)} (stopped, suspended, or the machine overloaded); "
        "the bot may have gone on meanwhile"
    )


def outcome(run: RunResult) -> str:
    """Return the outcome of a run in a few words."""
    likely = likely_mistake(run)
    right = f"{run.score.right} of {len(run.score.puzzles)} right"
    return f"{right}, {duration(run.time_seconds)}, {run.end.reason}{f' ({likely})' if likely else ''}"


def verify_lines(checked: VerifyResult) -> list[str]:
    """Return the summary of a check of an answer file."""
    lines = score_lines(checked.score)
    if checked.score.unanswered:
        size = f"{checked.set.width}x{checked.set.height}"
        lines.insert(1, f"  no puzzle was answered; check that they are answers to this set, of {size}")
    return lines


def score_lines(score: Score) -> list[str]:
    """Return the number of puzzles right, and what was not right, with a few puzzles by name."""
    right = f"{score.right} of {len(score.puzzles)} right"
    others = ", ".join(f"{number} {verdict}" for verdict, number in score.others.items())
    missing = first_of([f"${number}" for number in score.missing], SHOWN_MISSING)  # the last verdict in the line
    lines = [": ".join(filter(None, ("; ".join(filter(None, (right, others))), missing)))]
    lines += [f"  {mistake}" for mistake in filter(None, [score.mistake])]
    for verdict in EXPLAINED:
        of_kind = score.having(verdict)
        lines += [f"  ${puzzle.number} {verdict}: {puzzle.detail}" for puzzle in of_kind[:SHOWN_PUZZLES]]
        lines += _and_more(len(of_kind), verdict)
    lines += [f"  {note}" for note in score.notes[:SHOWN_PUZZLES]]
    return lines + _and_more(score.duplicate_count + score.stray_count, "notes")


def _and_more(count: int, things: str) -> list[str]:
    return [f"  and {count - SHOWN_PUZZLES} more {things}"] if count > SHOWN_PUZZLES else []


def end_in_words(end: BotEnd, limits: Configuration) -> str:
    """Return the reason of an end, its meaning and the limit that was reached, in one line."""
    reached = [(limit, getattr(limits, name)) for name, limit in LIMITS.items() if limit.end == end.reason]
    figures = [limit.in_words(value) for limit, value in reached if value]
    more = "".join(f" ({text})" for text in (*figures, end.detail) if text)
    return f"{end.reason}: {_meaning(end)}{more}"


def _meaning(end: BotEnd) -> str:
    status = f"killed by {end.signal}" if end.signal else f"exited with status {end.exit_status}"
    if end.reason is EndReason.CRASHED:
        return f"{status} while answers were due"
    return status if end.reason is EndReason.FINISHED and end != FINISHED_UNSEEN else end.reason.meaning


def likely_mistake(run: RunResult) -> str | None:
    """Return the bot's likely mistake: one that most faulty answers share; without any answer, by its end."""
    score = run.score
    if not score.unanswered or run.end.detail or score.notes:  # the detail or the notes say more
        return score.mistake or None
    likely = UNANSWERED.get(_limit_of_computing(run) or run.end.reason)  # otherwise the end is the cause
    size = f"expects boards of {run.set.width}x{run.set.height}"
    return f"no puzzle was answered{likely(run)} {size}" if likely else None


def _limit_of_computing(run: RunResult) -> EndReason | None:
    computed = run.usage.cpu_seconds > COMPUTING_SHARE * run.usage.wall_seconds
    return EndReason.CPU_LIMIT if run.end.reason is EndReason.TIME_LIMIT and computed else None


def _ended(run: RunResult) -> str:
    stderr = "find the cause in its stderr, or " if run.stderr_bytes else ""
    return f"; {stderr}check that the bot stays in the foreground and"


def _computed(run: RunResult) -> str:
    computed = f"in {duration(run.usage.cpu_seconds)} of computing"
    return f", {computed}; look for a loop without end, and check that the bot"


def _waited(run: RunResult) -> str:
    is_interactive = run.configuration.feed is Feed.INTERACTIVE
    ends = "the next '$' or the end of its input (as `adapt --batch` does)"
    waits = f", does not wait for {ends}," if is_interactive else ""
    return f"; check that the bot flushes each answer{waits} and"


UNANSWERED: dict[EndReason, Callable[[RunResult], str]] = {
    EndReason.FINISHED: _ended,
    EndReason.CPU_LIMIT: _computed,
    EndReason.STALLED: _waited,
    EndReason.TIME_LIMIT: _waited,
}
"""What to look at if a bot answered nothing, by its end."""


def last_words(run: RunResult) -> str:
    """Return the last line that the bot wrote to stderr; empty if there is none or its file is gone.

    Only for a run of this judge's own: the result of a stranger may name any file of the user.
    """
    return last_line_of(Path(run.stderr_file)) if run.stderr_file else ""


def last_words_of_failure(run: RunResult) -> str:
    """Return the last line on stderr of a bot that failed, or ended while answers were due; otherwise nothing."""
    has_failed = run.end.exit_status or run.end.reason is EndReason.CRASHED or run.answers_due
    return last_words(run) if has_failed and run.end.reason is not EndReason.INTERRUPTED else ""


def sandbox_hint(last_line: str) -> str:
    """Return what a sandbox shows, if this last line on a bot's stderr is about a file; otherwise nothing."""
    if not any(words in last_line for words in OF_A_FILE):
        return ""
    return (
        "in the sandbox the bot sees only its own folder, read-only: --show PATH shows more, --contain no runs "
        "the bot without a sandbox"
    )


def outcome_of_own(run: RunResult) -> str:
    """Return the outcome of a run of this judge's own, with the starts and, if it failed, the last words."""
    last_words = last_words_of_failure(run)
    return "; ".join(filter(None, (outcome(run), starts(run), last_words and f"{LAST_LINE}: {last_words}")))


def log_doubts(run: RunResult) -> list[str]:
    """Return doubts about the bot's own logs."""
    own = run.own_seconds
    if own is None:
        return list(dict.fromkeys(log.error for log in run.own_logs if log.error))
    return list(filter(None, (_unlogged(run), _too_long(run, own), _too_short(run, own))))


def _unlogged(run: RunResult) -> str:
    answered = {puzzle.number for _, puzzle in run.score.arrivals}
    lacking = sorted(answered.difference(*(log.seconds for log in run.own_logs)))
    return f"no time for {len(lacking)} of {len(answered)} answered puzzles ({ranges(lacking)})" if lacking else ""


def _too_long(run: RunResult, own: float) -> str:
    most = max(run.usage.wall_seconds, run.usage.cpu_seconds)
    is_longer = own > max(most * MOST_LOGGED, most + LOG_SECONDS)
    return f"{duration(own)}, more than the {duration(most)} that the bot ran" if is_longer else ""


def _too_short(run: RunResult, own: float) -> str:
    # The first answer's time includes start and reading, which a log may omit. A log may count CPU time.
    wall, cpu = run.usage.wall_seconds, run.usage.cpu_seconds
    first = {attempt.first_puzzle for attempt in run.attempts}
    between = sum(took for took, puzzle in run.score.timed if puzzle.number not in first)
    between *= cpu / max(wall, cpu) if wall or cpu else 1.0
    is_shorter = own < min(between * LEAST_LOGGED, between - LOG_SECONDS)
    return f"{duration(own)}, less than half of the {duration(between)} between its answers" if is_shorter else ""


def _file_lines(run: RunResult) -> list[str]:
    if not run.files:
        return []
    files = f"the bot used files: questions in {run.files.reads}, answers in {run.files.writes}"
    doubts = "; ".join(log_doubts(run))
    if run.own_seconds is None:
        return [files, *([f"its own log: {doubts}"] if doubts else [])]
    puzzles = sum(len(log.seconds) for log in run.own_logs)
    times = f"{duration(run.own_seconds)}; the judge's time: {duration(run.time_seconds)}"
    doubt = [f"warning: its own log is unreliable: {doubts}"] if doubts else []
    return [files, f"its own log: {puzzles} puzzles in {times}", *doubt]


def _stderr_lines(run: RunResult) -> list[str]:
    return [f"stderr of the bot ({run.stderr_bytes:,} bytes): {run.stderr_file}"] if run.stderr_file else []


def _used(usage: Usage) -> str:
    peak = megabytes(usage.peak_memory_bytes) if usage.peak_memory_bytes else "not known"
    return f"wall {duration(usage.wall_seconds)}, CPU {duration(usage.cpu_seconds)}, peak memory {peak}"
