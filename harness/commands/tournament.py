"""`nonojudge tournament`: run several bots on several sets."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from nonobot.arguments import Parser, new_path, similar_names
from nonobot.harness import UnusableError
from nonobot.harness.cluster.cluster_workers import WHERE_HELP, where
from nonobot.harness.play.match import is_over
from nonobot.harness.process.bot_files import change_in_words
from nonobot.harness.process.bot_process import sandbox_note
from nonobot.harness.puzzles.handed_in import sets_handed_in
from nonobot.harness.ranking.standings import rankings
from nonobot.harness.ranking.table_text import as_text
from nonobot.harness.results.comparability import kind_of
from nonobot.harness.results.conditions import Contain
from nonobot.harness.results.result_files import ORDER
from nonobot.harness.results.run_result import EndReason, RunResult
from nonobot.harness.results.terms import KEYS
from nonobot.harness.text import say
from nonobot.harness.tournament.definition import Tournament, missing_files, read_tournament, require_files
from nonobot.harness.tournament.playing import PlayingFile, ShownRuns, all_played
from nonobot.harness.tournament.scheduled_runs import ScheduledRun, locked, results_before, scheduled_runs
from nonobot.harness.user_files import write_output
from nonobot.protocol.clues import count
from nonobot.system import printable, report

EXAMPLES = """\
example of a tournament file:
  name = "weekly"
  sets = ["taai2011", "boardgen:25x25x100:seed=7", { set = "mine.txt", size = "10x10" }]

  [limits]               # for each run; all optional
  time = 7200            # wall time for a set in seconds; also: OTHER_KEYS
  puzzle = 30

  [[bots]]
  name = "nonobot"
  command = "{python} -P -m nonobot --size {size}"
  warm-up = "{python} -P -m nonobot --warm-up"
  warm-up-limit = 600    # wall time in seconds; optional

  [[bots]]
  name = "other"
  command = ["./other", "--width", "{width}", "--height", "{height}", "--limit", "{puzzle-limit}"]

  [[bots]]               # one that reads and writes files: docs/file-bots.md
  name = "by files"
  command = "./LalaFrogKK"
  reads = "input.txt"
  writes = "solution.txt"
  logs = "log.txt"       # optional

Every bot plays every set, one run at a time, under the rules of `nonojudge run`. More keys: feed = "interactive",
core = 1 or "any", cores = 2, any-order = true, contain = "yes" or "no"; for a bot show = ["book.dat"]; for one bot
or all environment = {NAME = "value"}. Results go to results/NAME/. The same command resumes an interrupted
tournament, and plays new bots and sets, bots whose files were replaced, and bots that did not start.

With format = "match" in place of sets, each bot has puzzles = "FILE", which all others solve. A match may have
puzzles-each = 100 and size = "25x25" (the defaults), a bot setter-solutions = "FILE" (docs/organise.md).

  nonojudge tournament weekly.toml
  nonojudge tournament weekly.toml --again other          play one bot again
  nonojudge tournament weekly.toml --on local             one run per core at a time
  nonojudge tournament weekly.toml --on tcp://10.0.0.1:8786     on the workers of a dask cluster: docs/cluster.md
  nonojudge report results/weekly -o weekly.html

Exit status: 0 everything was played, 1 a bot did not start or a run was given up, 2 unusable file,
130 interrupted.
""".replace("OTHER_KEYS", KEYS.removeprefix("time, "))


def add_to(parser: Parser) -> None:
    parser.description = "Run every bot of a TOML file on every set of it, and rank them."
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE.toml", help="tournament file")
    about = "folder for results (default: results/NAME, NAME from the file)"
    parser.add_argument("--results", type=new_path, metavar="FOLDER", help=about)
    about = "sandbox the bots, overrides the file (see `nonojudge run --help`)"
    parser.add_argument("--contain", choices=[*Contain], help=about)
    about = "play this bot again and keep its old results as *.before-1 and so on; without a name: all bots"
    about = f"{about} (repeatable)"
    parser.add_argument("--again", nargs="?", action="append", default=[], metavar="BOT", help=about)
    parser.add_argument("--on", type=where, metavar="WHERE", help=f"play several runs at a time: {WHERE_HELP}")
    about = "with --on: play all runs of a set on one kind of machine"
    parser.add_argument("--same-kind", action="store_true", help=about)
    parser.add_argument("--quiet", action="store_true", help="print the ranking only, without progress")


def carry_out(arguments: argparse.Namespace) -> int:
    tournament = _tournament(arguments)
    folder = arguments.results or Path("results") / tournament.name
    todo = _runs(tournament, folder, arguments)
    with locked(folder):
        # Results that do not fit are an error before any run, and none is removed before there are workers.
        before = results_before(todo)
        order = "".join(f"{run.result_path.stem}\n" for run in todo)
        write_output(folder / ORDER, order.encode(), follows=False)
        _say_what_was_replaced(tournament, todo)
        try:
            played = _played(todo, before, arguments)
        except KeyboardInterrupt:
            message = f"interrupted; the same command{' without --again' if arguments.again else ''} resumes"
            raise KeyboardInterrupt(message) from None
    results = {run.result_path: played[run.result_path] for run in todo if run.result_path in played}
    print(as_text(rankings(results), sys.stdout.isatty()), end="")
    print(printable(f"results: {folder}"))
    not_started = any(result.end.reason is EndReason.NOT_STARTED for result in results.values())
    return 1 if not_started or len(results) < len(todo) else 0


def _tournament(arguments: argparse.Namespace) -> Tournament:
    """Return the tournament of the file and the options; UnusableError if they do not fit together."""
    again: list[str | None] = arguments.again
    if arguments.file is None and again and again[-1]:  # `--again FILE.toml`
        arguments.file, again[-1] = Path(again[-1]), None
    if arguments.file is None:
        raise UnusableError("name the tournament's file, such as: nonojudge tournament weekly.toml")
    tournament = read_tournament(arguments.file)
    names = [bot.name for bot in tournament.bots]
    for name in filter(None, again):
        if name not in names:
            raise UnusableError(
                f"--again {name}: no such bot{similar_names(name, names)}; the bots are {', '.join(names)}"
            )
    if arguments.same_kind and not arguments.on:
        raise UnusableError("--same-kind only applies to --on; add --on WHERE")
    if arguments.on and (tournament.core is not None or tournament.cores > 1):
        raise UnusableError(
            f"{arguments.file}: with --on each run has one core of its own: leave out core and cores"
        )
    contain = Contain(arguments.contain or tournament.contain)
    return msgspec.structs.replace(tournament, contain=contain)


def _runs(tournament: Tournament, folder: Path, arguments: argparse.Namespace) -> list[ScheduledRun]:
    """Return the runs; say what their bots may lack."""
    require_files(arguments.file, tournament)
    for bot in tournament.bots:
        for word in missing_files(bot):
            say(f"{bot.name}: warning: its command names {word}, which is not a file here", arguments.quiet)
    say(sandbox_note(tournament.contain), arguments.quiet)
    again = [bot.name for bot in tournament.bots] if None in arguments.again else arguments.again
    handed_in = []
    if tournament.format == "match":
        with locked(folder):
            handed_in = sets_handed_in(tournament, folder, arguments.quiet)
    return scheduled_runs(tournament, folder, again, [arguments.file.absolute()], handed_in)


def _say_what_was_replaced(tournament: Tournament, todo: Sequence[ScheduledRun]) -> None:
    for bot in tournament.bots:
        of_bot = [files for run in todo if run.entrant.name == bot.name and (files := run.replaced_files)]
        if of_bot:
            changes = ", ".join(map(change_in_words, dict.fromkeys(itertools.chain(*of_bot))))
            say(
                f"{bot.name} was replaced ({changes}): it plays {count(len(of_bot), 'run')} again; "
                "old results are kept as *.before-1 and so on"
            )


def _played(
    todo: Sequence[ScheduledRun], before: Mapping[Path, RunResult], arguments: argparse.Namespace
) -> dict[Path, RunResult]:
    """Return the results, by their paths, from `before` or played now; those given up are missing."""
    known = {path: result for path, result in before.items() if is_over(result)}
    with PlayingFile(todo, known) as file:
        if not arguments.on:
            for scheduled in todo:
                if scheduled.again:
                    scheduled.set_aside()
            return all_played(todo, before, file, arguments.quiet)
        from nonobot.harness.cluster.run_queue import RunsOnWorkers  # only here: most tournaments need no workers

        if known and not arguments.quiet:
            report(f"{len(known)} of {count(len(todo), 'run')} played before")
        kinds = {result.set.sha256: kind_of(result.machine) for result in known.values()}
        with ShownRuns(file, arguments.quiet) as screen:
            left = [scheduled for scheduled in todo if scheduled.result_path not in known]
            runs = RunsOnWorkers(left, screen, kinds if arguments.same_kind else None)
            runs.play_at(arguments.on)
        return {**known, **runs.results}
