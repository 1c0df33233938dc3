"""The command line `nonojudge`: which commands there are, and what becomes of their errors."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from harness.commands import (
    check,
    compare,
    convert,
    data,
    generate,
    render,
    report,
    run_bot,
    table,
    tournament,
    verify,
)
from harness.errors import UnusableError
from harness.version import judge_version

__all__ = ["run"]

COMMANDS = (run_bot, tournament, table, compare, report, verify, check, data, generate, convert, render)
"""In the order of --help: playing, judging what was played, puzzles."""

TAKE_A_COMMAND = (run_bot.carry_out, check.carry_out)
"""What carries out the commands that a bot's command follows, after `--`."""

EXIT_CUT_SHORT = 1
EXIT_UNUSABLE = 2
EXIT_INTERRUPTED = 130


def run(argv: Sequence[str]) -> int:
    """Carry out one command line.

    Parameters
    ----------
    argv : sequence of str
        The arguments, without the program's name.

    Returns
    -------
    int
        The exit status: 0 every puzzle right, 1 some not, 2 unusable arguments or input.
    """
    own, bot_command = _split(argv)
    try:
        arguments = _parser().parse_args(own)
    except SystemExit as end:  # --help, --version, or arguments that argparse has complained about
        return int(end.code or 0)
    try:
        if bot_command and arguments.carry_out not in TAKE_A_COMMAND:
            raise UnusableError("only `nonojudge run` and `nonojudge check` take a command after --")
        arguments.bot_command = bot_command
        return int(arguments.carry_out(arguments))
    except UnusableError as problem:
        print(f"nonojudge: {problem}", file=sys.stderr)
        return EXIT_UNUSABLE
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_CUT_SHORT
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the judge's own arguments and, after the first `--`, the bot's command."""
    if "--" not in argv:
        return list(argv), []
    at = list(argv).index("--")
    return list(argv[:at]), list(argv[at + 1 :])


class _Version(argparse.Action):
    """Prints the version; looks it up only when asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"nonojudge {judge_version()}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nonojudge",
        description="The judge of nonogram tournaments: runs bots, ranks and compares them, finds and makes puzzles.",
        epilog="Exit status: 0 done and nothing was wrong, 1 something was, 2 unusable arguments or input.\n"
        "`nonojudge COMMAND --help` explains a command, with examples.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and end")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in COMMANDS:
        module.add_to(commands)
    return parser
