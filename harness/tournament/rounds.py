"""Playing a tournament: every bot on every set, a result file for each; what is there is not played again."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from msgspec import UNSET

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.bot_command import named_by
from nonobot.harness.play.journal import journal_path
from nonobot.harness.play.match import (
    GOES_ON,
    Bot,
    WarmUpError,
    not_started,
    play,
    require_place,
    resume,
    warmed_up,
)
from nonobot.harness.play.run_state import OnVerdict, stderr_path
from nonobot.harness.results.conditions import Configuration, FileNames, SetFacts
from nonobot.harness.results.result_files import read_result, result_in, write_json
from nonobot.harness.results.run_result import RunResult
from nonobot.harness.tournament.definition import (
    Entrant,
    Tournament,
    board_size,
    file_name,
    files_of,
    filled_in,
    terms_of,
)
from nonobot.harness.user_files import loaded, require_writable
from nonobot.tournament_data import PuzzleSet

__all__ = ["ScheduledRun", "held", "scheduled_runs"]


@dataclass(frozen=True, slots=True)
class ScheduledRun:
    """A bot and a set.

    Attributes
    ----------
    entrant : Entrant
    puzzle_set : PuzzleSet
    terms : Configuration
    result_path : Path
    others : sequence of sequence of str
        The commands of the other bots: what they name is not for this one.
    core_named : bool
        Whether the tournament names the core. If not, a run on any other is as good.
    hide : sequence of Path
        What else is not for this bot, wherever it plays: the results, also of other tournaments.
    """

    entrant: Entrant
    puzzle_set: PuzzleSet
    terms: Configuration
    result_path: Path
    others: Sequence[Sequence[str]] = ()
    core_named: bool = False
    hide: Sequence[Path] = ()

    @property
    def name(self) -> str:
        """Who plays what, in words."""
        return f"{self.entrant.name} on {self.puzzle_set.name}"

    @property
    def programs(self) -> list[list[str]]:
        """The commands that it takes: that of the bot, and what warms it up."""
        return [self.command, filled_in(self.entrant.warm_up or [], self.puzzle_set, self.terms)]

    @property
    def command(self) -> list[str]:
        """The bot's command for this set."""
        return filled_in(self.entrant.command, self.puzzle_set, self.terms)

    @property
    def files(self) -> FileNames | None:
        """The bot's files, if it works on files."""
        return files_of(self.entrant, self.terms.feed)

    def played(self) -> RunResult | None:
        """Return the result that is there, whole or of a run that was interrupted.

        None if there is none, or if the bot could not be started then: that may have been mended.

        Raises
        ------
        UnusableError
            If it is of another command, set, or other terms.
        """
        if not self.result_path.exists():
            return None
        result = read_result(self.result_path)
        if isinstance(result, RunResult) and not result.started:
            return None
        if not isinstance(result, RunResult) or not self._is(result):
            raise UnusableError(
                f"{self.result_path} was played with another command, set, or on other terms; "
                "move it away, or play everything anew with --again"
            )
        return result

    def play(self, before: RunResult | None, on_verdict: OnVerdict) -> RunResult:
        """Play, or go on with what was cut off, `before`; return the result, which is in its file.

        A bot that cannot be warmed up or started has one, too, and keeps the others from nothing.
        """
        if before is not None and before.end.reason not in GOES_ON:
            return before
        if before is not None or journal_path(self.result_path).exists():
            return resume(self.puzzle_set, self.result_path, on_verdict, self._hidden())
        result = self._begun(on_verdict)
        if not result.started:
            write_json(self.result_path, result)
        return result

    def keep(self, result: bytes, stderr: bytes) -> RunResult:
        """Write the files of a run that was played elsewhere, in the place of any other, and return its result.

        Raises
        ------
        UnusableError
            If they cannot be written.
        """
        log = stderr_path(self.result_path)
        found = result_in(result, self.result_path)
        assert isinstance(found, RunResult)  # as `play` makes it
        try:
            log.unlink(missing_ok=True)
            if stderr:
                log.write_bytes(stderr)
            found = msgspec.structs.replace(found, stderr_file=str(log) if stderr else None)
            write_json(self.result_path, found)
            journal_path(self.result_path).unlink(missing_ok=True)
        except OSError as error:
            raise UnusableError(f"cannot write {self.result_path}: {error.strerror}") from None
        return found

    def forget(self) -> None:
        """Remove what was played."""
        for path in (self.result_path, journal_path(self.result_path)):
            path.unlink(missing_ok=True)

    def _begun(self, on_verdict: OnVerdict) -> RunResult:
        require_place(self.terms, self.result_path)
        show = [Path(one).absolute() for one in self.entrant.show]
        bot = Bot(self.entrant.name, self.command, files=self.files, show=show, hide=self._hidden())
        sandbox = bot.sandbox(self.terms.containment, self.result_path)
        try:
            took = warmed_up(filled_in(self.entrant.warm_up or [], self.puzzle_set, self.terms), sandbox)
        except WarmUpError as error:
            return not_started(self.puzzle_set, bot, self.terms, str(error))
        return play(self.puzzle_set, replace(bot, warm_up_seconds=took), self.terms, self.result_path, on_verdict)

    def _hidden(self) -> list[Path]:
        """Return what is not for this bot: the results, and the files of the others as they are found here."""
        return [*self.hide, *(path for one in self.others for path in named_by(one))]

    def _is(self, result: RunResult) -> bool:
        # Sandbox change no answer, and older results know no limit on processes.
        own, its = self.terms, msgspec.structs.replace(result.configuration, contain=self.terms.contain)
        if its.process_limit is UNSET:
            its = msgspec.structs.replace(its, process_limit=own.process_limit)
        if not self.core_named and len(own.cores) == len(its.cores):
            own, its = msgspec.structs.replace(own, core=None), msgspec.structs.replace(its, core=None)
        mine = self.entrant.name, self.command, self.files, SetFacts.of(self.puzzle_set), own
        return mine == (result.bot, result.command, result.files or None, result.set, its)


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep every other command from playing into a folder, within the block.

    Raises
    ------
    UnusableError
        If another one does.
    """
    require_writable(folder / "any")
    file = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise UnusableError(f"another one plays this tournament: it writes to {folder}") from None
    except OSError:  # a file system without locks
        pass
    try:
        yield
    finally:
        os.close(file)


def scheduled_runs(tournament: Tournament, folder: Path) -> list[ScheduledRun]:
    """Return who plays what, set by set; results go to `folder`.

    Raises
    ------
    UnusableError
        If a set cannot be had.
    """
    terms = terms_of(tournament)
    results = folder.absolute()  # a worker has another working folder, and plays into another folder
    return [
        ScheduledRun(
            entrant,
            puzzle_set,
            terms,
            folder / _file_name(puzzle_set, entrant),
            [filled_in(one.command, puzzle_set, terms) for one in tournament.bots if one is not entrant],
            tournament.core is not None,
            [results, results.parent],
        )
        for puzzle_set in _sets(tournament)
        for entrant in tournament.bots
    ]


def _file_name(puzzle_set: PuzzleSet, entrant: Entrant) -> str:
    return f"{file_name(puzzle_set.name)}--{file_name(entrant.name)}.json"


def _sets(tournament: Tournament) -> list[PuzzleSet]:
    return [
        loaded(played if isinstance(played, str) else played.set, board_size(played)) for played in tournament.sets
    ]
