"""`nonojudge run`: run a bot on a set and judge its answers; measure time and memory."""

from __future__ import annotations

import argparse
import shlex
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from msgspec import UNSET

from nonobot.arguments import Parser, whole_number
from nonobot.harness import EXIT_INTERRUPTED, UnusableError
from nonobot.harness.cli import ABSENT, SET_HELP, add_option, add_shared, say, switch
from nonobot.harness.play.bot_command import is_own_bot, name_of, own_bot
from nonobot.harness.play.exchange_folder import file_names
from nonobot.harness.play.machine import busy_warning, can_pin, tournament_core
from nonobot.harness.play.match import Bot, ResultLostError, play, recorded_run, require_place, resume, warmed_up
from nonobot.harness.play.sandbox import sandbox_note
from nonobot.harness.progress import RunProgress
from nonobot.harness.results.conditions import LIMITS, add_limits, configuration_of
from nonobot.harness.results.result_files import json_text
from nonobot.harness.results.run_result import EndReason, RunResult
from nonobot.harness.text import in_short, print_line
from nonobot.harness.user_files import loaded, refuse_input
from nonobot.system import printable

DEFAULT_SET = "boardgen:25x25x100:seed=2011"

EXAMPLES = f"""\
examples:
  nonojudge run                                              nonobot on {DEFAULT_SET}
  nonojudge run --set questions.txt --result today.json -- ./mybot --fast
  nonojudge run --set boardgen:10x10x20:seed=1 --time-limit 60 -- python3 mybot.py --size 10x10
  nonojudge run --feed interactive -- ./mybot                one puzzle at a time; the bot must flush each answer
  nonojudge run --cores 2 -- nonobot --jobs 2                two cores
  nonojudge run --puzzle-limit 30 --memory-limit 4G -- ./mybot
  nonojudge run --reads input.txt --writes solution.txt --logs log.txt -- ./mybot    files
  nonojudge run --resume today.json                          resume an interrupted run

Everything after -- is the bot's command, run without a shell. The bot reads puzzles from stdin and writes
answers to stdout until its input ends; the judge stores its stderr in a file. With --feed interactive, a bot must
also answer a puzzle that it gives up. docs/judge.md explains limits, ends and verdicts.

Exit status: 0 every puzzle right, 1 some not, 2 unusable arguments or input, 130 interrupted.
"""

FREE = {"resume", "environment", "quiet", "json", "carry_out", "command", "bot_command"}
"""Arguments that --resume takes; it takes the others from the run."""


def add_to(parser: Parser) -> None:
    parser.usage = "nonojudge run [options] [-- CMD ARGS...]"
    parser.argument_default = ABSENT  # --resume accepts few options
    add_shared(parser, "--set", help=f"{SET_HELP} (default: {DEFAULT_SET})")
    add_shared(parser, "--size")
    parser.add_argument("--name", help="name of the bot in tables (default: name of its program)")
    add_shared(parser, "--feed", "--core")
    about = "number of cores for the bot (default: 1, as in the tournaments)"
    add_option(parser, "--cores", "N", about, whole_number(1, 9999, "a number of cores"))
    about = "record in the result that a run of the same NAME shares the core, as in `nonojudge duel`"
    add_option(parser, "--shared-core", "NAME", about)
    parser.add_argument("--beside", dest="shared_core", help=argparse.SUPPRESS)  # its name in nonobot 0.1
    add_shared(parser, "--any-order", "--warm-up", "--warm-up-limit", "--contain", "--show", "--env")
    files = parser.add_argument_group("bots that read and write files instead of stdin and stdout")
    add_option(files, "--reads", "NAME", "file that contains the questions, in the bot's own folder")
    add_option(files, "--writes", "NAME", "file that the bot writes its answers to")
    add_option(files, "--logs", "NAME", "file that the bot writes its own times to")
    add_limits(parser.add_argument_group("limits"))
    output = parser.add_argument_group("result")
    add_option(output, "--result", "FILE.json", "result file (default: a new file in results/)", Path)
    output.add_argument("--force", **switch("overwrite the --result file"))
    add_option(output, "--resume", "FILE.json", "resume an interrupted run", Path)
    add_shared(output, "--quiet", "--json")


def carry_out(arguments: argparse.Namespace) -> int:
    given = vars(arguments)
    new_path = Path("results", f"run-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.json")
    result_path = given.get("resume") or given.get("result") or new_path
    is_new_folder = not result_path.parent.exists()
    try:
        result = _resumed(arguments) if "resume" in given else _played(arguments, result_path)
    except ResultLostError as lost:
        _print(arguments, lost.result)  # perhaps the only record of hours
        raise
    finally:
        if is_new_folder:
            with suppress(OSError):  # it has files, unless the bot did not start
                result_path.parent.rmdir()
    if result.end.reason is EndReason.NOT_STARTED:
        raise UnusableError(result.end.detail or "the bot's command cannot be run")
    _print(arguments, result, f"result: {result_path}")
    if result.end.reason is EndReason.INTERRUPTED:
        go_on = shlex.join(["nonojudge", "run", "--resume", str(result_path)])
        print_line(f"resume with: {go_on}", sys.stderr if arguments.json else sys.stdout)
        return EXIT_INTERRUPTED
    return 0 if result.score.all_right else 1


def _print(arguments: argparse.Namespace, result: RunResult, *more: str) -> None:
    """Print a result as JSON, or in words with `more` lines."""
    if arguments.json:
        print(json_text(result), end="")
    else:
        print("\n".join(in_short(printable(line)) for line in [*result.lines(), *more]))


def _played(arguments: argparse.Namespace, result_path: Path) -> RunResult:
    given = vars(arguments)
    if "force" in given and "result" not in given:
        raise UnusableError("--force only applies to a result file; add --result FILE.json")
    refuse_input(result_path, [given.get("set", DEFAULT_SET)])
    if "force" not in given and result_path.is_file():
        remedy = "add --force to overwrite it, choose another --result, or resume an interrupted run with --resume"
        raise UnusableError(f"{result_path} exists; {remedy}")
    if "core" in given and "cores" in given:
        raise UnusableError("--core selects one core and --cores several; choose one of them")
    core = given["core"] if "core" in given else tournament_core(given.get("cores", 1))
    configuration = configuration_of(given, core)
    files = file_names(given.get("reads"), given.get("writes"), given.get("logs"), configuration.feed, dashes="--")
    puzzle_set = loaded(given.get("set", DEFAULT_SET), given.get("size"))
    if "core" not in given and not can_pin():
        say("this system cannot pin a bot to one core; it may use all of them", arguments.quiet)
    say(sandbox_note(configuration.containment), arguments.quiet)
    require_place(configuration, result_path)
    command = arguments.bot_command or own_bot(puzzle_set)
    name = name_of(command) if arguments.bot_command else "nonobot"
    warm_up = given.get("warm_up") or ([*command, "--warm-up"] if is_own_bot(command) else None)
    show = [path.absolute() for path in given.get("show", [])]
    bot = Bot(given.get("name", name), command, files=files, show=show, warm_up=warm_up or ())
    sandbox = bot.sandbox(configuration.containment, result_path, puzzle_set.name)
    seconds = warmed_up(warm_up, sandbox, configuration, given.get("warm_up_limit"))
    bot = replace(bot, warm_up_seconds=seconds)
    with RunProgress(len(puzzle_set.puzzles), arguments.quiet) as progress:
        result = play(puzzle_set, bot, configuration, result_path, progress.take)
    if result.end.reason is not EndReason.NOT_STARTED:
        say(busy_warning(result.machine), arguments.quiet)
    return result


def _resumed(arguments: argparse.Namespace) -> RunResult:
    taken = [name for name in vars(arguments) if name not in FREE]
    named = {name: option for name, (option, *_) in LIMITS.items()}
    given = [named.get(name, f"--{name.replace('_', '-')}") for name in taken]
    if given or arguments.bot_command:
        why = f"it cannot be combined with {', '.join(given) or 'a command'}"
        raise UnusableError(f"--resume continues a run with its own options; {why}")
    recorded = recorded_run(arguments.resume).set
    puzzle_set = loaded(recorded.name, (recorded.width, recorded.height), waits=False)
    with RunProgress(len(puzzle_set.puzzles), arguments.quiet) as progress:
        environment = dict(vars(arguments).get("environment", ())) or UNSET
        return resume(puzzle_set, arguments.resume, progress.take, environment=environment)
