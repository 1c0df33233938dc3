"""`nonojudge run`: a bot's command run on a set."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from harness.commands.arguments import SET_HELP, Commands, add_size, loaded, seconds
from harness.errors import UnusableError
from harness.play.match import play
from harness.play.process import StartError
from harness.play.screen import screen_for
from harness.results.files import check_writable, to_json, write_json
from harness.results.model import Feed, RunResult, Terms
from harness.results.summary import run_lines
from protocol import DEFAULT_SIZE
from tournament_data import PuzzleSet

__all__ = ["add_to"]

DEFAULT_SET = "boardgen:25x25x100:seed=2011"
TOURNAMENT_SECONDS = 7200.0

EXAMPLES = f"""\
examples:
  nonojudge run                                              the bot of this project on {DEFAULT_SET}
  nonojudge run --set questions.txt --result today.json -- ./mybot --fast
  nonojudge run --set boardgen:10x10x20:seed=1 --time-limit 60 -- python3 mybot.py --size 10x10
  nonojudge run --feed interactive -- ./mybot                a puzzle at a time: the bot must flush each answer

Everything after -- is the bot's command, run without a shell. It reads puzzles from stdin and writes
answers to stdout until its input ends; its stderr is kept in a file. Any solution of a puzzle is right.
The first answer to a puzzle counts, in whatever order they come, and so does what was written before the
bot died or was stopped. At the time limit, and at Ctrl-C, the bot gets SIGTERM, then it and every process
of its group are killed; the result is written all the same.

With --feed interactive a puzzle that is given up needs an answer too, of zeros or a word: a bot that says
nothing waits for its next puzzle until the time limit.

Exit status: 0 every puzzle right, 1 some not, 2 unusable arguments or input.
"""


def add_to(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "run",
        help="run a bot on a set and judge its answers",
        usage="nonojudge run [options] [-- CMD ARGS...]",
        description="Run a bot on a set of puzzles, check every answer, measure time and memory.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--set", default=DEFAULT_SET, metavar="SET", help=f"{SET_HELP} (default: %(default)s)")
    add_size(parser)
    parser.add_argument(
        "--time-limit",
        type=seconds,
        default=TOURNAMENT_SECONDS,
        metavar="S",
        help="wall seconds for the whole set (default: %(default)g, as in the tournaments)",
    )
    parser.add_argument(
        "--feed",
        choices=[feed.value for feed in Feed],
        default=Feed.BATCH.value,
        help="all puzzles at once, or the next one after each answer (default: %(default)s)",
    )
    parser.add_argument(
        "--result",
        type=Path,
        metavar="FILE.json",
        help="where the result goes (default: a new file in results/)",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress, the summary alone")
    parser.add_argument("--json", action="store_true", help="print the result as JSON instead of the summary")
    parser.set_defaults(carry_out=carry_out)


def carry_out(arguments: argparse.Namespace) -> int:
    """Run the bot, print what came of it and write the result."""
    puzzle_set = loaded(arguments.set, arguments.size)
    result_path = arguments.result or _new_result_path()
    try:
        check_writable(result_path)
    except OSError as error:
        raise _cannot_write(error, result_path) from None
    try:
        result = _played(arguments, puzzle_set, result_path)
    except StartError as error:
        raise UnusableError(str(error)) from None
    if arguments.json:
        print(to_json(result), end="")
    else:
        print("\n".join([*run_lines(result), f"result: {result_path}"]))
    try:
        write_json(result_path, result)
    except OSError as error:
        raise _cannot_write(error, result_path) from None
    return 0 if result.score.all_right else 1


def _cannot_write(error: OSError, path: Path) -> UnusableError:
    return UnusableError(f"cannot write {error.filename or path}: {error.strerror}")


def _played(arguments: argparse.Namespace, puzzle_set: PuzzleSet, result_path: Path) -> RunResult:
    command = arguments.bot_command
    if not command:
        command = _own_bot(puzzle_set)
        # Compiling kernels is not solving puzzles: it is done, and said on stderr, before the clock starts.
        subprocess.run([*command, "--warm-up"], stdin=subprocess.DEVNULL, check=False)
    terms = Terms(Feed(arguments.feed), arguments.time_limit)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # who stops the judge stops the bot: as at Ctrl-C
    with screen_for(len(puzzle_set.puzzles), arguments.quiet) as screen:
        return play(
            puzzle_set,
            command,
            terms,
            result_path.with_suffix(".stderr.txt"),
            lambda ruling, seconds: screen.show(ruling, seconds, ruling.took_seconds),
        )


def _own_bot(puzzle_set: PuzzleSet) -> list[str]:
    size = (puzzle_set.width, puzzle_set.height)
    return [sys.executable, "-m", "bot", *(["--size", f"{size[0]}x{size[1]}"] if size != DEFAULT_SIZE else [])]


def _new_result_path() -> Path:
    return Path("results") / f"run-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.json"
