"""Profiles for tests: made by hand, and by a bot that is a few lines long."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from nonobot.harness.profiling.profile_data import Profile, PuzzleProfile
from nonobot.harness.results.conditions import Machine, SetFacts
from nonobot.harness.results.run_result import BotEnd, EndReason, Usage, Verdict
from tests.helpers.judged import command

MACHINE = Machine("Linux 6", "a CPU", "3.12", None, None, 2, 2, 1 << 30, None, None, None)

# Reads everything, states what is in a file, answers what is in another.
BOT = """\
import sys
solutions, stats, _, path = sys.argv[1:]
sys.stdin.buffer.read()
with open(path, "wb") as file:
    file.write(open(stats, "rb").read())
sys.stdout.buffer.write(open(solutions, "rb").read())
"""


def puzzle(number: int, seconds: float, steps: dict[str, float] | None = None, **counts: int) -> PuzzleProfile:
    return PuzzleProfile(number, Verdict.RIGHT, seconds, steps or {}, counts)


def profile(*puzzles: PuzzleProfile, wall: float = 10.0, cpu: float = 10.0, **changes: Any) -> Profile:
    """Return a profile whose answers came between 1 s and 9 s."""
    values = {
        "command": ["bot", "--fast"],
        "set": SetFacts("a set", "0" * 64, 5, 5, len(puzzles)),
        "machine": MACHINE,
        "judge_version": "1",
        "started_at": "2026-01-01T00:00:00+00:00",
        "end": BotEnd(EndReason.FINISHED, 0),
        "usage": Usage(wall, cpu, 1 << 20),
        "first_answer_seconds": 1.0 + puzzles[0].seconds if puzzles else None,
        "last_answer_seconds": 9.0 if puzzles else None,
        "puzzles": list(puzzles),
    }
    return Profile(**values | changes)


def example() -> Profile:
    """Return a profile of three puzzles, the second of which took most of the time, by its conflicts."""
    return profile(
        puzzle(1, 0.5, {"propagation": 0.1, "learn_start": 0.1, "learn_rest": 0.1}, probes=10, conflicts=0),
        puzzle(2, 5.0, {"propagation": 0.5, "learn_start": 0.5, "learn_rest": 3.5}, probes=30, conflicts=90),
        puzzle(3, 1.0, {"propagation": 0.9, "learn_start": 0.0, "learn_rest": 0.0}, probes=60, conflicts=10),
    )


def stating_bot(folder: Path, stats: str) -> list[str]:
    """Return the command of a bot that solves the small set of the judge's tests, and states `stats`."""
    stated = folder / "stated.jsonl"
    stated.write_text(stats)
    *_, solutions = command("perfect", folder)
    return [sys.executable, "-S", "-c", BOT, solutions, str(stated)]
