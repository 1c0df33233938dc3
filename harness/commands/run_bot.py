"""`nonojudge run`: a bot's command run on a set."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import UNSET

from nonobot.arguments import Parser, byte_count, either, seconds, whole_number
from nonobot.harness.cli import (
    SET_HELP,
    add_contain,
    add_core,
    add_json,
    add_size,
    add_warm_up,
)
from nonobot.harness.errors import EXIT_INTERRUPTED, UnusableError
from nonobot.harness.play.bot_command import own_bot
from nonobot.harness.play.exchange_folder import file_names
from nonobot.harness.play.machine import busy_warning, can_pin, tournament_core
from nonobot.harness.play.match import Bot, ResultLostError, play, recorded_run, require_place, resume, warmed_up
from nonobot.harness.play.sandbox import uncontained
from nonobot.harness.progress import RunProgress
from nonobot.harness.results.conditions import PROCESS_LIMIT, STALL_SECONDS, Configuration, Contain, Feed, SetFacts
from nonobot.harness.results.result_files import to_json
from nonobot.harness.results.run_result import EndReason, RunResult
from nonobot.harness.user_files import loaded
from nonobot.tournament_data import PuzzleSet

__all__ = ["add_to"]

DEFAULT_SET = "boardgen:25x25x100:seed=2011"

EXAMPLES = f"""\
examples:
  nonojudge run                                              the bot of this project on {DEFAULT_SET}
  nonojudge run --set questions.txt --result today.json -- ./mybot --fast
  nonojudge run --set boardgen:10x10x20:seed=1 --time-limit 60 -- python3 mybot.py --size 10x10
  nonojudge run --feed interactive -- ./mybot                a puzzle at a time: the bot must flush each answer
  nonojudge run --cores 2 -- nonobot --jobs 2                what two cores bring
  nonojudge run --puzzle-limit 30 --memory-limit 4G -- ./mybot
  nonojudge run --reads input.txt --writes solution.txt --logs log.txt -- ./mybot    a bot that works on files
  nonojudge run --resume today.json                          go on with a run that was interrupted

Everything after -- is the bot's command, run without a shell. It reads puzzles from stdin and writes
answers to stdout until its input ends; its stderr is kept in a file. Any solution of a puzzle is right;
the first answer to a puzzle counts, and so does what was written before the bot died or was stopped.
The bot and all that it starts run on one core, or on as many as --cores says. When it is stopped it gets
SIGTERM, and 1.5 s later every process that it started is killed.

Results go to disk as they come: Ctrl-C, a killed judge or a power cut cost the puzzle in work, and
--resume goes on with the next. With --feed interactive a puzzle that is given up needs an answer too,
of zeros or a word: a bot that says nothing waits for its next puzzle, and has stalled.
docs/judge.md tells what each limit, end and verdict means.

Exit status: 0 every puzzle right, 1 some not, 2 unusable arguments or input, 130 interrupted.
"""

INTERPRETER = re.compile(r"(python|pypy|ruby|perl|lua|node|java|bash|sh)[0-9.]*")

# What a resumed run takes from the run that it goes on with.
TERMS = (
    *("set", "size", "name", "warm_up", "result", "force", "feed", "core", "cores", "any_order"),
    *("reads", "writes", "logs", "contain", "show", "beside"),
)
LIMITS = ("time_limit", "cpu_limit", "puzzle_limit", "memory_limit", "process_limit", "stall_limit")


def add_to(parser: Parser) -> None:
    """Describe the command and its arguments."""
    parser.usage = "nonojudge run [options] [-- CMD ARGS...]"
    parser.description = "Run a bot on a set of puzzles, check every answer, measure time and memory."
    parser.epilog = EXAMPLES
    parser.argument_default = argparse.SUPPRESS  # what was not given is not there: --resume takes few options
    parser.add_argument("--set", metavar="SET", help=f"{SET_HELP} (default: {DEFAULT_SET})")
    add_size(parser)
    parser.add_argument("--name", help="the bot's name in tables (default: its program's)")
    parser.add_argument(
        "--feed",
        choices=[feed.value for feed in Feed],
        help="all puzzles at once, or the next one after each answer (default: batch)",
    )
    add_core(parser)
    parser.add_argument(
        "--cores",
        type=whole_number(1, 9999, "a number of cores"),
        metavar="N",
        help="hold the bot on so many cores (default: 1, as in the tournaments)",
    )
    parser.add_argument(
        "--beside",
        metavar="NAME",
        help="state in the result that another run has the core as well, with the same NAME in its result: as "
        "`nonojudge duel` plays",
    )
    parser.add_argument("--any-order", action="store_true", help="take solutions in any order")
    add_warm_up(parser)
    add_contain(parser)
    _add_files(parser.add_argument_group("bots that work on files, and neither read stdin nor write to stdout"))
    _add_limits(parser.add_argument_group("limits"))
    _add_output(parser.add_argument_group("result"))
    parser.set_defaults(carry_out=carry_out)


def _add_files(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--reads", metavar="NAME", help="run it in a folder of its own, with the questions in this file"
    )
    group.add_argument("--writes", metavar="NAME", help="the file it writes its answers to, read as it grows")
    group.add_argument("--logs", metavar="NAME", help="the file it keeps its own record of the time in")


def _add_limits(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--time-limit",
        type=seconds,
        metavar="S",
        help="wall seconds for the whole set (default: 7200, as in the tournaments)",
    )
    group.add_argument("--cpu-limit", type=seconds, metavar="S", help="CPU seconds for the whole set")
    group.add_argument(
        "--puzzle-limit",
        type=seconds,
        metavar="S",
        help="wall seconds for each puzzle; the bot is started anew with the puzzles after it",
    )
    group.add_argument("--memory-limit", type=byte_count, metavar="BYTES", help="such as 500M or 4G")
    group.add_argument(
        "--process-limit",
        type=either("0", None, whole_number(1, 999_999, "a number of processes")),
        metavar="N",
        help=f"processes and threads at one time; 0 for no such limit (default: {PROCESS_LIMIT})",
    )
    group.add_argument(
        "--stall-limit",
        type=either("0", None, seconds),
        metavar="S",
        help=f"seconds without computing or writing; 0 for no such limit (default: {STALL_SECONDS:g})",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--result",
        type=Path,
        metavar="FILE.json",
        help="where the result goes (default: a new file in results/)",
    )
    group.add_argument("--force", action="store_true", help="overwrite the file that --result names")
    group.add_argument("--resume", type=Path, metavar="FILE.json", help="go on with an interrupted run")
    group.add_argument("--quiet", action="store_true", help="no progress, the summary alone", default=False)
    add_json(group, "the result", " instead of the summary")


def carry_out(arguments: argparse.Namespace) -> int:
    """Run the bot, or go on with a run, and print what came of it."""
    given = vars(arguments)
    result_path = given.get("resume") or given.get("result") or _new_result_path()
    try:
        result = _resumed(arguments) if "resume" in given else _played(arguments, result_path)
    except ResultLostError as lost:
        _print(arguments, lost.result)  # all that is left of hours, perhaps
        raise
    if result.end.reason is EndReason.NOT_STARTED:
        raise UnusableError(result.end.detail or "the bot's command cannot be run")
    _print(arguments, result, f"result: {result_path}")
    if result.end.reason is EndReason.INTERRUPTED:
        go_on = shlex.join(["nonojudge", "run", "--resume", str(result_path)])
        print(f"go on with: {go_on}", file=sys.stderr if arguments.json else sys.stdout)
        return EXIT_INTERRUPTED
    return 0 if result.score.all_right else 1


def _print(arguments: argparse.Namespace, result: RunResult, *more: str) -> None:
    """Print a result as it was asked for; `more` lines for people."""
    print(to_json(result) if arguments.json else "\n".join([*result.lines(), *more, ""]), end="")


def _played(arguments: argparse.Namespace, result_path: Path) -> RunResult:
    given = vars(arguments)
    _require_free(result_path, given)
    terms = _terms(given)
    files = file_names(given.get("reads"), given.get("writes"), given.get("logs"), terms.feed, dashes="--")
    puzzle_set = loaded(given.get("set", DEFAULT_SET), given.get("size"))
    if "core" not in given and not can_pin():
        _say(arguments, "this system cannot hold a bot on one core; it may use all of them")
    if line := uncontained(terms.containment):
        _say(arguments, line)
    require_place(terms, result_path)
    bot = replace(_bot(arguments, puzzle_set, terms, result_path), files=files)
    with RunProgress(len(puzzle_set.puzzles), arguments.quiet) as progress:
        result = play(puzzle_set, bot, terms, result_path, progress.take)
    if (warning := busy_warning(result.machine)) and result.end.reason is not EndReason.NOT_STARTED:
        _say(arguments, warning)
    return result


def _require_free(result_path: Path, given: dict[str, Any]) -> None:
    """See that the run overwrites no file that it was not told to."""
    if "force" in given and "result" not in given:
        raise UnusableError("--force is about the file that --result names: it needs --result FILE.json")
    if "force" not in given and result_path.is_file():
        raise UnusableError(
            f"{result_path} is there already: --force overwrites it, --result with another name leaves it "
            "(--resume goes on with an interrupted run)"
        )


def _resumed(arguments: argparse.Namespace) -> RunResult:
    given = [f"--{name.replace('_', '-')}" for name in (*TERMS, *LIMITS) if name in vars(arguments)]
    if given or arguments.bot_command:
        raise UnusableError(
            f"--resume goes on with the run as it was begun; it cannot be combined with "
            f"{', '.join(given) or 'a command'}"
        )
    recorded = recorded_run(arguments.resume)
    puzzle_set = _same_set(recorded.set)
    with RunProgress(len(puzzle_set.puzzles), arguments.quiet) as progress:
        return resume(puzzle_set, arguments.resume, progress.take)


def _same_set(facts: SetFacts) -> PuzzleSet:
    return loaded(facts.name, (facts.width, facts.height))


def _say(arguments: argparse.Namespace, line: str) -> None:
    if not arguments.quiet:
        print(f"nonojudge: {line}", file=sys.stderr)


def _terms(given: dict[str, Any]) -> Configuration:
    if "core" in given and "cores" in given:
        raise UnusableError("--core names the one core of a bot, and --cores gives it several: take one of them")
    return Configuration(
        feed=Feed(given.get("feed", Feed.BATCH)),
        wall_limit_seconds=given.get("time_limit", Configuration().wall_limit_seconds),
        cpu_limit_seconds=given.get("cpu_limit"),
        puzzle_limit_seconds=given.get("puzzle_limit"),
        memory_limit_bytes=given.get("memory_limit"),
        stall_limit_seconds=given.get("stall_limit", STALL_SECONDS),
        core=given["core"] if "core" in given else tournament_core(given.get("cores", 1)),
        any_order="any_order" in given,
        contain=Contain(given.get("contain", Contain.AUTO)),
        process_limit=given.get("process_limit", PROCESS_LIMIT),
        beside=given.get("beside", UNSET),
    )


def _bot(arguments: argparse.Namespace, puzzle_set: PuzzleSet, terms: Configuration, result_path: Path) -> Bot:
    """Return the bot that was named; this project's, warmed up, if none was."""
    given = vars(arguments)
    if arguments.bot_command:
        command, name, warm_up = arguments.bot_command, _name_of(arguments.bot_command), None
    else:
        command, name = own_bot(puzzle_set), "nonobot"
        warm_up = [*command, "--warm-up"]
    bot = Bot(given.get("name", name), command, show=[path.absolute() for path in given.get("show", [])])
    sandbox = bot.sandbox(terms.containment, result_path)
    return replace(bot, warm_up_seconds=warmed_up(given.get("warm_up", warm_up), sandbox))


def _name_of(command: Sequence[str]) -> str:
    """Return what a bot is called that was given no name: its program, or the one that an interpreter runs."""
    program = Path(command[0]).name
    scripts = [Path(word).stem for word in command[1:] if not word.startswith("-")]
    return scripts[0] if INTERPRETER.fullmatch(program) and scripts else program


def _new_result_path() -> Path:
    return Path("results") / f"run-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.json"
