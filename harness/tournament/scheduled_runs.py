"""The runs of a tournament, each with a result file: which are finished, are resumed, or are played again."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from msgspec import UNSET
from msgspec.structs import replace as replaced

from nonobot.harness import UnusableError
from nonobot.harness.play.journal import end_leftover, journal_path, read_records, records_in
from nonobot.harness.play.match import (
    Bot,
    WarmUpError,
    is_over,
    not_started,
    play,
    require_place,
    resume,
    warmed_up,
)
from nonobot.harness.play.run_events import Event
from nonobot.harness.play.run_state import OnVerdict, records_of, stderr_path
from nonobot.harness.process.bot_command import folders_of, own_files
from nonobot.harness.process.bot_files import bot_files, changed_files, file_names
from nonobot.harness.results.comparability import CONTINUED, PLAYED, changed_facts
from nonobot.harness.results.conditions import Configuration, FileNames, SetFacts
from nonobot.harness.results.file_limits import MOST_BYTES, require_readable
from nonobot.harness.results.result_files import content_of, from_json, read_result, result_in, write_json
from nonobot.harness.results.run_result import RunResult
from nonobot.harness.tournament.definition import (
    Entrant,
    Tournament,
    command_of,
    filled_in,
    played_set,
    possible_parts,
    result_names,
)
from nonobot.harness.user_files import loaded, require_writable_folder
from nonobot.protocol.clues import count
from nonobot.system import reason_of
from nonobot.tournament_data import PuzzleSet


class OtherConditionsError(UnusableError):
    """A result was played under other conditions than those of the tournament now."""


@dataclass(frozen=True, slots=True)
class ScheduledRun:
    """A run of a bot on a set."""

    entrant: Entrant
    puzzle_set: PuzzleSet
    configuration: Configuration
    result_path: Path
    others: Sequence[Sequence[str]]  # commands of the other bots; their files are hidden from this bot
    core_named: bool  # whether the tournament names the core; otherwise all cores count as the same
    hide: Sequence[Path]  # results, also of other tournaments, and the tournament's file, on any machine
    sets: Sequence[str]  # all of the tournament, and the setters' solutions
    again: bool = False  # whether to play it even if it has a result

    @property
    def name(self) -> str:
        """The bot and the set, in words."""
        return f"{self.entrant.name} on {self.puzzle_set.name}"

    @property
    def programs(self) -> list[list[str]]:
        """The commands of the bot and of its warm-up."""
        return [self.command, filled_in(self.entrant.warm_up or [], self.puzzle_set, self.configuration)]

    @property
    def command(self) -> list[str]:
        """The bot's command for this set."""
        return command_of(self.entrant, self.puzzle_set, self.configuration)

    @property
    def files(self) -> FileNames | None:
        """The bot's files, if it works on files."""
        bot = self.entrant
        return file_names(bot.reads, bot.writes, bot.logs, self.configuration.feed)

    def played(self) -> RunResult | None:
        """Return the result in the file, also of an interrupted run; None if the bot must start, or was replaced.

        This removes the journal of a finished run, if its judge was killed before removing it.
        """
        recorded = None if self.again else self._recorded()
        if recorded is None:
            return None
        is_whole = self.result_path.exists()
        result = self._require_same(recorded, self.result_path if is_whole else journal_path(self.result_path))
        if not is_whole or self.replaced_files:
            return None
        with contextlib.suppress(UnusableError):  # not a journal
            if is_over(result) and self._begun() == records_of(result)[0]:
                journal_path(self.result_path).unlink()
        return result

    @property
    def replaced_files(self) -> list[str]:
        """The bot's files that were replaced after its run, finished or interrupted, began."""
        recorded = None if self.again else self._recorded()
        if recorded is None:
            return []
        return changed_files(recorded.program_files or (), bot_files(self.programs, self._shown))

    def play(self, before: RunResult | None, on_verdict: OnVerdict) -> RunResult:
        """Play, or resume an interrupted run with the result `before`; return the result, which is in its file."""
        if self.replaced_files:
            self.set_aside()
        own, warm_up = self.programs
        # Files of the other bots are looked for on this machine, which may be a worker.
        others = [path for command in self.others for path in (*own_files(command), *folders_of(command))]
        hide = [*self.hide, *others]
        bot = Bot(
            self.entrant.name, own, files=self.files, show=self._shown, hide=hide, warm_up=warm_up, sets=self.sets
        )
        if before is not None or self._begun():
            return resume(self.puzzle_set, bot, self.configuration, self.result_path, on_verdict)
        require_place(self.puzzle_set, self.configuration, self.result_path)
        access = bot.access(self.result_path, self.puzzle_set.name)
        try:
            limit = self.entrant.warm_up_limit
            bot = replace(bot, warm_up_seconds=warmed_up(warm_up, self.configuration, access, limit))
        except WarmUpError as error:
            result = not_started(self.puzzle_set, bot, self.configuration, str(error))
        else:
            result = play(self.puzzle_set, bot, self.configuration, self.result_path, on_verdict)
        if not result.started:
            write_json(self.result_path, result)
        return result

    def keep(self, result: bytes, stderr: bytes) -> RunResult:
        """Write the files of a run that was played elsewhere, replacing any others, and return its result."""
        log = stderr_path(self.result_path)
        run = result_in(result, self.result_path)
        assert isinstance(run, RunResult)  # as `play` creates it
        if self.replaced_files:
            self.set_aside()
        try:
            log.unlink(missing_ok=True)
            if stderr:
                log.write_bytes(stderr)
            run = replaced(run, stderr_file=str(log) if stderr else None)
            write_json(self.result_path, run)
            journal_path(self.result_path).unlink(missing_ok=True)
        except OSError as error:
            raise UnusableError(f"cannot write {self.result_path}: {reason_of(error)}") from None
        return run

    def _recorded(self) -> RunResult | None:
        """Return the result, or the beginning of an interrupted run; None if the bot was not started."""
        is_there = self.result_path.exists()
        try:
            recorded = read_result(self.result_path) if is_there else self._begun()
        except UnusableError as error:
            raise UnusableError(f"{error}; move it away, and its run is played again") from None
        if recorded is None:
            return None
        if not isinstance(recorded, RunResult):
            raise UnusableError(
                f"{self.result_path} is not the result of a run; move it away, and its run is played again"
            )
        return recorded if recorded.started or not is_there else None

    def set_aside(self) -> None:
        """Rename result, stderr and journal: X.json becomes X.json.before-1.

        Commands that read a folder skip such names, so that no ranking counts the result again.
        """
        files = [self.result_path, stderr_path(self.result_path), journal_path(self.result_path)]
        number = 1
        while any(Path(f"{path}.before-{number}").exists() for path in files):
            number += 1
        end_leftover(read_records(journal_path(self.result_path)))
        result = None
        with contextlib.suppress(UnusableError):  # a broken file is kept as it is
            result = self._recorded()
        for path in filter(Path.exists, files):
            path.rename(f"{path}.before-{number}")
        if result and result.stderr_file:
            kept = replaced(result, stderr_file=f"{stderr_path(self.result_path)}.before-{number}")
            write_json(Path(f"{self.result_path}.before-{number}"), kept)

    def _begun(self) -> Event | None:
        """Return the beginning of an interrupted run; None if a killed judge had just created the journal."""
        return next(records_in(journal_path(self.result_path)), None)

    @property
    def _shown(self) -> list[Path]:
        return [Path(path).absolute() for path in self.entrant.show]

    def _require_same(self, result: RunResult, path: Path) -> RunResult:
        """Return a result, or the beginning of one, if it is of this run; otherwise OtherConditionsError."""
        is_whole = bool(result.attempts) and is_over(result)
        now = replaced(
            result,
            bot=self.entrant.name,
            command=self.command,
            files=self.files or UNSET,
            show=[str(shown) for shown in self._shown] or UNSET,
            set=SetFacts.of(self.puzzle_set),
            configuration=self.configuration,
        )
        facts = PLAYED if is_whole else CONTINUED
        if changed := changed_facts(result, now, facts, self.core_named):
            raise OtherConditionsError(f"{path}: played under other conditions: {'; '.join(changed)}")
        return result


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Create and lock a folder of results for the block; UnusableError if another command is playing into it.

    A new folder without a file at the end is removed.
    """
    is_new = not folder.exists()
    require_writable_folder(folder)
    file = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UnusableError(f"{folder}: another nonojudge is playing this tournament") from None
        yield
    finally:
        os.close(file)
        if is_new:
            with contextlib.suppress(OSError):  # it has files
                folder.rmdir()


def results_before(todo: Sequence[ScheduledRun]) -> dict[Path, RunResult]:
    """Return the results that runs have already, by their paths; UnusableError if any is of another run."""
    found: dict[Path, RunResult] = {}
    refused: list[tuple[ScheduledRun, str]] = []
    for run in todo:
        try:
            result = run.played()
        except OtherConditionsError as error:
            refused.append((run, str(error)))
        else:
            found |= {run.result_path: result} if result else {}
    bots = list(dict.fromkeys(run.entrant.name for run, _ in refused))
    others = len(refused) - 1
    more = f"; so {'were' if others > 1 else 'was'} {count(others, 'other result')}" if refused[1:] else ""
    if len(bots) == 1:
        where = "them" if more else "it"
        remedy = f"move {where} away, or play {where} again with --again {shlex.quote(bots[0])}"
        raise UnusableError(f"{refused[0][1]}{more}; {remedy}")
    if bots:
        raise UnusableError(f"{refused[0][1]}{more}; move them away, or play all bots again with --again")
    return found


def scheduled_runs(
    tournament: Tournament,
    folder: Path,
    again: Collection[str] = (),
    hide: Sequence[Path] = (),
    handed_in: Sequence[PuzzleSet] = (),
) -> list[ScheduledRun]:
    """Return the runs, set by set; bots named in `again` play even if they have results; or UnusableError.

    No bot reads or writes the files in `hide`, such as that of the tournament. The sets of a match are those
    `handed_in`; no bot plays its own.
    """
    configuration = tournament.configuration
    results = folder.absolute()  # a worker has another working folder and result folder
    sets = [played_set(played)[0] for played in tournament.sets]
    for bot in tournament.bots:
        sets += [str(Path(file).absolute()) for file in (bot.puzzles, bot.setter_solutions) if file]
    loaded_sets = [*handed_in, *(loaded(*played_set(played), waits=False) for played in tournament.sets)]
    for puzzle_set in loaded_sets:
        require_readable(puzzle_set)
    paths = result_paths(
        folder, [puzzle_set.name for puzzle_set in loaded_sets], [bot.name for bot in tournament.bots]
    )
    return [
        ScheduledRun(
            entrant,
            puzzle_set,
            replaced(configuration, environment={**tournament.environment, **entrant.environment} or UNSET),
            paths[puzzle_set.name, entrant.name],
            [filled_in(bot.command, puzzle_set, configuration) for bot in tournament.bots if bot is not entrant],
            tournament.core is not None,
            [results, results.parent, *hide],
            sets,
            entrant.name in again,
        )
        for puzzle_set in loaded_sets
        for entrant in tournament.bots
        if entrant.name != puzzle_set.setter
    ]


def result_paths(folder: Path, sets: Sequence[str], bots: Sequence[str]) -> dict[tuple[str, str], Path]:
    """Return the result file of each set and bot, given by name.

    A file that records a set and a bot is theirs, whatever other sets and bots there are, in whatever order.
    """
    set_parts, bot_parts = result_names(sets), result_names(bots)
    possible: dict[tuple[str, str], list[Path]] = {}
    for run in itertools.product(sets, bots):
        parts = [(set_parts[run[0]], bot_parts[run[1]]), *itertools.product(*map(possible_parts, run))]
        possible[run] = [folder / f"{of_set}--{of_bot}.json" for of_set, of_bot in parts]
    recorded = {path: _set_and_bot(path) for path in {*itertools.chain(*possible.values())}}
    paths = {}
    for run, its_paths in possible.items():
        if there := [path for path in its_paths if recorded[path] == run]:
            paths[run] = there[0]
    taken = {path.name.casefold() for path in paths.values()}  # some file systems ignore case

    def is_free(path: Path, bot: str) -> bool:
        # With a set that the tournament no longer names, the file counts as free: `played` reports the difference.
        names = recorded[path]
        is_of_another = names is not None and (names in possible or names[1] != bot)
        return not is_of_another and path.name.casefold() not in taken

    for run, its_paths in possible.items():
        if run not in paths:
            paths[run] = next((path for path in its_paths if is_free(path, run[1])), its_paths[-1])
            taken.add(paths[run].name.casefold())
    return paths


class _NamedSet(msgspec.Struct):
    name: str


class _Names(msgspec.Struct):
    """The names in a result."""

    bot: str
    set: _NamedSet


def _set_and_bot(result_path: Path) -> tuple[str, str] | None:
    """Return the names of the set and the bot that a result, or its journal, records; None if it records none."""
    with contextlib.suppress(UnusableError, ValueError):
        names = from_json(content_of(result_path, most_bytes=MOST_BYTES), _Names)
        return names.set.name, names.bot
    with contextlib.suppress(UnusableError):
        if isinstance(begun := next(records_in(journal_path(result_path)), None), RunResult):
            return begun.set.name, begun.bot
    return None
