"""A whole run of a bot on a set: warm-up, start or resumption, attempts, and the result file at its end."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from nonobot import __version__
from nonobot.harness import StartError, UnusableError
from nonobot.harness.play.attempt import play_attempt
from nonobot.harness.play.journal import Journal, end_leftover, journal_path, read_records, records_in
from nonobot.harness.play.run_events import NO_USAGE, Event
from nonobot.harness.play.run_state import OnVerdict, RunState, records_of, stderr_path
from nonobot.harness.process.access import Access
from nonobot.harness.process.bot_files import bot_files, changed_files, without_written
from nonobot.harness.process.bot_process import NOTHING_MORE, BotProcess, PassedOn, settled
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.process.machine import machine_facts, require_cores
from nonobot.harness.process.nonobot_command import compile_modules, own_arguments, own_warm_up
from nonobot.harness.process.revisions import revision_of
from nonobot.harness.results.conditions import Configuration, Contain, FileNames, SetFacts
from nonobot.harness.results.file_limits import require_readable
from nonobot.harness.results.referee import Referee
from nonobot.harness.results.result_files import read_result, write_json
from nonobot.harness.results.run_result import Attempt, BotEnd, EndReason, RunResult, Score
from nonobot.harness.results.run_text import end_in_words
from nonobot.harness.text import say
from nonobot.harness.user_files import require_writable
from nonobot.system import reason_of
from nonobot.tournament_data import PuzzleSet
from nonobot.tournament_data.registry import official_sets
from nonobot.tournament_data.sets import file_of

GOES_ON = (EndReason.INTERRUPTED, EndReason.NOT_STARTED)  # ends that allow a run to be resumed
SECONDS_TO_HEED = 0.05  # longest delay of a Ctrl-C, and interval of checking the limits, in a warm-up
WARM_UP_SECONDS = 600.0  # default wall time limit of a warm-up


class WarmUpError(UnusableError):
    """A bot could not be warmed up; the message is one line that says why."""


class ResultLostError(UnusableError):
    """The `result` of a run cannot be written; the message is one line that names what is left of it."""

    def __init__(self, message: str, result: RunResult) -> None:
        super().__init__(message)
        self.result = result


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot to run: display name, command, files if it works on files, and sandbox access (see `Access`)."""

    name: str
    command: Sequence[str]
    warm_up_seconds: float | None = None  # how long its `warm_up` took before the run; None without one
    files: FileNames | None = None
    show: Sequence[Path] = ()
    hide: Sequence[Path] = ()
    writable: Sequence[Path] = ()
    warm_up: Sequence[str] = ()
    sets: Sequence[str] = ()  # of its tournament: it must not see them before they are played

    def access(self, result_path: Path, set_name: str) -> Access:
        """Return what it sees and writes in a run on a set."""
        results = [path for path in self.hide if path in result_path.parents]
        return Access(
            show=tuple(self.show),
            hide=tuple(path for path in self.hide if path not in results),
            secret=files_of_sets([set_name, *self.sets]),
            results=(*results, result_path.parent, Path("results")),
            writable=tuple(self.writable),
        )


def files_of_sets(names: Iterable[str]) -> tuple[Path, ...]:
    """Return the files of sets, and of all official sets."""
    files = [*map(file_of, names)]
    with contextlib.suppress(OSError):  # the data folder is in a home that does not exist
        files += map(file_of, official_sets())
    return tuple(filter(None, files))


def warmed_up(
    command: Sequence[str] | None,
    run: Configuration,
    access: Access = NOTHING_MORE,
    limit_seconds: float | None = None,
    live: bool = False,
) -> float | None:
    """Run the command that prepares a bot, and return its duration in seconds; None without a command.

    The run's limits on memory and processes apply; any core may be used. The judge passes its stderr on (see
    `PassedOn` for `live`), and ends processes that it leaves running: a helper from before the run would escape
    the bot's core and limits. Time in which the judge stood still does not count.

    If the command starts nonobot as the judge does, the judge warms up its own nonobot in its place, without a
    sandbox and in a clean environment: no bot ever writes compiled kernels.

    WarmUpError if the command fails or reaches a limit, KeyboardInterrupt if the user stops the judge.
    """
    if not command:
        return None
    warm_up, limits = command, replace(run, core=None)
    own = own_arguments(command)
    if own is not None:
        compile_modules()
        warm_up, environment = own_warm_up(own), {"NONOBOT_PROGRESS": "live"}
        limits = replace(limits, contain=Contain.NO, environment=environment if live else UNSET)
    limit_seconds = limit_seconds or WARM_UP_SECONDS
    with Interrupts() as interrupts:
        try:
            process = BotProcess(warm_up, PassedOn(live), limits, dataclasses.replace(access, prepares=True))
        except StartError as error:
            raise WarmUpError(f"warm-up: {error}") from None
        with process:
            process.send(b"", last=True)
            limit = _limit_of_warm_up(process, limit_seconds, interrupts)
    if interrupts.stop_requested:
        raise KeyboardInterrupt
    if limit is EndReason.TIME_LIMIT:
        why = f"stopped at its limit of {limit_seconds:g} s"
    elif limit:
        why = end_in_words(BotEnd(limit), process.limits).partition(": ")[2]
    elif process.exit_status:
        hint = " (a sandboxed warm-up writes in few folders: docs/sandbox.md; --contain no lifts this)"
        why = f"exited with status {process.exit_status}{hint if process.sandboxed else ''}"
    else:
        return process.usage.wall_seconds
    raise WarmUpError(f"warm-up failed: {shlex.join(command)}: {why}")


def _limit_of_warm_up(process: BotProcess, limit_seconds: float, interrupts: Interrupts) -> EndReason | None:
    """Wait for a warm-up to end, or to reach a limit, which is returned, or for the user to stop the judge."""
    limit: EndReason | None = None
    while not process.exited and not limit and not interrupts.stop_requested:
        process.read(min(process.started + limit_seconds, time.monotonic() + SECONDS_TO_HEED))
        process.started += process.standstill.look()
        process.look()
        if not process.exited and time.monotonic() >= process.started + limit_seconds:
            limit = EndReason.TIME_LIMIT
        elif not process.exited or process.exit_status:
            limit = process.limit_reached()
    return limit


def play(
    puzzle_set: PuzzleSet,
    bot: Bot,
    configuration: Configuration,
    result_path: Path,
    on_verdict: OnVerdict = lambda run: None,
) -> RunResult:
    """Run a bot on a set and return the result, whatever the bot does; UnusableError as for :func:`require_place`.

    The journal next to the result is always up to date; at the end, the result replaces it. The signals of
    `STOPPING` end the run as `interrupted`, with its result; :func:`resume` continues it. A bot that cannot be
    started leaves no file. Play one run at a time: the judge's process looks after one tree of processes.

    KeyboardInterrupt if a signal comes before the bot's files are read.
    """
    with Interrupts() as interrupts, _new_journal(puzzle_set, result_path) as journal:
        try:
            access = bot.access(result_path, puzzle_set.name)
            beginning = _new(puzzle_set, bot, configuration, access)
            _remove(stderr_path(result_path))
        except (UnusableError, OSError, KeyboardInterrupt):
            journal.remove()
            raise
        journal.add(beginning)
        return _played(RunState(beginning, puzzle_set, result_path, journal, interrupts, on_verdict, access))


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:  # for example a folder of that name
        raise UnusableError(f"cannot write {path}: {reason_of(error)}") from None


def not_started(puzzle_set: PuzzleSet, bot: Bot, configuration: Configuration, why: str) -> RunResult:
    """Return the result of a run whose bot was never started."""
    result = _new(puzzle_set, bot, configuration, NOTHING_MORE)
    end = BotEnd(EndReason.NOT_STARTED, detail=why)
    attempt = Attempt(result.started_at, puzzle_set.puzzles[0].number, end, NO_USAGE)
    return replace(result, attempts=[attempt], score=Referee(puzzle_set).score())


def require_place(puzzle_set: PuzzleSet, configuration: Configuration, result_path: Path) -> None:
    """Check that a run can take place; cheap, so do it before a warm-up.

    UnusableError if the core cannot be used, the result cannot be written, or not be read later, another judge is
    writing it, or there is an interrupted run to resume.
    """
    require_cores(configuration.cores)
    with _new_journal(puzzle_set, result_path) as journal:
        journal.remove()


def recorded_run(result_path: Path) -> RunResult:
    """Return the beginning of an interrupted run, or its result; UnusableError if there is none to resume."""
    journal = journal_path(result_path)
    records = read_records(journal)
    if not records and journal.exists() and not os.path.lexists(result_path):
        raise UnusableError(f"{journal} contains no record: there is nothing to resume; run without --resume")
    return _beginning(_records(result_path, records))


def resume(
    puzzle_set: PuzzleSet,
    bot: Bot,
    configuration: Configuration,
    result_path: Path,
    on_verdict: OnVerdict = lambda run: None,
) -> RunResult:
    """Continue an interrupted run at the first remaining puzzle, and return the result of the whole run.

    Verdicts, attempts and their usage are those recorded. The arguments say what the judge runs and what the bot
    may do; the caller compares them with :func:`recorded_run`. `on_verdict` gets the earlier verdicts at once.

    UnusableError if there is nothing to resume, the set, the bot or a variable has changed, or as for
    :func:`play`.
    """
    require_writable(result_path, replaces_input=True)
    with Interrupts() as interrupts, Journal(journal_path(result_path)) as journal:
        there = len(journal.records)
        try:
            records = _records(result_path, journal.records)
            recorded = _beginning(records)
            if recorded.set.sha256 != puzzle_set.sha256:
                old, new = recorded.set, SetFacts.of(puzzle_set)
                raise UnusableError(f"{result_path}: the set has changed: it was {old}, and is {new} now")
            today = bot_files([bot.command, bot.warm_up], bot.show)
            if changed := changed_files(recorded.program_files or (), today):
                raise UnusableError(
                    f"{result_path}: the bot was replaced after this run began ({', '.join(changed)}): "
                    "put the old file back, or start a new run"
                )
            access = bot.access(result_path, puzzle_set.name)
            given = _given(bot, configuration, access)
            journal.mend()
        except (UnusableError, KeyboardInterrupt):
            if not there:
                journal.remove()
            raise
        for record in records[there:]:
            journal.add(record)
        names = {file.name for file in today}
        files = [file for file in recorded.program_files or () if file.name in names]
        beginning = replace(recorded, **given, program_files=files or UNSET)
        run = RunState(beginning, puzzle_set, result_path, journal, interrupts, on_verdict, access)
        run.replay(records)
        end_leftover(records)
        run.end_open_attempt()
        return _played(run)


def _played(run: RunState) -> RunResult:
    """Play attempts until the run is over or interrupted; replace the journal by the result."""
    with contextlib.ExitStack() as leftovers:
        over = _is_final(run)
        while not over:
            leftovers.close()
            play_attempt(run, leftovers)
            over = run.attempts[-1].end.reason is not EndReason.PUZZLE_LIMIT or not run.referee.answers_due
            if not (over or run.has_room):
                times = f"{len(run.attempts):,} times"
                say(f"{run.result_path}: the bot was started {times}; it is not started again: the file is full")
                over = True
        result = run.result()
        files = without_written(result.program_files or (), result.command)
        result = replace(result, program_files=files or UNSET)
        if result.started:
            _write(result, run)
        run.journal.remove()
    return result


def _write(result: RunResult, run: RunState) -> None:
    path, journal = run.result_path, run.journal
    try:
        write_json(path, result)
    except OSError as error:
        journal.close()  # closing reports whether it is complete
        kept = next(records_in(journal_path(path)), None)
        left = f"to resume the run makes it of what is in {journal_path(path)}"
        if journal.trouble and kept:
            left += ", which is not all"
        elif not kept:
            journal.remove()
            left = "nothing of it is on disk"
        raise ResultLostError(f"cannot write {path}: {reason_of(error)}; {left}", result) from None


def _new(puzzle_set: PuzzleSet, bot: Bot, configuration: Configuration, access: Access) -> RunResult:
    """Return the beginning of a run: its result without attempts and verdicts."""
    return RunResult(
        **_given(bot, configuration, access),
        set=SetFacts.of(puzzle_set),
        machine=machine_facts(configuration.cores),
        judge_version=__version__,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        warm_up_seconds=bot.warm_up_seconds,
        attempts=[],
        stderr_bytes=0,
        stderr_file=None,
        score=Score.of([]),
        revision=revision_of(bot.command) or UNSET,
        program_files=bot_files([bot.command, bot.warm_up], bot.show) or UNSET,
    )


def _given(bot: Bot, configuration: Configuration, access: Access) -> dict[str, Any]:
    """Return the parts of a result that come from the command line or the tournament's file."""
    given, (limits, environment) = configuration.environment or {}, settled(bot.command, configuration, access)
    return {
        "bot": bot.name,
        "command": list(bot.command),
        "configuration": limits,
        "environment": {name: value for name, value in environment.items() if name not in given},
        "files": bot.files or UNSET,
        "show": [str(path) for path in bot.show] or UNSET,
        "hide": [str(path.absolute()) for path in bot.hide] or UNSET,
    }


def _new_journal(puzzle_set: PuzzleSet, result_path: Path) -> Journal:
    """Return the empty journal of a new run; see :func:`require_place`."""
    require_readable(puzzle_set)
    require_writable(result_path, replaces_input=True)
    journal = Journal(journal_path(result_path))
    if journal.records:
        journal.close()
        raise UnusableError(
            f"{journal_path(result_path)}: interrupted run found; add `--resume {result_path}` to its command to "
            "continue it, or delete the file"
        )
    return journal


def is_over(result: RunResult | None) -> bool:
    """Return whether a run has a result, and cannot be resumed."""
    return result is not None and result.end.reason not in GOES_ON


def _is_final(run: RunState) -> bool:
    """Return whether nothing is left to play; a judge may be killed between two attempts."""
    if not (run.attempts or run.referee.answers_due):
        raise UnusableError(f"{journal_path(run.result_path)} is damaged: it has verdicts of no run; remove it")
    between = not run.attempts or run.attempts[-1].end.reason in (*GOES_ON, EndReason.PUZZLE_LIMIT)
    return not (between and run.referee.answers_due)


def _records(result_path: Path, in_journal: list[Event]) -> list[Event]:
    """Return the records of an interrupted run: those of its journal, otherwise those that its result stands for.

    A judge may have been killed while it copied the latter into the journal. UnusableError if the result's name is
    that of another file, which the judge would replace.
    """
    try:
        result = read_result(result_path)
    except UnusableError:
        if in_journal and not os.path.lexists(result_path):
            return in_journal
        raise
    if in_journal and (not isinstance(result, RunResult) or records_of(result)[: len(in_journal)] != in_journal):
        return in_journal
    if not isinstance(result, RunResult):
        raise UnusableError(f"{result_path}: not the result of a run")
    if is_over(result):
        raise UnusableError(f"{result_path}: this run has ended ({result.end.reason}); there is nothing to resume")
    return records_of(result)


def _beginning(records: list[Event]) -> RunResult:
    beginning = records[0]
    assert isinstance(beginning, RunResult)  # the journal was checked for that
    return beginning
