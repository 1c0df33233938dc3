"""Command-line arguments of both commands: parser, readers of values, shell completion, "did you mean ...?".

It loads only argparse, so that `--help` answers at once.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

from nonobot import __version__
from nonobot.system import printable, reason_of

Value = TypeVar("Value")
Meaning = TypeVar("Meaning")

LEAST_COLUMNS = 60  # of the help: argparse would break words for a narrower terminal, which breaks lines by itself
LONGEST_SECONDS = 1e9  # longest time that an option accepts, about 30 years; longer times overflow
FILES = ("FILE", "IN", "OUT", "QUESTIONS", "ANSWERS", "SET")  # beginnings of the metavars of files
SHELLS = ("bash", "zsh", "tcsh", "fish")


class _RefusedError(Exception):
    """A value that an argument does not take; argparse lets errors of this kind through to the parser."""


class Arguments(Protocol):
    """A parser, or a group of its arguments."""

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Add an argument, as argparse does."""


class Group:
    """Arguments of a parser under a heading of its help, or of which a user may give only one."""

    def __init__(self, parser: Parser, group: Any, rivals: list[argparse.Action] | None = None) -> None:
        self._parser = parser
        self._group = group
        self._rivals = rivals

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Add an argument to the parser in this group."""
        action = self._parser.added(self._group.add_argument, names, options)
        if self._rivals is not None:
            self._rivals.append(action)
        return action

    def exclusive(self) -> Group:
        """Return a group within this one, of whose arguments a user may give only one."""
        return self._parser.exclusive(self._group)


class Parser(argparse.ArgumentParser):
    """Argument parser that keeps the layout of its help and reports an unusable argument in one text line.

    argparse decides which arguments are unusable; the parser keeps what is added to it and finds its own words for
    the reason. Where it finds none, the sentence of argparse stays as it is.
    """

    def __init__(self, **options: Any) -> None:
        self.actions: list[argparse.Action] = []  # in the order in which they were added
        self.files: list[argparse.Action] = []  # whose values are names of files
        self.commands: dict[str, Parser] = {}
        self._command = ""  # name of the argument that selects one of them
        self._exclusive: list[list[argparse.Action]] = []
        self._given: list[str] = []
        # argparse makes a formatter for each argument. To look up the width of the terminal, it would import
        # shutil: 1 ms of each start.
        quick = partial(argparse.RawDescriptionHelpFormatter, width=80)
        super().__init__(**{"formatter_class": quick, "add_help": False, **options})
        self.color = False  # the same help from each Python: 3.14 colours it
        self.add_argument("-h", "--help", action="help", help="show this help message and exit")

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Add an argument, as argparse does."""
        return self.added(super().add_argument, names, options)

    def added(self, add: Callable[..., argparse.Action], names: Sequence[str], options: Any) -> argparse.Action:
        """Add an argument by a method of argparse, and keep it; our own code checks its values."""
        read, choices = options.get("type"), options.get("choices")
        if read or choices:
            name = names[-1] if names[0].startswith("-") else options.get("metavar", names[0])
            options = {**options, "type": partial(_read, name, read or str, choices)}
        action = add(*names, **options)
        self.actions.append(action)
        if read is Path or str(action.metavar).startswith(FILES):
            self.files.append(action)
        return action

    def group(self, heading: str) -> Group:
        """Return a group of arguments with a heading in the help."""
        return Group(self, self.add_argument_group(heading))

    def exclusive(self, within: Any = None) -> Group:
        """Return a group of arguments of which a user may give only one."""
        self._exclusive.append([])
        return Group(self, (within or self).add_mutually_exclusive_group(), self._exclusive[-1])

    def select_command(self, metavar: str, **options: Any) -> None:
        """Let an argument select a command; :meth:`add_command` adds them."""
        self._command = metavar
        self._adder = self.add_subparsers(
            metavar=metavar, required=True, prog=self.prog, parser_class=Parser, **options
        )

    def add_command(self, name: str, **options: Any) -> Parser:
        """Add a command and return its parser."""
        self.commands[name] = self._adder.add_parser(name, **options)
        return self.commands[name]

    def print_help(self, file: Any = None) -> None:
        """Print the help, as wide as the terminal."""
        from shutil import get_terminal_size

        width = max(get_terminal_size().columns, LEAST_COLUMNS) - 2
        self.formatter_class = partial(argparse.RawDescriptionHelpFormatter, width=width)
        (file or sys.stdout).write(self.format_help())

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the values of the arguments; unusable ones exit with status 2 and the reason as one text line."""
        known, extras = self.parse_known_args(args, namespace)
        if extras:
            self.refuse(f"unknown option {' '.join(extras)}")
        return known

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but report an unknown option that resembles one of this parser at once."""
        self._given = list(sys.argv[1:] if args is None else args)
        try:
            known, extras = super().parse_known_args(args, namespace)
        except _RefusedError as refused:
            self.refuse(str(refused))
        if extras and extras[0].startswith("-") and (misspelt := self._misspelt(extras)):
            self.refuse(misspelt)  # any other may be a bot's option after a forgotten `--`
        return known, extras

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments in our own words; argparse calls it with a sentence about them."""
        self.refuse(self._mistake() or message)

    def refuse(self, why: str) -> NoReturn:
        """Exit with status 2 and the reason as one text line."""
        self.exit(2, f"{self.prog}: {printable(why)}; see {self.prog} --help\n")

    def _mistake(self) -> str:
        """Return what is wrong with arguments that argparse has refused; nothing if it is not one of these."""
        given: dict[argparse.Action, None] = {}
        free: list[str] = []  # words that are neither options nor their values
        words = list(self._given)
        while words and not (free and self.commands):  # those of a command are checked by its parser
            word = words.pop(0)
            option, has_value, _ = word.partition("=")
            if word == "--":
                free += words
                break
            if not _is_option(word):
                free.append(word)
            elif len(meant := self._meant(option)) == 1:
                [action] = meant
                given[action] = None
                if action.nargs == 0 and has_value:
                    return f"{_name(action)} takes no value"
                if action.nargs == 0 or has_value:
                    continue
                if words and not _is_option(words[0]):
                    del words[0]
                elif action.nargs != "?":
                    return f"{_name(action)} needs a value"
        for rivals in self._exclusive:
            if len(names := [_name(action) for action in given if action in rivals]) > 1:
                return f"{names[1]} cannot be combined with {names[0]}; remove one"
        if free and self.commands and free[0] not in self.commands:
            return f"{self._command}: {_unknown_value(free[0], self.commands)}"
        if absent := self._absent(given, len(free)):
            return self._misspelt(self._given) or f"missing {', '.join(absent)}"  # one may be misspelt
        return ""

    def _absent(self, given: Container[argparse.Action], words: int) -> list[str]:
        """Return what is missing beside the options given and a number of words without an option."""
        places = [action for action in self.actions if not action.option_strings]
        absent = [action for action in places[words:] if action.nargs in (None, "+")]
        absent += [
            action for action in self.actions if action not in given and action.option_strings and action.required
        ]
        return [*map(_name, absent), *([self._command] if self.commands and not words else [])]

    def _misspelt(self, words: Iterable[str]) -> str:
        """Return a message about the first word that resembles an option but does not start one."""
        options = [name for action in self.actions for name in action.option_strings if name.startswith("--")]
        for word in (word.partition("=")[0] for word in words if word.startswith("--")):
            if not self._meant(word) and (hint := similar_names(word, options)):
                return f"unknown option {word!r}{hint}"
        return ""

    def _meant(self, option: str) -> list[argparse.Action]:
        """Return the argument that has an option, or those of which it may be an abbreviation."""
        exact = [action for action in self.actions if option in action.option_strings]
        if exact or not self.allow_abbrev or not option.startswith("--"):
            return exact
        return [
            action for action in self.actions if any(name.startswith(option) for name in action.option_strings)
        ]


def _is_option(word: str) -> bool:
    return re.match(r"-(?![0-9.]|$)", word) is not None and " " not in word.partition("=")[0]


def _name(action: argparse.Action) -> str:
    """Return how messages call an argument."""
    return action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)


def _read(name: str, read: Callable[[str], Value], choices: Collection[Any] | None, text: str) -> Value:
    """Return the value that an argument has by a text; the error names the argument."""
    try:
        value = read(text)
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise _RefusedError(f"{name}: {error}") from None
    if choices is not None and value not in choices:
        raise _RefusedError(f"{name}: {_unknown_value(text, choices)}")
    return value


def _unknown_value(text: str, choices: Iterable[str]) -> str:
    *others, last = choices
    hint = similar_names(text, [*others, last]) or f"; choose {', '.join(others)} or {last}"
    return f"unknown value {text!r}{hint}"


# --- readers: they return the value of a text, or raise ArgumentTypeError or ValueError with a message -----------


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


def integer(text: str) -> int:
    """Return a whole number, which may be negative."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


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


def command_words(text: str) -> list[str]:
    """Return the words of a command, as a shell divides it."""
    try:
        return shlex.split(text)
    except ValueError:
        why = "Nothing after the last backslash" if text.endswith("\\") else "No closing quotation"
        raise argparse.ArgumentTypeError(why) from None


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
            parser.exit(2, f"{parser.prog}: {reason_of(error)}\n")
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


def add_completion(parser: Parser, whole: Callable[[], Parser]) -> None:
    """Add `--completion`; `whole` returns the complete parser, only if the option is used."""

    def text(parser: argparse.ArgumentParser, shell: str) -> str:
        try:
            import shtab
        except ImportError:
            parser.exit(2, f"{parser.prog}: {missing('--completion', 'shtab')}\n")
        described = whole()
        _complete_files(described, shtab.FILE)
        try:
            return f"{shtab.complete(described, shell)}\n"
        except Exception as error:  # it uses what argparse does not promise
            why = f"--completion: this shtab cannot read this Python's argparse ({error}); update shtab"
            parser.exit(2, f"{parser.prog}: {printable(why)}\n")

    parser.add_argument(
        "--completion",
        action=_Print,
        choices=SHELLS,
        metavar="SHELL",
        text=text,
        help=f"print the completion script for a shell ({', '.join(SHELLS)}) and exit",
    )


def _complete_files(parser: Parser, kind: object) -> None:
    """Mark the arguments that are files for shtab, also those of commands."""
    for action in parser.files:
        action.complete = kind  # type: ignore[attr-defined]
    for command in parser.commands.values():
        _complete_files(command, kind)


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
