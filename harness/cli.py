"""The command line `nonojudge`: which commands there are, and what becomes of their errors."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from harness.commands import data, generate, run_bot, verify
from harness.errors import UnusableError
from harness.version import judge_version

__all__ = ["run"]

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
        if bot_command and arguments.carry_out is not run_bot.carry_out:
            raise UnusableError("only `nonojudge run` takes a command after --")
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
        description="The judge of a nonogram tournament: runs bots, checks answers, makes puzzle sets.",
        epilog="Exit status: 0 every puzzle right (or the job done), 1 some not, 2 unusable arguments or input.\n"
        "`nonojudge COMMAND --help` explains a command, with examples.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and end")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in (run_bot, verify, generate, data):
        module.add_to(commands)
    return parser
