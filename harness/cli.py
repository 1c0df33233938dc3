"""The command line `nonojudge`: finds the command, parses its arguments, makes one line of an error."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import nonobot
from nonobot.arguments import Parser, add_completion, add_version, missing
from nonobot.harness import EXIT_CANNOT_TELL, EXIT_INTERRUPTED, EXIT_SKIP, EXIT_UNUSABLE, StartError, UnusableError
from nonobot.system import remembering_reads, with_file


@dataclass(frozen=True, slots=True)
class Command:
    """A command, whose module is loaded only to run it."""

    module: str  # in `nonobot.harness.commands`, which describes the functions of these modules
    help: str
    takes_bot: bool = False  # whether a bot's command may follow after `--`

    def describe(self, parser: Parser) -> None:
        """Load the module, and add its help and its arguments to a parser."""
        module = importlib.import_module(f"nonobot.harness.commands.{self.module}")
        _, _, text = (module.__doc__ or "").partition(": ")
        parser.description, parser.epilog = text[:1].upper() + text[1:].strip(), module.EXAMPLES
        parser.set_defaults(carry_out=module.carry_out)
        module.add_to(parser)


COMMANDS = {
    "run": Command("run_bot", "run a bot on a set and judge its answers", takes_bot=True),
    "tournament": Command("tournament", "run several bots on several sets and rank them"),
    "new-bot": Command("new_bot", "write a small bot to start from, in Python or C++"),
    "rehearse": Command("rehearse", "is a bot ready to hand in?", takes_bot=True),
    "adapt": Command("adapt", "let a program play that solves puzzle files", takes_bot=True),
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

OF_ALL_COMMANDS = ("msgspec", "psutil", "rich")  # libraries of the judge; the wheel alone lacks them
OF_SOME_COMMANDS = ("numpy", "numba")  # libraries that some commands need; the bot alone does not
EXIT_CUT_SHORT = 1


def run(argv: Sequence[str]) -> int:
    """Run a command line, given without the program's name, and return the exit status."""
    end = argv.index("--") if "--" in argv else len(argv)
    own = argv[:end]
    with remembering_reads():
        status = _status(own, list(argv[end + 1 :]))
    for_git = any("--bisect-statuses".startswith(word) for word in own if len(word) > len("--b"))
    return EXIT_SKIP if for_git and status in (EXIT_UNUSABLE, EXIT_CANNOT_TELL) else status


def _status(own: Sequence[str], bot_command: list[str]) -> int:
    """Run a command, print its error if it has one, and return the exit status."""
    try:
        status = _carried_out(own, bot_command)
        sys.stdout.flush()  # here, where a failure can still be reported
        return status
    except (UnusableError, StartError) as problem:
        why = str(problem)
    except ImportError as error:
        why = _problem_of_library(own[0], error)
    except BrokenPipeError:  # the reader of the output has closed the pipe
        _drop_output()
        return EXIT_CUT_SHORT
    except OSError as error:  # such as a full disk under stdout
        try:
            sys.stdout.flush()
        except OSError:
            _drop_output()
        why = with_file(error)
    except KeyboardInterrupt as stop:
        _say(str(stop) or "interrupted")
        return EXIT_INTERRUPTED
    _say(why)
    return EXIT_UNUSABLE


def _problem_of_library(command: str, error: ImportError) -> str:
    """Return the message about a library that is missing, or that lacks what a command imports from it."""
    from importlib.util import find_spec

    library = str(error.name).partition(".")[0]
    if library == nonobot.__name__:
        raise error
    if find_spec(library):
        return (
            f"{library} does not fit nonobot {nonobot.__version__}: {error}; install another version of {library}"
        )
    if library not in (*OF_ALL_COMMANDS, *OF_SOME_COMMANDS):
        raise error
    absent = [name for name in OF_ALL_COMMANDS if find_spec(name) is None]
    return missing(command, *absent or [library])


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
        _say(f"{found[0]} goes to the bot as it is: only a tournament's file has placeholders")
    if arguments.command != "adapt" and "adapt" not in bot_command and "{file}" in " ".join(bot_command):
        _say("{file} goes to the bot as it is; write `nonojudge adapt --as FORMAT --` before the program")
    arguments.bot_command = bot_command
    return int(arguments.carry_out(arguments))


def _drop_output() -> None:
    """Redirect stdout, so that the rest of its buffer does not fail again at the end of the program."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _GroupedParser(Parser):
    """A parser whose help shows the commands in groups."""

    def format_help(self) -> str:
        """Return the help with the headings of GROUPS."""
        import shutil  # only here: few starts need them
        import textwrap

        margin = " " * 22
        entry = textwrap.TextWrapper(
            max(shutil.get_terminal_size().columns - 2, 2 * len(margin)),
            subsequent_indent=margin,
            break_long_words=False,
        )

        def described(names: str, about: str | None) -> str:
            entry.initial_indent = f"{names:<{len(margin)}}"
            return entry.fill(about or "")

        lines = [f"{self.format_usage()}\n{self.description}\n\ncommands:"]
        for name, command in COMMANDS.items():
            if name in GROUPS:
                lines += [*([""] if len(lines) > 1 else []), f"  {GROUPS[name]}"]
            lines.append(described(f"    {name}", command.help))
        lines.append("\noptions:")
        for option in self.actions:
            names = ", ".join(option.option_strings)
            lines.append(described(f"  {names} {option.metavar or ''}", option.help))
        return "\n".join([*lines, "", f"{self.epilog}\n"])


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
    parser.select_command("COMMAND", dest="command")
    for name, command in COMMANDS.items():
        described = parser.add_command(name, help=command.help)
        if name in names:
            command.describe(described)
    return parser


def _say(line: str) -> None:
    from nonobot.harness.text import say  # only here: loading it takes a while

    say(line)
