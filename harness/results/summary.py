"""A result in words, for the end of a command."""

from __future__ import annotations

from harness.play.process import Usage
from harness.referee import Verdict
from harness.results.model import BotEnd, EndReason, PuzzleResult, RunResult, Score

__all__ = ["run_lines", "score_lines"]

SHOWN_PUZZLES = 5
"""How many puzzles of a kind are named one by one."""


def score_lines(score: Score) -> list[str]:
    """Return what was right and what was not, a few of these by name."""
    others = ", ".join(
        f"{score.verdicts[verdict]} {verdict}" for verdict in Verdict if verdict is not Verdict.RIGHT
    )
    lines = [f"{score.verdicts[Verdict.RIGHT]} of {len(score.puzzles)} right; {others}"]
    for verdict in (Verdict.WRONG, Verdict.MALFORMED):
        found = [one for one in score.puzzles if one.verdict is verdict]
        lines += [f"  ${one.number} {verdict}: {one.detail}" for one in found[:SHOWN_PUZZLES]]
        lines += _and_more(len(found), verdict)
    lines += [f"  {remark}" for remark in score.remarks[:SHOWN_PUZZLES]]
    return lines + _and_more(score.remark_count, "remarks")


def run_lines(result: RunResult) -> list[str]:
    """Return the whole summary of a run."""
    lines = [*score_lines(result.score), usage_line(result.usage), end_line(result.end, result)]
    slowest = sorted(
        (one for one in result.score.puzzles if one.took_seconds is not None),
        key=lambda one: -(one.took_seconds or 0.0),
    )
    if slowest:
        lines.append("slowest: " + ", ".join(map(_timed, slowest[:SHOWN_PUZZLES])))
    if result.stderr_file:
        lines.append(f"stderr of the bot ({result.stderr_bytes} bytes): {result.stderr_file}")
    return lines


def usage_line(usage: Usage) -> str:
    """Return times and memory in one line."""
    megabytes = f"{usage.peak_memory_bytes / 1e6:.0f} MB"
    bound = "at most " if usage.peak_memory_bytes <= usage.memory_floor_bytes else ""
    return f"wall {usage.wall_seconds:.2f} s, CPU {usage.cpu_seconds:.2f} s, peak memory {bound}{megabytes}"


def end_line(end: BotEnd, result: RunResult) -> str:
    """Return how the bot ended."""
    return {
        EndReason.EXITED: f"the bot ended with status {end.exit_status}",
        EndReason.SIGNALLED: f"the bot died of {end.signal}",
        EndReason.TIME_LIMIT: f"stopped at the time limit of {result.wall_limit_seconds:g} s",
        EndReason.LINGERED: "stopped: the bot had no more to say and did not end",
        EndReason.INTERRUPTED: "interrupted",
    }[end.reason]


def _timed(one: PuzzleResult) -> str:
    return f"${one.number} {one.took_seconds:.3f} s"


def _and_more(count: int, what: str) -> list[str]:
    return [f"  and {count - SHOWN_PUZZLES} more {what}"] if count > SHOWN_PUZZLES else []
