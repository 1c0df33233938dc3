"""`nonojudge check`: test whether a bot follows the protocol."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
from pathlib import Path

from msgspec.structs import replace

from nonobot import __version__
from nonobot.arguments import Parser, size
from nonobot.harness import StartError, UnusableError, options
from nonobot.harness.check.check_puzzles import LARGEST_SIDE, SMALLEST_SIDE
from nonobot.harness.check.self_test import STEPS, CheckResult, list_of_steps, selected, summary
from nonobot.harness.check.session import BotUnderTest
from nonobot.harness.check.step import Level, Show, StepResult, StepVerdict, carried_out
from nonobot.harness.play.match import WarmUpError, warmed_up
from nonobot.harness.process.access import Access
from nonobot.harness.process.bot_process import sandbox_note, settled
from nonobot.harness.process.nonobot_command import is_own_bot
from nonobot.harness.results.conditions import PROCESS_LIMIT, Configuration, Contain
from nonobot.harness.results.result_files import json_text
from nonobot.harness.text import on_terminal, say
from nonobot.protocol import DEFAULT_SIZE

EXAMPLES = f"""\
examples:
  nonojudge check -- ./mybot --fast                          all {len(STEPS)} checks, boards of 25x25
  nonojudge check --size 10x10 -- python3 mybot.py 10        another size, which the bot must know
  nonojudge check --only 12,13 --verbose -- ./mybot          two checks, with all messages
  nonojudge check --json -- ./mybot > report.json            for scripts; progress goes to stderr
  nonojudge check --list                                     the checks, and why each matters
  nonojudge check --contain                                  for organisers: test the sandbox of this machine

Everything after -- is the bot's command, run without a shell and started again for each check. A tournament needs
all checks marked must; a missed should is a warning, and a note is information (docs/check.md).

Exit status: 0 all musts passed (or the sandbox holds), 1 not, 2 the bot does not start, the sandbox is not
available, or the arguments are unusable.
"""


def add_to(parser: Parser) -> None:
    parser.usage = "nonojudge check [options] -- CMD [ARGS...]"
    about = "size of all boards (default: 25x25)"
    parser.add_argument("--size", type=size, default=DEFAULT_SIZE, metavar="WxH", help=about)
    options.add_timeouts(parser)
    about = "run these checks and those that they need"
    parser.add_argument("--only", type=_numbers, default=[], metavar="N,M", help=about)
    parser.add_argument("--list", action="store_true", help="list the checks and exit")
    about = (
        "sandbox the bot as in `nonojudge run`; without value and bot: test this machine's sandbox (default: auto)"
    )
    options.add_terms(parser, "contain", nargs="?", default="auto", metavar="auto|yes|no", help=about)
    options.add_terms(parser, "show", "environment")
    options.add_flags(parser, "json")
    parser.add_argument("--verbose", action="store_true", help="show the messages of each check")


def _numbers(text: str) -> list[int]:
    numbers = [int(word) if word.isascii() and word.isdigit() and len(word) < 9 else 0 for word in text.split(",")]
    if not all(1 <= number <= len(STEPS) for number in numbers):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of checks from 1 to {len(STEPS)}, such as 12,13")
    return numbers


def carry_out(arguments: argparse.Namespace) -> int:
    if arguments.list:
        print(list_of_steps())
        return 0
    if arguments.contain is None:
        return _sandbox_tried(arguments)
    if not arguments.bot_command:
        raise UnusableError("name the bot's command after --, such as: nonojudge check -- ./mybot")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it also stops the bot, like Ctrl-C
    result = checked(arguments)
    if arguments.json:
        print(json_text(result), end="")
    return 0 if result.conforms else 1


def checked(arguments: argparse.Namespace) -> CheckResult:
    """Check the bot that the arguments describe, and show each step; UnusableError if it does not start."""
    width, height = arguments.size
    if not SMALLEST_SIDE <= min(width, height) <= max(width, height) <= LARGEST_SIDE:
        raise UnusableError(f"--size {width}x{height}: choose {SMALLEST_SIDE} to {LARGEST_SIDE} rows and columns")
    with tempfile.TemporaryDirectory(prefix="nonojudge-check-") as folder:
        reports = Path(folder).resolve()
        contain = Contain(arguments.contain)
        say(sandbox_note(contain))
        access = Access(show=tuple(vars(arguments).get("show", [])), writable=(reports,))
        limits = Configuration(contain=contain, process_limit=PROCESS_LIMIT)
        settled(arguments.bot_command, limits, access)
        if is_own_bot(arguments.bot_command):  # otherwise its starts would compile
            with contextlib.suppress(WarmUpError):  # the first check fails, too, and says why
                warmed_up([*arguments.bot_command, "--warm-up"], limits, access, live=on_terminal(sys.stderr))
        bot = BotUnderTest(
            arguments.bot_command,
            arguments.size,
            patience_seconds=arguments.timeout,
            start_seconds=arguments.start_timeout,
            report=reports / "report",
            limits=replace(limits, environment=dict(vars(arguments).get("environment", ()))),
            access=access,
        )
        try:
            results = _shown(arguments, bot)
        except StartError as error:
            raise UnusableError(str(error)) from None
    met = (StepVerdict.PASSED, StepVerdict.WARNING)
    conforms = all(step.level is not Level.MUST or step.verdict in met for step in results)
    timeouts = (bot.patience_seconds, bot.start_seconds)
    return CheckResult(list(bot.command), bot.size, *timeouts, __version__, conforms, results)


def _sandbox_tried(arguments: argparse.Namespace) -> int:
    """Test the sandbox, and show which claims hold and which figures this machine can measure."""
    from nonobot.harness.check.sandbox_trials import tried_sandbox

    if arguments.bot_command or arguments.json:
        raise UnusableError("--contain without a value tests the sandbox; remove the bot and --json")
    breaches, measures = tried_sandbox(Contain.YES)
    for claim, breach in breaches.items():
        print(f"  BROKEN  {claim}: it {breach}" if breach else f"  holds   {claim}")
    figures = {"CPU time": measures.cpu, "peak memory": measures.memory, "processes": measures.processes}
    for name, is_measured in figures.items():
        print(f"  {name}: {'measured by cgroup' if is_measured else 'sampled every 50 ms'}")
    return 1 if any(breaches.values()) else 0


def _shown(arguments: argparse.Namespace, bot: BotUnderTest) -> list[StepResult]:
    """Carry the steps out and show each; with --json on stderr, since stdout is for machines."""
    results = []
    with Show(sys.stderr if arguments.json else sys.stdout, arguments.verbose) as show:
        for result in carried_out(STEPS, selected(arguments.only), bot, show.begin):
            show.step(result)
            results.append(result)
        show.end(summary(results))
    return results
