"""Command-line arguments of both commands: parser, readers of values, shell completion, "did you mean ...?".

It loads only argparse, so that `--help` answers at once.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from nonobot import __version__
from nonobot.system import printable

Value = TypeVar("Value")
Meaning = TypeVar("Meaning")

LEAST_COLUMNS = 60  # of the help: argparse would break words for a narrower terminal, which breaks lines by itself
LONGEST_SECONDS = 1e9  # longest time that an option accepts, about 30 years; longer times overflow
FILES = ("FILE", "IN", "OUT", "QUESTIONS", "ANSWERS", "SET")  # beginnings of the metavars of files
SHELLS = ("bash", "zsh", "tcsh", "fish")


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """argparse's formatter, which looks up the width of the terminal only to print.

    argparse makes a formatter for each argument of a parser. The look-up imports shutil: 1 ms of each start.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=80)

    def format_help(self) -> str:
        from shutil import get_terminal_size

        columns = max(get_terminal_size().columns, LEAST_COLUMNS)
        printing = argparse.RawDescriptionHelpFormatter(self._prog, width=columns - 2)
        self._width, self._max_help_position = printing._width, printing._max_help_position
        return super().format_help()


class Parser(argparse.ArgumentParser):
    """Argument parser that keeps the layout of its help and reports an unusable argument in one text line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _HelpFormatter, **options})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but report an unknown option that resembles one of this parser at once."""
        self._arguments = list(sys.argv[1:] if args is None else args)
        known, extras = super().parse_known_args(args, namespace)
        if extras and extras[0].startswith("-") and (misspelt := self._misspelt(extras)):
            self.error(misspelt)  # any other may be a bot's option after a forgotten `--`
        return known, extras

    def _misspelt(self, arguments: Iterable[str]) -> str:
        """Return a message about the first word that resembles an option but does not start one."""
        options = [option for option in self._option_string_actions if option.startswith("--")]
        for word in (word.partition("=")[0] for word in arguments if word.startswith("--")):
            is_known = any(option == word or (self.allow_abbrev and option.startswith(word)) for option in options)
            if not is_known and (hint := similar_names(word, options)):
                return f"unknown option {word!r}{hint}"
        return ""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and the reason as one text line; for a misspelt name it suggests the right one."""
        message = re.sub(r"^argument (-\w/)?", "", message)
        if choice := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message):
            names = re.findall(r"[\w-]+", choice[2])
            hint = similar_names(choice[1], names) or f"; choose {', '.join(names[:-1])} or {names[-1]}"
            message = f"{message[: choice.start()]}unknown value {choice[1]!r}{hint}"
        elif required := re.fullmatch(r"the following arguments are required: (.*)", message):
            message = self._misspelt(self._arguments) or f"missing {required[1]}"  # one may be misspelt
        message = re.sub(r"^unrecognized arguments: ", "unknown option ", message)
        message = re.sub(r": not allowed with argument (\S+)", r" cannot be combined with \1; remove one", message)
        message = message.replace(": expected one argument", " needs a value")
        self.exit(2, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


# --- readers: they return the value of a text or raise ArgumentTypeError ----------------------------------------


def size_up_to(longest: int) -> Callable[[str], tuple[int, int]]:
    """Return a reader of a board size such as `25x25`, with up to `longest` cells in each dimension."""

    def read(text: str) -> tuple[int, int]:
        sides = re.fullmatch(r"([1-9][0-9]{0,17})x([1-9][0-9]{0,17})", text)
        if not sides:
            raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT, such as 25x25")
        if max(map(int, sides.groups())) > longest:
            raise argparse.ArgumentTypeError(f"{text} is too large; the limit is {longest}x{longest}")
        return int(sides[1]), int(sides[2])

    return read


def byte_count(text: str) -> int:
    """Return the number of bytes in a text such as `500M`, `4GB` or `4 GiB`; K, M and G are powers of 1024."""
    parts = re.fullmatch(r"([1-9][0-9]{0,15}) ?(?:([KMG])I?)?(?:B|BYTES)?", text.strip().upper())
    if not parts:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, such as 500M or 4G")
    return min(int(parts[1]) << {None: 0, "K": 10, "M": 20, "G": 30}[parts[2]], 1 << 62)


def number(least: float, most: float, description: str) -> Callable[[str], float]:
    """Return a reader of numbers from `least` to `most`; `description` says in messages what they are."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not {description}")
        return value

    return read


def whole_number(least: int, most: int | None = None, description: str = "a whole number") -> Callable[[str], int]:
    """Return a reader of whole numbers from `least` to `most` (None: any of up to 18 digits)."""
    bounds = f"of {least} or more" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < least or (most is not None and int(text) > most):
            raise argparse.ArgumentTypeError(f"{text!r} is not {description} {bounds}")
        return int(text)

    return read


def new_path(text: str) -> Path:
    """Return the path of a file or folder to write; not `-`, which elsewhere means standard output."""
    if text == "-":
        raise argparse.ArgumentTypeError("standard output (-) cannot take it; give a name")
    return Path(text)


def variable(text: str) -> tuple[str, str]:
    """Return name and value of an environment variable given as `NAME=VALUE`."""
    name, _, value = text.partition("=")
    if not name or "=" not in text or "\0" in value:
        # Without the text, which may be a secret.
        raise argparse.ArgumentTypeError("expected NAME=VALUE, such as OMP_NUM_THREADS=1")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise argparse.ArgumentTypeError(f"{name!r} is not a variable's name; use letters, digits and _")
    return name, value


size = size_up_to(9999)
seconds = number(1e-9, LONGEST_SECONDS, "a number of seconds above 0")
MOST_SHARE = 10.0
share = number(0.0, MOST_SHARE, f"a fraction from 0 to {MOST_SHARE:g}, such as 0.05 for 5%")
count = whole_number(1)


def either(word: str, meaning: Meaning, read: Callable[[str], Value]) -> Callable[[str], Meaning | Value]:
    """Return a reader that gives `meaning` for one word and reads any other text with `read`."""

    def read_either(text: str) -> Meaning | Value:
        if text == word:
            return meaning
        try:
            return read(text)
        except argparse.ArgumentTypeError as error:
            accepted = f", or {word}" if " is not " in str(error) else ""
            raise argparse.ArgumentTypeError(f"{error}{accepted}") from None

    return read_either


def explained(read: Callable[[str], Value]) -> Callable[[str], Value]:
    """Return a reader like `read` that keeps the message of a ValueError, which argparse would drop."""

    def read_explained(text: str) -> Value:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read_explained


# --- options that print and exit ---------------------------------------------------------------------------------


class _Print(argparse.Action):
    """An option that prints a text and exits."""

    def __init__(self, *, text: Callable[[argparse.ArgumentParser, Any], str], **options: Any) -> None:
        super().__init__(**{**options, "dest": argparse.SUPPRESS, "default": argparse.SUPPRESS})
        self._text = text

    def __call__(self, parser: argparse.ArgumentParser, _: object, value: Any, __: object = None) -> None:
        try:
            sys.stdout.write(self._text(parser, value))
            sys.stdout.flush()
        except OSError as error:  # argparse's own --version would exit with status 0
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest fails no second time
            parser.exit(2, f"{parser.prog}: {error.strerror}\n")
        parser.exit()


def add_version(parser: Parser) -> None:
    """Add `--version`."""
    parser.add_argument(
        "--version",
        action=_Print,
        nargs=0,
        text=lambda parser, _: f"{parser.prog} {__version__}\n",
        help="print the version and exit",
    )


def add_completion(parser: Parser, whole: Callable[[], argparse.ArgumentParser]) -> None:
    """Add `--completion`; `whole` returns the complete parser, only if the option is used."""

    def text(parser: argparse.ArgumentParser, shell: str) -> str:
        try:
            import shtab
        except ImportError:
            parser.exit(2, f"{parser.prog}: {missing('--completion', 'shtab')}\n")
        described = whole()
        _complete_files(described, shtab.FILE)
        return f"{shtab.complete(described, shell)}\n"

    parser.add_argument(
        "--completion",
        action=_Print,
        choices=SHELLS,
        metavar="SHELL",
        text=text,
        help=f"print the completion script for a shell ({', '.join(SHELLS)}) and exit",
    )


def _complete_files(parser: argparse.ArgumentParser, kind: object) -> None:
    """Mark the arguments that are files for shtab, also those of subcommands."""
    for action in parser._actions:  # argparse has no public access to them
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _complete_files(command, kind)
        elif action.type is Path or str(action.metavar).startswith(FILES):
            action.complete = kind  # type: ignore[attr-defined]


# --- hints in error messages -------------------------------------------------------------------------------------

_LEAST_LIKENESS = 0.75  # of a suggested name, as difflib measures it; `taai2012` and `taai2011` have 0.875


def similar_names(text: str, names: Iterable[str]) -> str:
    """Return the end of a message about an unknown name, such as ` (similar: report)`, or nothing."""
    from difflib import SequenceMatcher  # only here: few messages need it

    likely = {name: SequenceMatcher(None, name, text.casefold(), autojunk=False).ratio() for name in names}
    best = max(likely.values(), default=0.0)
    if best < _LEAST_LIKENESS:
        return ""
    *others, last = [name for name in likely if likely[name] == best][:3]
    return f" (similar: {', '.join(others)}{' or ' if others else ''}{last})"


def missing(feature: str, *libraries: str) -> str:
    """Return a message about the libraries that a feature needs, with a command that installs them."""
    if not sys.executable:
        return f"{feature} needs {' and '.join(libraries)}, which this executable does not contain"
    return f"{feature} needs {' and '.join(libraries)}, not installed; install with: {install_command(*libraries)}"


def install_command(*libraries: str) -> str:
    """Return a command that installs libraries.

    It names this Python and no extra, so that it works in a clone and in any environment; those of uv have no pip
    at first.
    """
    from importlib.util import find_spec

    command = shlex.join([sys.executable, "-m", "pip", "install", *libraries])
    if find_spec("pip") is None:
        command = f"{shlex.join([sys.executable, '-m', 'ensurepip'])} && {command}"
    return command
