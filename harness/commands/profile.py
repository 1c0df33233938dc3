"""`nonojudge profile`: show where a bot spends its time.

The time is divided by stage of the search and by puzzle. For a bot that writes no statistics, profile shows what
the judge measures.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from nonobot.arguments import Parser, whole_number
from nonobot.harness import UnusableError, options, require_libraries
from nonobot.harness.commands.run_bot import warm_up_of
from nonobot.harness.play.match import files_of_sets, warmed_up
from nonobot.harness.play.run_progress import RunProgress
from nonobot.harness.process.access import Access
from nonobot.harness.process.bot_process import sandbox_note
from nonobot.harness.process.machine import tournament_core
from nonobot.harness.process.nonobot_command import own_bot
from nonobot.harness.profiling.profile_data import Profile, median_of, profile_of, read_profile, to_json
from nonobot.harness.profiling.profile_text import as_text, comparison_as_text
from nonobot.harness.results.file_limits import MOST_OTHER_BYTES
from nonobot.harness.results.run_result import EndReason
from nonobot.harness.text import megabytes, on_terminal, say
from nonobot.harness.user_files import loaded, require_writable, write_output
from nonobot.tournament_data import PuzzleSet

EXAMPLES = f"""\
examples:
  nonojudge profile                                       nonobot on {options.DEFAULT_SET}
  nonojudge profile taai2011 -o before.json               store it, change the bot, then:
  nonojudge profile taai2011 --before before.json         which stage got slower, and do the counts differ?
  nonojudge profile --repeat 5 -- ./mybot                 any bot: start, puzzles and end, medians of 5 runs

Everything after -- is the bot's command; --stats FILE is added. A bot that writes no statistics is profiled from
outside. docs/profiling.md explains each line, and the statistics. Pictures need matplotlib.

Exit status: 0 every puzzle right, 1 some not, 2 unusable arguments or input.
"""


def add_to(parser: Parser) -> None:
    parser.usage = "nonojudge profile [options] [SET | PROFILE.json] [-- CMD ARGS...]"
    about = f"{options.SET_HELP}, or a stored profile to show (default: {options.DEFAULT_SET})"
    parser.add_argument("source", nargs="?", default=options.DEFAULT_SET, metavar="SET", help=about)
    options.add_size(parser)
    options.add_terms(parser, "core")
    about = "wall time limit for the set in seconds (default: %(default)g)"
    options.add_terms(parser, "wall_limit_seconds", default=7200.0, help=about)
    about = "run the bot N times and show medians and ranges (default: 1)"
    parser.add_argument(
        "--repeat", type=whole_number(1, 1000, "a number of runs"), default=1, metavar="N", help=about
    )
    about = "do not add --stats FILE; show only what the judge measures"
    parser.add_argument("--no-stats", action="store_true", help=about)
    options.add_terms(parser, "feed", "warm_up", "warm_up_limit", "contain", "show", "environment")
    about = "compare with this stored profile of the same set"
    parser.add_argument("--before", type=Path, metavar="PROFILE.json", help=about)
    about = "write a picture (.svg, .png) or the profile (.json) (repeatable)"
    parser.add_argument(
        "-o",
        "--output",
        type=options.file_ending_in(".svg", ".png", ".json"),
        action="append",
        default=[],
        metavar="FILE",
        help=about,
    )
    about = "theme of pictures (default: %(default)s)"
    parser.add_argument("--theme", choices=["light", "dark"], default="light", help=about)
    options.add_flags(parser, "quiet", "json")


def carry_out(arguments: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C: no folder remains
    if arguments.json and arguments.before:
        raise UnusableError("--json prints a profile and --before a comparison; choose one of them")
    if any(path.suffix.lower() != ".json" for path in arguments.output):
        require_libraries("a picture", "matplotlib")
    before = read_profile(arguments.before) if arguments.before else None
    source = _source(arguments)
    for path in arguments.output:
        require_writable(path)
    profile = source if isinstance(source, Profile) else _profiled(source, arguments)
    for path in arguments.output:
        content = _as_file(profile, path.suffix.lower().removeprefix("."), arguments.theme)
        write_output(path, content)
        if path.suffix.lower() == ".json" and len(content) > MOST_OTHER_BYTES:
            most = megabytes(MOST_OTHER_BYTES)
            say(f"{path}: warning: no command reads more than {most}; profile a part of the set (SET@1/2)")
    if arguments.json:
        print(to_json(profile), end="")
    else:
        text = comparison_as_text(before, profile, on_terminal()) if before else as_text(profile, on_terminal())
        print(text, end="")
    return 0 if profile.right == profile.set.puzzle_count else 1


def _as_file(profile: Profile, form: str, theme: str) -> bytes:
    if form == "json":
        return to_json(profile).encode()
    from nonobot.harness.profiling.profile_picture import draw

    return draw(profile, form, theme)


def _source(arguments: argparse.Namespace) -> Profile | PuzzleSet:
    kept = Path(arguments.source)
    if kept.suffix == ".json" and kept.is_file():
        if arguments.bot_command:
            raise UnusableError(f"{kept} is a kept profile: it takes no command")
        return read_profile(kept)
    return loaded(arguments.source, arguments.size)


def _profiled(puzzle_set: PuzzleSet, arguments: argparse.Namespace) -> Profile:
    command = arguments.bot_command or own_bot(puzzle_set)
    given = vars(arguments)
    configuration = options.configuration_of(given, given.get("core", tournament_core()))
    say(sandbox_note(configuration.contain), arguments.quiet)
    show = [path.absolute() for path in given.get("show", [])]
    access = Access(show=tuple(show), secret=files_of_sets([puzzle_set.name]))
    live = on_terminal(sys.stderr) and not arguments.quiet
    warmed_up(warm_up_of(given, command), configuration, access, given.get("warm_up_limit"), live)
    profiles: list[Profile] = []
    asks_stats = not arguments.no_stats
    for _ in range(arguments.repeat):
        with RunProgress(len(puzzle_set.puzzles), arguments.quiet) as progress:
            profile = profile_of(puzzle_set, command, configuration, progress.take, show, asks_stats)
        if profile.end.reason is EndReason.INTERRUPTED:
            say("interrupted; this is the profile of what was done")
            return median_of(profiles or [profile])
        profiles.append(profile)
        asks_stats = not profile.from_outside
    return median_of(profiles)
