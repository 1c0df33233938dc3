"""Runs and checks of answers in words: the summary that `run` prints, likely mistakes of a bot, doubts."""

from __future__ import annotations

from pathlib import Path

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
from nonobot.harness.text import duration, last_line_of, megabytes, ranges

EXPLAINED = (Verdict.WRONG, Verdict.MALFORMED, Verdict.OUT_OF_ORDER, Verdict.LATE)
"""Verdicts whose details help the author of a bot."""

SHOWN_PUZZLES = 5  # puzzles of a kind that a summary names
SHOWN_MISSING = 10  # puzzles without an answer that a summary names
LONG_SECONDS, AT_ONCE = 2.0, 0.01  # time before the first answer, and share of all time for all others: kept back
COMPUTING_SHARE = 0.1  # of the time without an answer: a busy machine leaves a bot little of its core
LOG_SECONDS = 0.5  # error allowed to the total of a bot's own log: some programs count whole seconds
OF_A_FILE = ("No such file or directory", "FileNotFoundError", "Read-only file system", "Permission denied")
MOST_LOGGED, LEAST_LOGGED = 1.05, 0.5  # of the bot's run time, and of the time between its first and last answer


def run_lines(run: RunResult) -> list[str]:
    """Return the whole summary of a run."""
    score, end = run.score, run.end
    right, *mistakes = score_lines(score)
    if score.unanswered and (likely := likely_mistake(run)):
        mistakes.insert(0, f"  {likely}")
    how_it_ended = [end_in_words(end, run.configuration)]
    if said := last_words_of_failure(run):
        how_it_ended.append(f"its last line on stderr: {said}")
        how_it_ended += filter(None, [sandbox_hint(said) if run.sandboxed == "yes" else ""])
    if end.reason is EndReason.CRASHED:  # it may be the cause of the mistakes
        lines = [right, *how_it_ended, *mistakes, _used(run.usage)]
    else:
        lines = [right, *mistakes, _used(run.usage), *how_it_ended]
    if taken := {core for attempt in run.attempts for core in attempt.cores_taken or ()}:
        lines.append(f"the bot used other cores ({ranges(sorted(taken))}); its times are unreliable")
    if stood_still := standstill(run.stood_still_seconds):
        lines.append(stood_still)
    if run.attempts[1:]:
        lines.append(f"the bot was started {len(run.attempts)} times")
    timed = [(puzzle.took_seconds, puzzle.number) for puzzle in score.puzzles if puzzle.took_seconds is not None]
    if slowest := sorted(timed, key=lambda pair: -pair[0])[:SHOWN_PUZZLES]:
        lines.append("slowest: " + ", ".join(f"${number} {duration(took)}" for took, number in slowest))
    if _came_at_once(run):
        lines.append("all answers came at once, at its end: at a limit, a bot that writes each answer loses fewer")
    if run.files:
        lines.append(f"the bot used files: questions in {run.files.reads}, answers in {run.files.writes}")
        lines += _log_lines(run)
    if run.stderr_file:
        lines.append(f"stderr of the bot ({run.stderr_bytes:,} bytes): {run.stderr_file}")
    return lines


def _came_at_once(run: RunResult) -> bool:
    """Return whether a bot kept its answers back for more than a moment."""
    arrivals = [puzzle.arrived_seconds for puzzle in run.score.puzzles if puzzle.arrived_seconds is not None]
    if len(arrivals) < 2 or run.attempts[1:] or min(arrivals) < LONG_SECONDS:
        return False
    return max(arrivals) - min(arrivals) < AT_ONCE * max(arrivals)


def standstill(seconds: float) -> str:
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
    counts = score.verdicts.items()
    others = [f"{count} {verdict}" for verdict, count in counts if verdict is not Verdict.RIGHT and count]
    lines = [f"{score.right} of {len(score.puzzles)} right" + (f"; {', '.join(others)}" if others else "")]
    if missing := [f"${number}" for number in score.missing]:  # the last verdict in the line
        more = f" and {len(missing) - SHOWN_MISSING} more" if missing[SHOWN_MISSING:] else ""
        lines[0] += f": {', '.join(missing[:SHOWN_MISSING])}{more}"
    if score.mistake:
        lines.append(f"  {score.mistake}")
    for verdict in EXPLAINED:
        of_kind = [puzzle for puzzle in score.puzzles if puzzle.verdict is verdict]
        lines += [f"  ${puzzle.number} {verdict}: {puzzle.detail}" for puzzle in of_kind[:SHOWN_PUZZLES]]
        lines += _and_more(len(of_kind), verdict)
    lines += [f"  {note}" for note in score.notes[:SHOWN_PUZZLES]]
    return lines + _and_more(score.duplicate_count + score.stray_count, "notes")


def _and_more(count: int, things: str) -> list[str]:
    return [f"  and {count - SHOWN_PUZZLES} more {things}"] if count > SHOWN_PUZZLES else []


def end_in_words(end: BotEnd, limits: Configuration) -> str:
    """Return the reason of an end, its meaning and the limit that was reached, in one line."""
    status = f"killed by {end.signal}" if end.signal else f"exited with status {end.exit_status}"
    figures = {
        EndReason.TIME_LIMIT: f"{limits.wall_limit_seconds:g} s",
        EndReason.CPU_LIMIT: f"{limits.cpu_limit_seconds or 0:g} s",
        EndReason.MEMORY_LIMIT: limits.most_memory_bytes and megabytes(limits.most_memory_bytes, exact=True),
        EndReason.PROCESS_LIMIT: str(limits.process_limit or 0),
        EndReason.PUZZLE_LIMIT: f"{limits.puzzle_limit_seconds or 0:g} s",
        EndReason.STALLED: f"{limits.stall_limit_seconds or 0:g} s",
    }
    means = status if end.reason is EndReason.FINISHED and end != FINISHED_UNSEEN else end.reason.meaning
    if end.reason is EndReason.CRASHED:
        means = f"{status} while answers were due"
    return f"{end.reason}: {means}" + "".join(
        f" ({more})" for more in (figures.get(end.reason), end.detail) if more
    )


def likely_mistake(run: RunResult) -> str | None:
    """Return the bot's likely mistake: one that most faulty answers share; without any answer, by its end."""
    score, reason = run.score, run.end.reason
    if not score.unanswered or run.end.detail or score.notes:  # the detail or the notes say more
        return score.mistake or None
    size = f"expects boards of {run.set.width}x{run.set.height}"
    wall, cpu = run.usage.wall_seconds, run.usage.cpu_seconds
    if reason is EndReason.FINISHED:
        stderr = "find the cause in its stderr, or " if run.stderr_bytes else ""
        return f"no puzzle was answered; {stderr}check that the bot stays in the foreground and {size}"
    if reason is EndReason.CPU_LIMIT or (reason is EndReason.TIME_LIMIT and cpu > COMPUTING_SHARE * wall):
        computed = f"no puzzle was answered, in {duration(cpu)} of computing"
        return f"{computed}; look for a loop without end, and check that the bot {size}"
    if reason in (EndReason.STALLED, EndReason.TIME_LIMIT):
        is_interactive = run.configuration.feed is Feed.INTERACTIVE
        ends = "the next '$' or the end of its input (as `adapt --batch` does)"
        waits = f", does not wait for {ends}," if is_interactive else ""
        return f"no puzzle was answered; check that the bot flushes each answer{waits} and {size}"
    return None  # the end is the cause


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
    starts = f"; the bot was started {len(run.attempts)} times" if run.attempts[1:] else ""
    said = last_words_of_failure(run)
    return f"{outcome(run)}{starts}{f'; its last line on stderr: {said}' if said else ''}"


def log_doubts(run: RunResult) -> list[str]:
    """Return doubts about the bot's own logs."""
    own = run.own_seconds
    if own is None:
        return list(dict.fromkeys(log.error for log in run.own_logs if log.error))
    doubts = []
    logged = {number for log in run.own_logs for number in log.seconds}
    answered = [puzzle.number for puzzle in run.score.puzzles if puzzle.arrived_seconds is not None]
    if lacking := sorted(set(answered) - logged):
        doubts.append(f"no time for {len(lacking)} of {len(answered)} answered puzzles ({ranges(lacking)})")
    wall, cpu = run.usage.wall_seconds, run.usage.cpu_seconds
    most = max(wall, cpu)
    # The first answer's time includes start and reading, which a log may omit. A log may count CPU time.
    first = {attempt.first_puzzle for attempt in run.attempts}
    between = sum(puzzle.took_seconds or 0.0 for puzzle in run.score.puzzles if puzzle.number not in first)
    between *= cpu / most if most else 1.0
    if own > most * MOST_LOGGED and own > most + LOG_SECONDS:
        doubts.append(f"{duration(own)}, more than the {duration(most)} that the bot ran")
    if own < between * LEAST_LOGGED and own < between - LOG_SECONDS:
        doubts.append(f"{duration(own)}, less than half of the {duration(between)} between its answers")
    return doubts


def _log_lines(run: RunResult) -> list[str]:
    doubts = "; ".join(log_doubts(run))
    if run.own_seconds is None:
        return [f"its own log: {doubts}"] if doubts else []
    puzzles = sum(len(log.seconds) for log in run.own_logs)
    times = f"{duration(run.own_seconds)}; the judge's time: {duration(run.time_seconds)}"
    lines = [f"its own log: {puzzles} puzzles in {times}"]
    return [*lines, f"warning: its own log is unreliable: {doubts}"] if doubts else lines


def _used(usage: Usage) -> str:
    peak = megabytes(usage.peak_memory_bytes) if usage.peak_memory_bytes else "not known"
    return f"wall {duration(usage.wall_seconds)}, CPU {duration(usage.cpu_seconds)}, peak memory {peak}"
