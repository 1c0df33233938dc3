"""`nonojudge profile`: show where a bot spends its time."""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec import UNSET

from nonobot.arguments import Parser, seconds, whole_number
from nonobot.harness import UnusableError, require_libraries
from nonobot.harness.cli import (
    SET_HELP,
    add_contain,
    add_core,
    add_environment,
    add_json,
    add_size,
    add_warm_up,
    say,
)
from nonobot.harness.play.bot_command import is_own_bot, own_bot
from nonobot.harness.play.machine import tournament_core
from nonobot.harness.play.match import warmed_up
from nonobot.harness.play.sandbox import built_sandbox, sandbox_note
from nonobot.harness.profiling.profile_data import Profile, median_of, profile_of, read_profile, to_json
from nonobot.harness.profiling.profile_text import as_text, comparison_as_text
from nonobot.harness.progress import RunProgress
from nonobot.harness.results.conditions import PROCESS_LIMIT, STALL_SECONDS, Configuration, Contain, Feed
from nonobot.harness.results.run_result import EndReason
from nonobot.harness.text import on_terminal
from nonobot.harness.user_files import loaded, require_writable, write_output

DEFAULT_SET = "boardgen:25x25x100:seed=2011"
FORMS = (".svg", ".png", ".json")

EXAMPLES = f"""\
examples:
  nonojudge profile                                       nonobot on {DEFAULT_SET}
  nonojudge profile taai2011 -o before.json               store it, change the bot, then:
  nonojudge profile taai2011 --before before.json         which stage got slower, and do the counts differ?
  nonojudge profile --repeat 5 -- ./mybot                 any bot: start, puzzles and end, medians of 5 runs

Everything after -- is the bot's command; --stats FILE is added. A bot that writes no statistics is profiled from
outside. docs/profiling.md explains each line, and the statistics. Pictures need matplotlib.

Exit status: 0 every puzzle right, 1 some not, 2 unusable arguments or input.
"""


def add_to(parser: Parser) -> None:
    parser.usage = "nonojudge profile [options] [SET | PROFILE.json] [-- CMD ARGS...]"
    parser.description = (
        "Run a bot on a set and show where its time goes: by stage of the search and by puzzle.\n"
        "For a bot that writes no statistics, show what the judge measures."
    )
    parser.epilog = EXAMPLES
    parser.add_argument(
        "source",
        nargs="?",
        default=DEFAULT_SET,
        metavar="SET",
        help=f"{SET_HELP}, or a stored profile to show (default: {DEFAULT_SET})",
    )
    add_size(parser)
    add_core(parser)
    parser.add_argument(
        "--time-limit",
        type=seconds,
        default=7200.0,
        metavar="S",
        help="wall time limit for the set in seconds (default: %(default)g)",
    )
    parser.add_argument(
        "--repeat",
        type=whole_number(1, 1000, "a number of runs"),
        default=1,
        metavar="N",
        help="run the bot N times and show medians and ranges (default: 1)",
    )
    parser.add_argument(
        "--no-stats", action="store_true", help="do not add --stats FILE; show only what the judge measures"
    )
    parser.add_argument(
        "--feed",
        choices=[feed.value for feed in Feed],
        default=Feed.BATCH.value,
        help="send all puzzles at once, or the next one after each answer (default: batch)",
    )
    add_warm_up(parser)
    add_contain(parser, "auto")
    add_environment(parser)
    parser.add_argument(
        "--before", type=Path, metavar="PROFILE.json", help="compare with this stored profile of the same set"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=_output,
        action="append",
        default=[],
        metavar="FILE",
        help="write a picture (.svg, .png) or the profile (.json) (repeatable)",
    )
    parser.add_argument(
        "--theme", choices=["light", "dark"], default="light", help="theme of pictures (default: %(default)s)"
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    add_json(parser, "the profile")
    parser.set_defaults(carry_out=carry_out)


def _output(text: str) -> Path:
    if Path(text).suffix not in FORMS:
        raise argparse.ArgumentTypeError(f"{text!r}: unknown file type; use {', '.join(FORMS)}")
    return Path(text)


def carry_out(arguments: argparse.Namespace) -> int:
    if arguments.json and arguments.before:
        raise UnusableError("--json prints a profile and --before a comparison; choose one of them")
    if any(path.suffix != ".json" for path in arguments.output):
        require_libraries("a picture", "matplotlib")
    for path in arguments.output:
        require_writable(path)
    before = read_profile(arguments.before) if arguments.before else None
    profile = _profile(arguments)
    for path in arguments.output:
        if path.suffix == ".json":
            write_output(path, to_json(profile).encode())
        else:
            from nonobot.harness.profiling.profile_picture import draw

            write_output(path, draw(profile, path.suffix.removeprefix("."), arguments.theme))
    if arguments.json:
        print(to_json(profile), end="")
    elif before:
        print(comparison_as_text(before, profile, on_terminal()), end="")
    else:
        print(as_text(profile, on_terminal()), end="")
    return 0 if profile.right == profile.set.puzzle_count else 1


def _profile(arguments: argparse.Namespace) -> Profile:
    kept = Path(arguments.source)
    if kept.suffix == ".json" and kept.is_file():
        if arguments.bot_command:
            raise UnusableError(f"{kept} is a kept profile: it takes no command")
        return read_profile(kept)
    puzzle_set = loaded(arguments.source, arguments.size)
    command = arguments.bot_command or own_bot(puzzle_set)
    warm_up = arguments.warm_up or ([*command, "--warm-up"] if is_own_bot(command) else None)
    given = vars(arguments)
    contain = Contain(arguments.contain)
    say(sandbox_note(contain), arguments.quiet)
    show = [path.absolute() for path in given.get("show", [])]
    terms = Configuration(
        feed=Feed(arguments.feed),
        contain=contain,
        wall_limit_seconds=arguments.time_limit,
        stall_limit_seconds=STALL_SECONDS,
        core=given["core"] if "core" in given else tournament_core(),
        process_limit=PROCESS_LIMIT,
        environment=dict(given.get("environment", ())) or UNSET,
    )
    warmed_up(warm_up, built_sandbox(contain, show), terms, given.get("warm_up_limit"))
    profiles: list[Profile] = []
    asks_stats = not arguments.no_stats
    for _ in range(arguments.repeat):
        with RunProgress(len(puzzle_set.puzzles), arguments.quiet) as progress:
            one = profile_of(puzzle_set, command, terms, progress.take, show, asks_stats)
        if one.end.reason is EndReason.INTERRUPTED:
            say("interrupted; this is the profile of what was done")
            return median_of(profiles or [one])
        profiles.append(one)
        asks_stats = not one.from_outside
    return median_of(profiles)
