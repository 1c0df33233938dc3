"""The command line `nonojudge`: its commands, the options that several share, and its errors as one line."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nonobot.arguments import (
    Parser,
    add_completion,
    add_version,
    either,
    missing,
    seconds,
    size,
    variable,
    whole_number,
)
from nonobot.harness import EXIT_INTERRUPTED, UnusableError
from nonobot.system import printable


@dataclass(frozen=True, slots=True)
class Command:
    """A command, whose module is loaded only to carry it out."""

    module: str  # in `nonobot.harness.commands`; its function `add_to` describes the command to a parser
    help: str
    takes_bot: bool = False  # whether a bot's command may follow after `--`


COMMANDS = {
    "run": Command("run_bot", "run a bot on a set and judge its answers", takes_bot=True),
    "tournament": Command("tournament", "run several bots on several sets and rank them"),
    "table": Command("table", "rank results: most right, then least time"),
    "report": Command("report", "write results as one HTML page with tables and plots"),
    "page": Command("page", "serve or export the web page; watch a tournament"),
    "check": Command("check", "test whether a bot follows the protocol", takes_bot=True),
    "verify": Command("verify", "check an answer file against its question file"),
    "compare": Command("compare", "compare results of two versions: is the second slower?"),
    "duel": Command("duel", "play two versions at the same time and compare them"),
    "profile": Command("profile", "show where a bot's time goes, by stage and puzzle", takes_bot=True),
    "bisect": Command("bisect", "find the commit that made a bot slower or changed its search", takes_bot=True),
    "bench": Command("bench", "measure the parts of nonobot with pyperf"),
    "history": Command("history", "show times and counts of results by revision"),
    "claims": Command("claims", "measure the published figures of nonobot"),
    "data": Command("data", "list, fetch and import the official sets"),
    "generate": Command("generate", "generate question files and training sets"),
    "convert": Command("convert", "convert puzzle files between formats"),
    "render": Command("render", "draw puzzles and answers: terminal, PNG, SVG"),
}
"""The commands in the order of --help."""

GROUPS = {"run": "run bots", "check": "check bots and answers", "compare": "compare versions", "data": "puzzles"}
"""Headings of --help, each before the first command of its group."""

OLD_NAMES = {"promises": "claims"}
"""Earlier names of commands; --help does not list them."""

OF_SOME_COMMANDS = ("numpy", "numba")
"""Libraries that some commands always need and that an installed bot does not."""

EXIT_CUT_SHORT = 1
EXIT_UNUSABLE = 2
EXIT_CANNOT_TELL = 3
EXIT_SKIP = 125
"""Status by which `git bisect run` skips a revision that cannot be judged."""

BISECT_STATUSES = "--bisect-statuses"


def run(argv: Sequence[str]) -> int:
    """Carry out a command line, given without the program's name, and return the exit status."""
    at = argv.index("--") if "--" in argv else len(argv)
    own = [*(OLD_NAMES.get(word, word) for word in argv[:1]), *argv[1:]][:at]
    status = _status(own, list(argv[at + 1 :]))
    for_git = any(BISECT_STATUSES.startswith(word) for word in own if len(word) > len("--b"))
    return EXIT_SKIP if for_git and status in (EXIT_UNUSABLE, EXIT_CANNOT_TELL) else status


def _status(own: Sequence[str], bot_command: list[str]) -> int:
    """Carry out a command, print its error if it has one, and return the exit status."""
    try:
        status = _carried_out(own, bot_command)
        sys.stdout.flush()  # here, where a failure can still be reported
        return status
    except UnusableError as problem:
        why = str(problem)
    except ModuleNotFoundError as error:
        if error.name not in OF_SOME_COMMANDS:
            raise
        why = missing(own[0], error.name)
    except BrokenPipeError:  # the reader of the output has closed the pipe
        _drop_output()
        return EXIT_CUT_SHORT
    except OSError as error:  # such as a full disk under stdout
        _drop_output()
        why = ": ".join(filter(None, (error.filename, error.strerror or str(error))))
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    say(why)
    return EXIT_UNUSABLE


def _carried_out(own: Sequence[str], bot_command: list[str]) -> int:
    name = next((word for word in own if word in COMMANDS), "")
    try:
        arguments, unexpected = _parser(name).parse_known_args(own)
    except SystemExit as end:  # --help, --version, or arguments that argparse has complained about
        return int(end.code or 0)
    if unexpected:
        hint = "a bot's command goes after --; " if COMMANDS[arguments.command].takes_bot else ""
        raise UnusableError(f"unexpected {shlex.join(unexpected)}; {hint}see nonojudge {arguments.command} --help")
    if bot_command and not COMMANDS[arguments.command].takes_bot:
        *takers, last = (name for name, command in COMMANDS.items() if command.takes_bot)
        raise UnusableError(f"only nonojudge {', '.join(takers)} and {last} take a command after --")
    if found := re.search(r"(?<![{$])\{(python|size|width|height|puzzle-limit)\}", " ".join(bot_command)):
        say(f"{found[0]} goes to the bot as it is: only a tournament's file has placeholders")
    arguments.bot_command = bot_command
    return int(arguments.carry_out(arguments))


def _drop_output() -> None:
    """Redirect stdout, so that the rest of its buffer does not fail again at the end of the program."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _GroupedParser(Parser):
    """A parser whose help shows the commands in groups."""

    def format_help(self) -> str:
        """Return the help text with the headings of GROUPS."""
        text = super().format_help()
        for first, heading in GROUPS.items():
            text = re.sub(rf"^ +{first} ", rf"\n  {heading}\n\g<0>", text, count=1, flags=re.MULTILINE)
        return text.replace("positional arguments:\n  COMMAND\n", "commands:")


def _parser(*names: str) -> Parser:
    """Return a parser for all commands, with the arguments of those named; no other command is loaded."""
    parser = _GroupedParser(
        prog="nonojudge",
        description="Judge nonogram bots: run, rank and compare them; find and make puzzles.",
        epilog="Exit status: 0 success, 1 something failed or was not right, 2 unusable arguments or input,\n"
        "3 cannot tell, 130 interrupted. `nonojudge COMMAND --help` explains a command, with examples.",
    )
    add_version(parser)
    add_completion(parser, lambda: _parser(*COMMANDS))
    commands = parser.add_subparsers(metavar="COMMAND", dest="command", required=True, parser_class=Parser)
    for name, command in COMMANDS.items():
        described = commands.add_parser(name, help=command.help)
        if name in names:
            importlib.import_module(f"nonobot.harness.commands.{command.module}").add_to(described)
    return parser


def say(line: str | None, quiet: bool = False) -> None:
    """Print a line on stderr, unless it is None or the command is quiet."""
    if line and not quiet:
        from nonobot.harness.text import in_short  # takes a while

        # Only a list has further lines, which are indented.
        lines = [in_short(printable(one)) for one in line.split("\n  ")]
        print("nonojudge: " + "\n  ".join(lines), file=sys.stderr)


# --- options that several commands share ---------------------------------------------------------------------

SET_HELP = (
    "an official set such as taai2011 (see `nonojudge data`), a file of puzzles, or "
    "boardgen:WIDTHxHEIGHTxCOUNT:seed=S for a generated set"
)


def add_size(parser: Parser) -> None:
    """Add `--size`, for puzzle files."""
    parser.add_argument(
        "--size",
        type=either("auto", "auto", size),
        metavar="WxH|auto",
        help="board size of a TAAI file, which does not state it; auto: square boards of any size (default: 25x25 "
        "if the first board fits, otherwise auto)",
    )


def add_core(parser: Parser, default: str | None = argparse.SUPPRESS, said: str = "the last core") -> None:
    """Add `--core`: a number, or None for any core; without a `default` the attribute is missing if not given."""
    parser.add_argument(
        "--core",
        type=either("any", None, whole_number(0, 9999, "the number of a core")),
        default=default,
        metavar="N|any",
        help=f"core to run on (default: {said})",
    )


def add_contain(
    parser: Parser | argparse._ArgumentGroup, default: str | None = argparse.SUPPRESS, show: bool = True
) -> None:
    """Add `--contain` and, with `show`, `--show`; an option not given is missing without a `default`."""
    parser.add_argument(
        "--contain",
        choices=["auto", "yes", "no"],
        default=default,
        help="sandbox the bot with bubblewrap: if available (auto), always (yes) or never (no) (default: auto)",
    )
    if show:
        parser.add_argument(
            "--show",
            type=Path,
            action="append",
            default=argparse.SUPPRESS,
            metavar="PATH",
            help="let a sandboxed bot read this file or folder too (repeatable)",
        )


def add_environment(parser: Parser | argparse._ArgumentGroup) -> None:
    """Add `--env`; without it the attribute is missing."""
    parser.add_argument(
        "--env",
        type=variable,
        action="append",
        dest="environment",
        default=argparse.SUPPRESS,
        metavar="NAME=VALUE",
        help="environment variable for the bot and its warm-up (repeatable; docs/judge.md lists the judge's own)",
    )


def given_options(arguments: argparse.Namespace) -> list[str]:
    """Return the options of size, sandbox and environment as they were given."""
    given, options = vars(arguments), list[str]()
    if size := given["size"]:
        options += ["--size", size if isinstance(size, str) else f"{size[0]}x{size[1]}"]
    if "contain" in given:
        options += ["--contain", given["contain"]]
    for path in given.get("show", ()):
        options += ["--show", str(path)]
    for one in given.get("environment", ()):
        options += ["--env", "=".join(one)]
    return options


def add_warm_up(parser: Parser) -> None:
    """Add `--warm-up`."""
    parser.add_argument(
        "--warm-up",
        type=shlex.split,
        metavar="'CMD ARGS'",
        help="run this before the clock starts, such as './mybot --compile' (nonobot has one by default)",
    )
    parser.add_argument(
        "--warm-up-limit",
        type=seconds,
        default=argparse.SUPPRESS,
        metavar="S",
        help="wall time limit for --warm-up in seconds (default: 600)",
    )


def add_results(parser: Parser) -> None:
    """Add the results that a command reads."""
    parser.add_argument(
        "results",
        nargs="+",
        type=Path,
        metavar="RESULT",
        help="result file, log of a bot, or folder with such files (*.json, *.log)",
    )


def add_bisect_statuses(parser: Parser) -> None:
    """Add `--bisect-statuses`, which :func:`run` acts on, because it is also about errors."""
    about = f"exit with {EXIT_SKIP} (skip) instead of 2 and 3, as `git bisect run` expects"
    parser.add_argument(BISECT_STATUSES, action="store_true", help=about)


def add_json(parser: Parser | argparse._ArgumentGroup, what: str, instead: str = "") -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", default=False, help=f"print {what} as JSON{instead}")
