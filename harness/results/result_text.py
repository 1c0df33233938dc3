"""A result in words, for the end of a command."""

from __future__ import annotations

from msgspec import UNSET

from nonobot.harness.results.result_files import last_words
from nonobot.harness.results.run_result import (
    BotEnd,
    EndReason,
    FileNames,
    PuzzleResult,
    RunResult,
    Score,
    Usage,
    Verdict,
)
from nonobot.harness.results.terms import Terms
from nonobot.harness.text import duration, megabytes

__all__ = ["containment", "counting", "end_line", "outcome_line", "run_lines", "score_lines", "usage_line"]

SHOWN_PUZZLES = 5
"""How many puzzles of a kind are named one by one."""

EXPLAINED = (Verdict.WRONG, Verdict.MALFORMED, Verdict.OUT_OF_ORDER, Verdict.LATE)
"""Verdicts whose details tell a bot's author something."""


def score_lines(score: Score) -> list[str]:
    """Return what was right and what was not, a few of these by name."""
    found = [
        f"{count} {verdict}" for verdict, count in score.verdicts.items() if verdict is not Verdict.RIGHT and count
    ]
    lines = ["; ".join([f"{score.right} of {len(score.puzzles)} right", *filter(None, [", ".join(found)])])]
    for verdict in EXPLAINED:
        of_kind = [one for one in score.puzzles if one.verdict is verdict]
        lines += [f"  ${one.number} {verdict}: {one.detail}" for one in of_kind[:SHOWN_PUZZLES]]
        lines += _and_more(len(of_kind), verdict)
    lines += [f"  {remark}" for remark in score.remarks[:SHOWN_PUZZLES]]
    return lines + _and_more(score.duplicate_count + score.stray_count, "remarks")


def run_lines(result: RunResult) -> list[str]:
    """Return the whole summary of a run."""
    lines = [*score_lines(result.score), usage_line(result.usage), end_line(result.end, result.terms)]
    if any(leg.contained is not UNSET for leg in result.legs):
        lines.append(f"contained: {containment(result)}; counted by the kernel: {counting(result)}")
    if (result.end.reason is EndReason.CRASHED or result.end.exit_status) and (said := last_words(result)):
        lines.append(f"its last line on stderr: {said}")
    if result.legs[1:]:
        lines.append(f"the bot was started {len(result.legs)} times")
    slowest = sorted(
        (one for one in result.score.puzzles if one.took_seconds is not None),
        key=lambda one: -(one.took_seconds or 0.0),
    )
    if slowest:
        lines.append("slowest: " + ", ".join(map(_timed, slowest[:SHOWN_PUZZLES])))
    if result.files:
        lines += _file_lines(result, result.files)
    if result.stderr_file:
        lines.append(f"stderr of the bot ({result.stderr_bytes:,} bytes): {result.stderr_file}")
    return lines


def _file_lines(result: RunResult, files: FileNames) -> list[str]:
    """Return that the bot worked on files, and what it says of the time itself beside what the judge says."""
    lines = [f"the bot worked on files: questions in {files.reads}, answers in {files.writes}"]
    logs = [leg.own_log for leg in result.legs if leg.own_log]
    lines += [f"its own log: {log.problem}" for log in logs if log.problem]
    read = [log for log in logs if not log.problem]
    if read:
        count = sum(len(log.seconds) for log in read)
        own = duration(sum(log.time_seconds for log in read))
        lines.append(f"its own log: {count} puzzles in {own}; the judge's clock: {duration(result.time_seconds)}")
    return lines


def containment(result: RunResult) -> str:
    """Return whether the bot was contained."""
    return {True: "yes", False: "no", None: "in some legs"}[result.contained]


def counting(result: RunResult) -> str:
    """Return which figures the kernel counted."""
    counted = result.counted
    named = {"CPU time": counted.cpu, "memory": counted.memory, "processes": counted.processes}
    return ", ".join(name for name, is_counted in named.items() if is_counted) or "nothing"


def outcome_line(result: RunResult) -> str:
    """Return the outcome of a run in a few words."""
    right = f"{result.score.right} of {len(result.score.puzzles)} right"
    return f"{right}, {duration(result.time_seconds)}, {result.end.reason}"


def usage_line(usage: Usage) -> str:
    """Return times and memory in one line."""
    peak = megabytes(usage.peak_memory_bytes) if usage.peak_memory_bytes else "not known"
    return f"wall {duration(usage.wall_seconds)}, CPU {duration(usage.cpu_seconds)}, peak memory {peak}"


def end_line(end: BotEnd, terms: Terms) -> str:
    """Return how a bot ended: the name of its end, and what that means here."""
    means = {
        EndReason.FINISHED: _last_words(end),
        EndReason.TIME_LIMIT: f"stopped after {terms.wall_limit_seconds:g} s",
        EndReason.CPU_LIMIT: f"stopped after {terms.cpu_limit_seconds or 0:g} s of CPU time",
        EndReason.MEMORY_LIMIT: f"stopped above {megabytes(terms.memory_limit_bytes or 0)}",
        EndReason.PROCESS_LIMIT: f"stopped at more than {terms.most_processes or 0} processes and threads",
        EndReason.PUZZLE_LIMIT: f"stopped after {terms.puzzle_limit_seconds or 0:g} s without the answer",
        EndReason.CRASHED: f"the bot {_last_words(end)} while answers were due",
        EndReason.STALLED: "stopped: answers were due, and it neither computed nor wrote anything "
        f"for {terms.stall_limit_seconds or 0:g} s",
        EndReason.CLOSED_STDOUT: "stopped: it closed its stdout while answers were due",
        EndReason.PROTOCOL_ERROR: "stopped: too much output that belongs to no answer",
        EndReason.NOT_STARTED: "the command cannot be run",
        EndReason.INTERRUPTED: "the judge was told to stop",
    }[end.reason]
    return f"{end.reason}: {means}" + (f" ({end.detail})" if end.detail else "")


def _last_words(end: BotEnd) -> str:
    return f"died of {end.signal}" if end.signal else f"ended with status {end.exit_status}"


def _timed(one: PuzzleResult) -> str:
    return f"${one.number} {duration(one.took_seconds or 0.0)}"


def _and_more(count: int, what: str) -> list[str]:
    return [f"  and {count - SHOWN_PUZZLES} more {what}"] if count > SHOWN_PUZZLES else []
