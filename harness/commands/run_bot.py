"""`nonojudge run`: run a bot on a set and judge its answers; measure time and memory."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import UNSET, structs

from nonobot.arguments import Parser, new_path, whole_number
from nonobot.harness import EXIT_INTERRUPTED, UnusableError, options
from nonobot.harness.play.match import Bot, ResultLostError, play, recorded_run, require_place, resume, warmed_up
from nonobot.harness.play.run_progress import RunProgress
from nonobot.harness.process.bot_command import name_of
from nonobot.harness.process.bot_files import file_names
from nonobot.harness.process.bot_process import sandbox_note
from nonobot.harness.process.machine import can_pin, tournament_core
from nonobot.harness.process.nonobot_command import is_own_bot, own_bot
from nonobot.harness.results.comparability import CONTINUED, changed_facts
from nonobot.harness.results.conditions import Configuration, SetFacts, busy_warning
from nonobot.harness.results.result_files import json_parts
from nonobot.harness.results.run_result import EndReason, RunResult
from nonobot.harness.results.run_text import run_lines
from nonobot.harness.results.terms import LIMITS
from nonobot.harness.results.worth import worth
from nonobot.harness.text import on_terminal, say
from nonobot.harness.user_files import loaded, require_writable
from nonobot.system import printable, report, shortened
from nonobot.tournament_data import PuzzleSet

EXAMPLES = f"""\
examples:
  nonojudge run                                              nonobot on {options.DEFAULT_SET}
  nonojudge run --set questions.txt --result today.json -- ./mybot --fast
  nonojudge run --set boardgen:10x10x20:seed=1 --time-limit 60 -- python3 mybot.py --size 10x10
  nonojudge run --feed interactive -- ./mybot                one puzzle at a time; the bot must flush each answer
  nonojudge run --cores 2 -- nonobot --jobs 2                two cores
  nonojudge run --puzzle-limit 30 --memory-limit 4G -- ./mybot
  nonojudge run --reads input.txt --writes solution.txt --logs log.txt -- ./mybot    files
  nonojudge run --set questions.txt --resume today.json -- ./mybot --fast            resume an interrupted run

Everything after -- is the bot's command, run without a shell. The bot reads puzzles from stdin and writes
answers to stdout until its input ends; the judge stores its stderr in a file. With --feed interactive, a bot must
also answer a puzzle that it gives up. docs/judge.md explains limits, ends and verdicts.

Exit status: 0 every puzzle right, 1 some not, 2 unusable arguments or input, 130 interrupted.
"""


def add_to(parser: Parser) -> None:
    parser.usage = "nonojudge run [options] [-- CMD ARGS...]"
    parser.argument_default = argparse.SUPPRESS
    options.add_set(parser, options.DEFAULT_SET)
    parser.add_argument("--name", help="name of the bot in tables (default: name of its program)")
    options.add_terms(parser, "feed", "core")
    about = "number of cores for the bot (default: 1, as in the tournaments)"
    parser.add_argument("--cores", type=whole_number(1, 9999, "a number of cores"), metavar="N", help=about)
    options.add_terms(
        parser, "shared_core", "any_order", "warm_up", "warm_up_limit", "contain", "show", "environment"
    )
    about = "bots that read and write files instead of stdin and stdout"
    options.add_terms(parser.group(about), "reads", "writes", "logs")
    options.add_terms(parser.group("limits"), *LIMITS)
    output = parser.group("result")
    about = "result file (default: a new file in results/)"
    output.add_argument("--result", type=new_path, metavar="FILE.json", help=about)
    output.add_argument("--force", action="store_true", help="overwrite the --result file")
    about = "resume the interrupted run of this result; give its other options and its command again"
    output.add_argument("--resume", type=Path, metavar="FILE.json", help=about)
    options.add_flags(output, "quiet", "json")


def carry_out(arguments: argparse.Namespace) -> int:
    given = vars(arguments)
    new_path = Path("results", f"run-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.json")
    result_path = given.get("resume") or given.get("result") or new_path
    is_new_folder = not result_path.parent.exists()
    try:
        result = played(arguments, result_path)
    except ResultLostError as lost:
        _print(arguments, lost.result)  # perhaps the only record of hours
        raise
    finally:
        if is_new_folder:
            with suppress(OSError):  # it has files, unless the bot did not start
                result_path.parent.rmdir()
    _print(arguments, result, f"result: {result_path}")
    if result.end.reason is EndReason.INTERRUPTED:
        more = f"to resume, add to the same command: {shlex.join(['--resume', str(result_path)])}"
        show = report if arguments.json else print
        show(printable(more))
        return EXIT_INTERRUPTED
    return 0 if result.score.all_right else 1


def _print(arguments: argparse.Namespace, result: RunResult, *more: str) -> None:
    """Print a result as JSON, or in words with `more` lines."""
    if arguments.json:
        for part in json_parts(result):
            print(part, end="")
    else:
        print("\n".join(shortened(line) for line in [*run_lines(result), *worth([result]), *more]))


def played(arguments: argparse.Namespace, result_path: Path) -> RunResult:
    """Play or resume the run that the arguments describe; UnusableError if they contradict themselves."""
    given = vars(arguments)
    recorded = _recorded(arguments, result_path)
    configuration = _configuration(given)
    files = file_names(given.get("reads"), given.get("writes"), given.get("logs"), configuration.feed, dashes="--")
    puzzle_set = loaded(arguments.set, given.get("size"))
    require_writable(result_path, replaces_input=recorded is not None)
    if "core" not in given and not can_pin():
        say("this system cannot pin a bot to one core; it may use all of them", arguments.quiet)
    say(sandbox_note(configuration.contain), arguments.quiet)
    command = arguments.bot_command or own_bot(puzzle_set)
    name = name_of(command) if arguments.bot_command else "nonobot"
    show = [path.absolute() for path in given.get("show", [])]
    bot = Bot(given.get("name", name), command, files=files, show=show, warm_up=warm_up_of(given, command))
    if recorded:
        _require_same(recorded, result_path, bot, puzzle_set, configuration, "core" in given)
    else:
        require_place(puzzle_set, configuration, result_path)
        access = bot.access(result_path, puzzle_set.name)
        live = on_terminal(sys.stderr) and not arguments.quiet
        seconds = warmed_up(bot.warm_up, configuration, access, given.get("warm_up_limit"), live)
        bot = replace(bot, warm_up_seconds=seconds)
    with RunProgress(len(puzzle_set.puzzles), arguments.quiet) as progress:
        begin = resume if recorded else play
        result = begin(puzzle_set, bot, configuration, result_path, progress.take)
    if result.end.reason is EndReason.NOT_STARTED:
        raise UnusableError(result.end.detail or "the bot's command cannot be run")
    if not recorded:
        say(busy_warning(result.machine), arguments.quiet)
    return result


def warm_up_of(given: Mapping[str, Any], command: Sequence[str]) -> list[str]:
    """Return the warm-up that was given, otherwise nonobot's own; empty for another bot."""
    return given.get("warm_up") or ([*command, "--warm-up"] if is_own_bot(command) else [])


def _recorded(arguments: argparse.Namespace, result_path: Path) -> RunResult | None:
    """Return the run to resume, if one is; UnusableError if the result is there."""
    given = vars(arguments)
    if "force" in given and "result" not in given:
        raise UnusableError("--force only applies to a result file; add --result FILE.json")
    if given.get("result", result_path) != result_path:
        raise UnusableError(f"--resume {result_path} and --result {given['result']} name two results; remove one")
    recorded = recorded_run(result_path) if "resume" in given else None
    if result_path.is_file() and not ("force" in given or recorded):
        remedy = "add --force to overwrite it, choose another --result, or resume an interrupted run with --resume"
        raise UnusableError(f"{result_path} exists; {remedy}")
    return recorded


def _configuration(given: Mapping[str, Any]) -> Configuration:
    if "core" in given and "cores" in given:
        raise UnusableError("--core selects one core and --cores several; choose one of them")
    return options.configuration_of(given, given.get("core", tournament_core(given.get("cores", 1))))


def _require_same(
    recorded: RunResult,
    path: Path,
    bot: Bot,
    puzzle_set: PuzzleSet,
    configuration: Configuration,
    core_named: bool,
) -> None:
    """Check that an interrupted run began under the conditions of this command; UnusableError otherwise."""
    now = structs.replace(
        recorded,
        bot=bot.name,
        command=list(bot.command),
        files=bot.files or UNSET,
        show=[str(path) for path in bot.show] or UNSET,
        hide=UNSET,
        set=SetFacts.of(puzzle_set),
        configuration=configuration,
    )
    if changed := changed_facts(recorded, now, CONTINUED, core_named):
        why = f"this run began under other conditions; give its command and options again: {'; '.join(changed)}"
        raise UnusableError(f"{path}: {why}")
