"""`nonojudge duel`: two versions of a bot at once on one core: is the second slower? Exit statuses for CI."""

from __future__ import annotations

import argparse
import secrets
import shlex
import signal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from nonobot.arguments import Parser, command_words, new_path, whole_number
from nonobot.harness import UnusableError, options
from nonobot.harness.commands.compare import add_criteria, compared, limits_of
from nonobot.harness.compare.compared_runs import read_version
from nonobot.harness.compare.comparison import compare
from nonobot.harness.compare.statistics import Outcome, first_look
from nonobot.harness.play.judge_process import JudgeProcess
from nonobot.harness.play.match import SECONDS_TO_HEED, Bot, play
from nonobot.harness.process.bot_command import name_of
from nonobot.harness.process.bot_process import sandbox_note
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.process.machine import require_cores, tournament_core
from nonobot.harness.progress import Progress
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.result_files import read_result
from nonobot.harness.results.run_result import EndReason, RunResult
from nonobot.harness.results.run_text import last_words, last_words_of_failure, outcome
from nonobot.harness.text import say
from nonobot.harness.user_files import loaded
from nonobot.tournament_data import PuzzleSet

DEFAULT_SET = "boardgen:25x25x500:seed=7"
VERSIONS = ("before", "after")
ROUNDS = 7
MOST_ROUNDS = 30
PART_PUZZLES = 50  # fewest puzzles in a part of a set: with fewer, a run mostly measures the bot's start

EXAMPLES = f"""\
examples:
  nonojudge duel ../old/.venv/bin/nonobot .venv/bin/nonobot         two revisions, {DEFAULT_SET}
  nonojudge duel './mybot' './mybot --fast' --set questions.txt     two ways to run one bot
  nonojudge duel --until ./old ./new                                only as long as needed

Each pair runs both versions on the set at the same time, on the same core; the first pair does not count. The
pairs are compared as by `nonojudge compare`, whose --help defines slower (docs/compare.md).

Exit status: 0 not worse, 1 worse, 2 unusable arguments, or a bot that does not start, 3 cannot tell,
130 interrupted.
"""


Side = tuple[JudgeProcess[RunResult], Bot, Path]
"""A bot in a round: its judge, and the file of its result, in a folder with the name of its version."""


def add_to(parser: Parser) -> None:
    for name in VERSIONS:
        about = f"command of the version {name} the change, in quotes"
        parser.add_argument(name, type=command_words, metavar=name.upper(), help=about)
    options.add_set(parser, DEFAULT_SET)
    about = f"pairs of runs; a 95%% interval needs at least 6 (default: {ROUNDS}; with --until {MOST_ROUNDS})"
    parser.add_argument("--rounds", type=whole_number(1, 999, "a number of rounds"), metavar="N", help=about)
    about = f"stop as soon as the outcome is certain; each pair plays {PART_PUZZLES} puzzles or more of the set"
    parser.add_argument("--until", action="store_true", help=about)
    options.add_terms(parser, "core", "contain", "show", "environment")
    about = "store the results in FOLDER/before and FOLDER/after (default: not stored)"
    parser.add_argument("--results", type=new_path, metavar="FOLDER", help=about)
    add_criteria(parser)
    options.add_flags(parser, "quiet", "bisect-statuses", "json")


def carry_out(arguments: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C: no folder remains
    results: Path | None = arguments.results
    for version in VERSIONS:
        if not getattr(arguments, version):
            raise UnusableError(f"{version.upper()} is empty; give the command of a bot")
        if results and any((results / version).glob("*.json")):
            raise UnusableError(f"{results / version} contains results; name a folder without results")
    with tempfile.TemporaryDirectory(prefix="nonojudge-") as temporary:
        duel = _Duel(arguments, Path(temporary))
        duel.play()
        for folder in duel.folders:
            _say_last_words(folder)
        return compared(arguments, *([folder] for folder in duel.folders))


class _Duel:
    """The rounds of two bots on a set or on its parts; the warm-up is round 0."""

    def __init__(self, arguments: argparse.Namespace, temporary: Path) -> None:
        self._arguments = arguments
        puzzle_set = loaded(arguments.set, arguments.size)  # an error in it comes before the first round
        self._configuration = _configuration(arguments)
        say(sandbox_note(self._configuration.contain), arguments.quiet)
        show = [path.absolute() for path in vars(arguments).get("show", [])]
        self._bots = [Bot(name_of(command), command, show=show) for command in (arguments.before, arguments.after)]
        self.folders = [(arguments.results or temporary) / version for version in VERSIONS]
        self._warm_up = [temporary / "warm-up" / version for version in VERSIONS]
        self._rounds, self._look, self._sets = arguments.rounds or ROUNDS, 0, [puzzle_set]
        if arguments.until:
            self._look = look = first_look(arguments.confidence)
            self._rounds = max(look, (arguments.rounds or MOST_ROUNDS) // look * look)
            parts = min(look, len(puzzle_set.puzzles) // PART_PUZZLES)
            self._sets = [puzzle_set.part(part, parts) for part in range(1, parts + 1)] or [puzzle_set]

    def play(self) -> None:
        """Play the rounds, or as many as are needed."""
        number = 0
        try:
            with (
                Interrupts() as interrupts,
                JudgeProcess[RunResult]() as before,
                JudgeProcess[RunResult]() as after,
                Progress(None if self._arguments.quiet else self._rounds + 1) as progress,
            ):
                for number in range(self._rounds + 1):
                    self._play_round(number, (before, after), interrupts, progress)
                    if self._look and number and number % self._look == 0 and self._is_decided():
                        break
                progress.show(self._rounds + 1, "done")
        except (UnusableError, KeyboardInterrupt):
            for folder in self.folders:
                (folder / f"{number}.json").unlink(missing_ok=True)  # half of a round
            raise

    def _play_round(
        self, number: int, judges: Sequence[JudgeProcess[RunResult]], interrupts: Interrupts, progress: Progress
    ) -> None:
        most = "at most " if self._look else ""
        note = f"round {number} of {most}{self._rounds}" if number else "warming up"
        paths = [folder / f"{number}.json" for folder in (self.folders if number else self._warm_up)]
        sides = list(zip(judges, self._bots, paths, strict=True))[:: 1 if number % 2 else -1]
        shared = replace(self._configuration, shared_core=f"{secrets.token_hex(4)}-{number}")
        of_set = self._sets[number % len(self._sets)]
        for answered in _play(sides, of_set, shared, interrupts):
            count = len(of_set.puzzles)
            progress.show(number + answered / count, f"{note}, {answered} of {count} puzzles")
        if number == 0:
            for path in paths:
                _require_answers(path)

    def _is_decided(self) -> bool:
        """Return whether the outcome is certain, or more rounds cannot help."""
        before, after = (read_version(folder.name, [folder]) for folder in self.folders)
        comparison = compare(before, after, limits_of(self._arguments))
        return comparison.outcome is not Outcome.CANNOT_TELL or comparison.has_too_few


def _say_last_words(folder: Path) -> None:
    """Print how the first run of a version that failed ended, with its last line on stderr, if there is one."""
    for path in sorted(folder.glob("*.json")):
        result = read_result(path)
        assert isinstance(result, RunResult)  # as its judge wrote it
        if line := last_words_of_failure(result):
            how = result.end.reason.value
            if result.end.reason is EndReason.FINISHED:
                due = " while answers were due" if result.answers_due else " after its last answer"
                how = f"exited with status {result.end.exit_status}{due}"
            say(f"{folder.name}: {how}; its last line on stderr: {line}")
            return


def _configuration(arguments: argparse.Namespace) -> Configuration:
    given = vars(arguments)
    core = given.get("core", tournament_core())
    if not isinstance(core, int):
        raise UnusableError("--core any: a duel runs on one core; choose it with --core N")
    require_cores([core])
    return options.configuration_of(given, core)


def _play(
    sides: Sequence[Side], puzzle_set: PuzzleSet, configuration: Configuration, interrupts: Interrupts
) -> Iterator[int]:
    """Play a round, and yield from time to time how many puzzles both bots answered.

    UnusableError if a bot cannot be run, KeyboardInterrupt if the judge is told to stop.
    """
    for judge, bot, path in sides:
        judge.begin(play, puzzle_set, bot, configuration, path)
    playing = {judge: path.parent.name for judge, _, path in sides}
    while playing:
        for judge, version in list(playing.items()):
            try:
                if judge.result(SECONDS_TO_HEED):
                    del playing[judge]
            except UnusableError as error:
                raise UnusableError(f"{version}: {error}") from None
        if interrupts.stop_requested:
            raise KeyboardInterrupt
        yield min((judge.answered for judge in playing), default=len(puzzle_set.puzzles))


def _require_answers(path: Path) -> None:
    """Raise UnusableError if a bot solves nothing, for example because of a wrong option; name what to look at."""
    result = read_result(path)
    if isinstance(result, RunResult) and not result.score.right:
        line = last_words(result)
        why = f"; its last line on stderr: {line}" if line else ""
        look = f"; `nonojudge check -- {shlex.join(result.command)}` names the cause"
        raise UnusableError(f"{path.parent.name} solved no puzzle: {outcome(result)}{why}{look}")
