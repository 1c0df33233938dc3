"""Makes profiles: runs a bot on a set and reads the lines that it writes after `--stats`; profiles as JSON."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.match import Bot, play
from nonobot.harness.play.run_state import OnVerdict
from nonobot.harness.profiling.profile_data import PROFILE_SCHEMA_VERSION, Profile, PuzzleProfile, span_of
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.result_files import decoded
from nonobot.harness.results.run_result import EndReason, PuzzleResult
from nonobot.tournament_data import PuzzleSet

__all__ = ["profile_of", "read_profile", "to_json"]

NO_COUNTS = ("puzzle", "solutions")
"""Whole numbers in a line of statistics that are no counts of the search."""


class _Line(msgspec.Struct):
    """Required keys of a line of statistics; all other whole numbers in it are counts."""

    puzzle: int
    seconds: float
    step_seconds: dict[str, float] = {}


def profile_of(
    puzzle_set: PuzzleSet,
    command: Sequence[str],
    terms: Configuration,
    on_verdict: OnVerdict,
    show: Sequence[Path] = (),
) -> Profile:
    """Run a bot on a set and return its profile; UnusableError if it cannot be run, or writes no statistics.

    `--stats FILE` is added to its command. `terms` must not limit the time of a puzzle: the bot would be started
    again, and overwrite its statistics.
    """
    with tempfile.TemporaryDirectory(prefix="nonojudge-") as folder:
        (bots_own := Path(folder).resolve() / "bot").mkdir()
        stats = bots_own / "stats.jsonl"
        name = Path(command[0]).name
        bot = Bot(name, [*command, "--stats", str(stats)], show=show, writable=[bots_own])
        result = play(puzzle_set, bot, terms, Path(folder) / "result.json", on_verdict)
        if result.end.reason is EndReason.NOT_STARTED:
            raise UnusableError(result.end.detail or "the bot's command cannot be run")
        if not stats.exists() or not stats.stat().st_size:
            words = result.last_words()  # a bot that takes no `--stats` says so on stderr
            raise UnusableError(
                f"{shlex.join(command)} wrote no statistics: a bot that can be profiled takes --stats FILE "
                f"(docs/profiling.md){f'; it said: {words}' if words else ''}"
            )
        lines = stats.read_bytes().splitlines(keepends=True)
    results = {one.number: one for one in result.score.puzzles}
    arrivals = [one.arrived_seconds for one in result.score.puzzles if one.arrived_seconds is not None]
    return Profile(
        command=list(command),
        set=result.set,
        machine=result.machine,
        judge_version=result.judge_version,
        started_at=result.started_at,
        end=result.end,
        usage=result.usage,
        first_answer_seconds=min(arrivals, default=None),
        last_answer_seconds=max(arrivals, default=None),
        puzzles=list(_puzzles(lines, results)),
    )


def _puzzles(lines: Sequence[bytes], results: dict[int, PuzzleResult]) -> Iterator[PuzzleProfile]:
    for at, text in enumerate(lines, 1):
        if not text.endswith(b"\n"):
            return  # the bot was stopped while it wrote this line
        try:
            line = msgspec.json.decode(text, type=_Line)
            values: dict[str, Any] = msgspec.json.decode(text)
        except msgspec.MsgspecError as error:
            raise UnusableError(
                f"line {at} of the bot's statistics: {error}; see docs/profiling.md for what it should hold"
            ) from None
        if line.puzzle in results:
            counts = {name: v for name, v in values.items() if type(v) is int and name not in NO_COUNTS}
            yield PuzzleProfile(line.puzzle, results[line.puzzle].verdict, line.seconds, line.step_seconds, counts)


def to_json(profile: Profile) -> str:
    """Return a profile as JSON text: a line for each puzzle, and `span`, how its time divides."""
    values = msgspec.to_builtins(profile)
    puzzles = ",\n".join(f"  {json.dumps(one)}" for one in values.pop("puzzles"))
    values["span"] = msgspec.to_builtins(span_of(profile))
    head = json.dumps(values, indent=1)
    return f'{head[:-2]},\n "puzzles": [\n{puzzles}\n ]\n}}\n'


def read_profile(path: Path) -> Profile:
    """Return the profile in a file of :func:`to_json`; UnusableError if it is unreadable or of another version."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnusableError(f"cannot read the profile {path}: {error.strerror}") from None
    profile: Profile = decoded(
        content, path, Profile, PROFILE_SCHEMA_VERSION, "what `nonojudge profile --json` writes"
    )
    return profile
