"""A run of a bot on a set: warmed up, begun or taken up again; legs played until it is over; its result on disk.

Down from here: `leg.py` is one life of the bot's process (feed, listen, rule, end it), `conversation.py` what is
said in it, `watchdog.py` what stops it, `bot_process.py` the process and its pipes, `process_tree.py` all that it
started, `machine.py` the cores; `run_state.py` is what has come of the run so far, `journal.py` what of it is on
disk.
"""

from __future__ import annotations

import dataclasses
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from nonobot import __version__
from nonobot.harness.errors import UnusableError
from nonobot.harness.play.bot_process import BotProcess, PassedOn, StartError
from nonobot.harness.play.containment import Walls, built_walls, hidden_results
from nonobot.harness.play.journal import Journal, Record, journal_path, read_records
from nonobot.harness.play.leg import play_leg
from nonobot.harness.play.machine import machine_facts, off_cores, require_cores
from nonobot.harness.play.process_tree import end_leftover
from nonobot.harness.play.run_state import NO_USAGE, OnRuling, RunState, records_of, stderr_path
from nonobot.harness.play.watchdog import Interrupts
from nonobot.harness.referee import Referee
from nonobot.harness.results.result_files import check_writable, read_result, write_json
from nonobot.harness.results.run_result import BotEnd, EndReason, FileNames, Leg, RunResult, Score
from nonobot.harness.results.terms import Contain, SetFacts, Terms
from nonobot.tournament_data import PuzzleSet

__all__ = [
    "GOES_ON",
    "Bot",
    "ResultLostError",
    "WarmUpError",
    "not_started",
    "play",
    "recorded_run",
    "require_place",
    "resume",
    "warmed_up",
]

GOES_ON = (EndReason.INTERRUPTED, EndReason.NOT_STARTED)
"""Ends after which a run can be taken up again; after the others it is over for good."""

SECONDS_TO_HEED = 0.05
"""How long a Ctrl-C may wait to be heeded while a bot is warmed up."""


class WarmUpError(UnusableError):
    """A bot could not be warmed up; the message is one line that says why."""


class ResultLostError(UnusableError):
    """The result of a run cannot be written; the message is one line that says what is left of it.

    Attributes
    ----------
    result : RunResult
    """

    def __init__(self, message: str, result: RunResult) -> None:
        super().__init__(message)
        self.result = result


@dataclass(frozen=True, slots=True)
class Bot:
    """Who plays.

    Attributes
    ----------
    name : str
        In tables.
    command : sequence of str
        Program and arguments; run without a shell.
    warm_up_seconds : float or None
        How long it was warmed up before; None if it was not.
    files : FileNames or None
        Its files, if it works on files.
    show, hide, writable : sequence of Path
        What it sees when it is contained, and may write in; see `mounts.View`.
    """

    name: str
    command: Sequence[str]
    warm_up_seconds: float | None = None
    files: FileNames | None = None
    show: Sequence[Path] = ()
    hide: Sequence[Path] = ()
    writable: Sequence[Path] = ()

    def walls(self, contain: Contain, result_path: Path) -> Walls | None:
        """Return the walls around it; see :func:`~nonobot.harness.play.containment.built_walls`."""
        results = [one for one in self.hide if one in result_path.parents]
        others = [one for one in self.hide if one not in results]
        walls = built_walls(contain, self.show, others, [*results, *hidden_results(result_path)])
        return walls and dataclasses.replace(walls, writable=tuple(self.writable))


def warmed_up(command: Sequence[str] | None, walls: Walls | None = None) -> float | None:
    """Run the command that a bot prepares itself with, and return how many seconds that took; None if it has none.

    What it says on stderr is passed on. What it leaves running is ended: a helper that is there already would not
    be held to the bot's core and limits.

    Parameters
    ----------
    command : sequence of str or None
    walls : Walls, optional
        Those of the bot.

    Raises
    ------
    WarmUpError
        If the command cannot be run, or fails.
    KeyboardInterrupt
        If the judge is told to stop meanwhile.
    """
    if not command:
        return None
    start = time.monotonic()
    with Interrupts() as interrupts:
        status = _warming_status(command, interrupts, walls and walls.warming())
    if interrupts.told:
        raise KeyboardInterrupt
    if status:
        hint = " (contained, it writes in its own folder alone; or --contain no)" if walls else ""
        raise WarmUpError(f"{shlex.join(command)} ended with status {status}: not warmed up{hint}")
    return time.monotonic() - start


def play(
    puzzle_set: PuzzleSet,
    bot: Bot,
    terms: Terms,
    result_path: Path,
    on_ruling: OnRuling = lambda ruling, run_seconds: None,
) -> RunResult:
    """Run a bot on a set and return what came of it, whatever the bot does.

    What is known is on disk at any time, in the journal beside the result; at the end, the result. SIGINT, SIGTERM
    and SIGHUP end the run as `interrupted`, with its result; :func:`resume` goes on with it. A bot that cannot be
    started (`not-started`) leaves no file. One run at a time: the judge's process looks after one tree of
    processes.

    Parameters
    ----------
    puzzle_set : PuzzleSet
    bot : Bot
    terms : Terms
    result_path : Path
        Where the result goes, `X.json`; beside it `X.stderr.txt` if the bot writes to stderr, and for the time of
        the run `X.journal.jsonl`.
    on_ruling : callable, optional
        Told of each ruling, and of the run time in seconds at which it was made.

    Raises
    ------
    UnusableError
        As for :func:`require_place`; ResultLostError if the result cannot be written after all.
    """
    with Interrupts() as interrupts, _new_journal(terms, result_path) as journal:
        stderr_path(result_path).unlink(missing_ok=True)
        beginning = _new(puzzle_set, bot, terms)
        journal.add(beginning)
        walls = bot.walls(terms.containment, result_path)
        run = RunState(beginning, puzzle_set, result_path, journal, on_ruling, walls)
        return _play_legs(run, interrupts, journal, result_path)


def not_started(puzzle_set: PuzzleSet, bot: Bot, terms: Terms, why: str) -> RunResult:
    """Return the result of a run that did not come about."""
    result = _new(puzzle_set, bot, terms)
    end = BotEnd(EndReason.NOT_STARTED, detail=why)
    leg = Leg(result.started_at, puzzle_set.puzzles[0].number, end, NO_USAGE)
    return replace(result, legs=[leg], score=Referee(puzzle_set).score())


def require_place(terms: Terms, result_path: Path) -> None:
    """See that a run can take place: cheap, and worth knowing before a bot is warmed up.

    Raises
    ------
    UnusableError
        If the core cannot be used, the result cannot be written, another judge is writing it, or a run that was
        cut off is there and could go on.
    """
    with _new_journal(terms, result_path) as journal:
        journal.remove()


def recorded_run(result_path: Path) -> RunResult:
    """Return what is on disk of a run that was cut off: bot, set and terms; rulings and legs may be missing.

    Raises
    ------
    UnusableError
        If there is none, or it ended for good.
    """
    return _beginning(_records(result_path, read_records(journal_path(result_path))))


def resume(
    puzzle_set: PuzzleSet,
    result_path: Path,
    on_ruling: OnRuling = lambda ruling, run_seconds: None,
    hide: Sequence[Path] = (),
) -> RunResult:
    """Go on with a run that was cut off, with the first puzzle that is left, and return what came of all of it.

    The bot's command and the terms are those of the run, and what earlier legs took counts.

    Parameters
    ----------
    puzzle_set : PuzzleSet
        The set of the run.
    result_path : Path
        Its result, or where it would be: with its journal beside it if the judge was killed.
    on_ruling : callable, optional
        Told of each ruling, of the earlier ones at once.
    hide : sequence of Path, optional
        As for :class:`Bot`, beside what was hidden when the run began; what else it sees is known from the run.

    Raises
    ------
    UnusableError
        If there is nothing to go on with, the set is another, or as for :func:`play`.
    """
    _check_writable(result_path)
    with Interrupts() as interrupts, Journal(journal_path(result_path)) as journal:
        new = not journal.records
        try:
            records = _records(result_path, journal.records)
            beginning = _beginning(records)
            if beginning.set.sha256 != puzzle_set.sha256:
                raise UnusableError(f"the set {puzzle_set.name} is not the one of {result_path}: it has changed")
            require_cores(beginning.terms.cores)
            shown = () if beginning.show is UNSET else tuple(map(Path, beginning.show))
            hidden = () if beginning.hide is UNSET else tuple(map(Path, beginning.hide))
            bot = Bot(beginning.bot, beginning.command, show=shown, hide=[*hidden, *hide])
            walls = bot.walls(beginning.terms.containment, result_path)
        except UnusableError:
            if new:
                journal.remove()
            raise
        for record in records if new else ():
            journal.add(record)
        run = RunState(beginning, puzzle_set, result_path, journal, on_ruling, walls)
        run.replay(records)
        end_leftover(run.open_leg)
        run.end_open_leg()
        return _play_legs(run, interrupts, journal, result_path)


def _warming_status(command: Sequence[str], interrupts: Interrupts, walls: Walls | None) -> int:
    """Return how the command ended, by itself or because the judge was told to stop; nothing of it is left."""
    try:
        process = BotProcess(command, PassedOn(), walls=walls)
    except StartError as error:
        raise WarmUpError(f"cannot warm up: {error}") from None
    with process:
        process.send(b"", last=True)
        while not process.exited and not interrupts.told:
            process.read(time.monotonic() + SECONDS_TO_HEED)
    return process.exit_status


def _play_legs(run: RunState, interrupts: Interrupts, journal: Journal, result_path: Path) -> RunResult:
    """Play legs until the run is over or interrupted; write the result in place of the journal."""
    with off_cores(run.terms.cores):
        over = _over_for_good(run)
        while not over:
            play_leg(run, interrupts)
            over = run.legs[-1].end.reason is not EndReason.PUZZLE_LIMIT or not run.referee.answers_due
    result = run.result()
    if result.started:
        _write(result, result_path, journal)
    journal.remove()
    return result


def _write(result: RunResult, path: Path, journal: Journal) -> None:
    try:
        write_json(path, result)
    except OSError as error:
        journal.close()  # which tells whether it is whole
        kept = read_records(journal_path(path))
        left = f"nonojudge run --resume {path} makes it of what is in {journal_path(path)}"
        if journal.trouble and kept:
            left += ", which is not all"
        elif not kept:
            journal.remove()
            left = "nothing of it is on disk"
        raise ResultLostError(f"cannot write {path}: {error.strerror}; {left}", result) from None


def _new(puzzle_set: PuzzleSet, bot: Bot, terms: Terms) -> RunResult:
    """Return what is known of a run at its start: everything but legs and rulings."""
    return RunResult(
        bot=bot.name,
        command=list(bot.command),
        set=SetFacts.of(puzzle_set),
        terms=terms,
        machine=machine_facts(terms.cores),
        judge_version=__version__,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        warm_up_seconds=bot.warm_up_seconds,
        legs=[],
        stderr_bytes=0,
        stderr_file=None,
        score=Score.of([]),
        files=bot.files or UNSET,
        show=[str(path) for path in bot.show] or UNSET,
        hide=[str(path.absolute()) for path in bot.hide] or UNSET,
    )


def _new_journal(terms: Terms, result_path: Path) -> Journal:
    """Return the journal of a run that is about to begin, empty; see :func:`require_place`."""
    require_cores(terms.cores)
    _check_writable(result_path)
    journal = Journal(journal_path(result_path))
    if journal.records:
        journal.close()
        raise UnusableError(
            f"{journal_path(result_path)} holds a run that was cut off: go on with it "
            f"(nonojudge run --resume {result_path}), or remove it"
        )
    return journal


def _over_for_good(run: RunState) -> bool:
    """Return whether there is nothing to play; a judge may be killed between a leg and the next."""
    between_legs = not run.legs or run.legs[-1].end.reason in (*GOES_ON, EndReason.PUZZLE_LIMIT)
    return not (between_legs and run.referee.answers_due)


def _records(result_path: Path, in_journal: list[Record]) -> list[Record]:
    """Return the records of a run that was cut off: its journal's, else those that its result stands for."""
    if in_journal:
        return in_journal
    result = read_result(result_path)
    if not isinstance(result, RunResult):
        raise UnusableError(f"{result_path} is no run")
    if result.end.reason not in GOES_ON:
        raise UnusableError(
            f"{result_path}: this run is over ({result.end.reason}); nothing is left to go on with"
        )
    return records_of(result)


def _beginning(records: list[Record]) -> RunResult:
    assert isinstance(records[0], RunResult)  # as the journal was checked for
    return records[0]


def _check_writable(result_path: Path) -> None:
    try:
        check_writable(result_path)
    except OSError as error:
        raise UnusableError(f"cannot write {result_path}: {error.strerror}") from None
