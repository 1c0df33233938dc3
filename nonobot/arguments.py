"""The commands' arguments: the parser, the values, the completion for shells, hints for error messages.

Only argparse is loaded, so that `--help` answers at once.
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

LONGEST_SECONDS = 1e9
"""Thirty years; longer times overflow somewhere."""

FILES = ("FILE", "IN", "OUT", "QUESTIONS", "ANSWERS", "SET")
"""Names in the help of arguments that are files, or the begin of their names."""

SHELLS = ("bash", "zsh", "tcsh", "fish")


class Parser(argparse.ArgumentParser):
    """A parser that prints its help as it was written, and says in one line what cannot be used."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": argparse.RawDescriptionHelpFormatter, **options})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does; an unknown option that is like one of this parser is an error at once."""
        self._words = list(sys.argv[1:] if args is None else args)
        known, extras = super().parse_known_args(args, namespace)
        if extras and extras[0].startswith("-") and (misspelt := self._misspelt(extras)):
            self.error(misspelt)  # otherwise it may be an option of a bot whose `--` was forgotten
        return known, extras

    def _misspelt(self, words: Iterable[str]) -> str:
        """Return what to say of the first word that is like an option and none, nor the begin of one."""
        options = [option for option in self._option_string_actions if option.startswith("--")]
        for word in (word.partition("=")[0] for word in words if word.startswith("--")):
            if not any(option.startswith(word) for option in options) and (hint := did_you_mean(word, options)):
                return f"no {word!r}{hint}"
        return ""

    def error(self, message: str) -> NoReturn:
        """End the process with status 2 and a line that says why; for a name misspelt, with the one meant."""
        choice = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message)
        hint = choice and did_you_mean(choice[1], re.findall(r"[\w-]+", choice[2]))
        if choice and hint:
            message = f"{message[: choice.start()]}no {choice[1]!r}{hint}"
        elif "arguments are required" in message:  # perhaps since one is misspelt
            message = self._misspelt(self._words) or message
        self.exit(2, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


# --- readers of values, which return the value of a text or raise ArgumentTypeError ----------------------------


def size_up_to(longest: int) -> Callable[[str], tuple[int, int]]:
    """Return a reader of width and height, such as `25x25`; a side has up to `longest` cells."""

    def read(text: str) -> tuple[int, int]:
        if not re.fullmatch(r"[1-9][0-9]{0,3}x[1-9][0-9]{0,3}", text):
            raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT, such as 25x25")
        width, height = map(int, text.split("x"))
        if max(width, height) > longest:
            raise argparse.ArgumentTypeError(f"{text} is too large; a side has up to {longest} cells")
        return width, height

    return read


def byte_count(text: str) -> int:
    """Return a number of bytes from a text such as `500M`, `4GB` or `4 GiB`; K, M and G are powers of 1024."""
    parts = re.fullmatch(r"([1-9][0-9]{0,15}) ?(?:([KMG])I?)?(?:B|BYTES)?", text.strip().upper())
    if not parts:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, such as 500M or 4G")
    return min(int(parts[1]) << {None: 0, "K": 10, "M": 20, "G": 30}[parts[2]], 1 << 62)


def number(least: float, most: float, what: str) -> Callable[[str], float]:
    """Return a reader of numbers from `least` to `most`, which `what` describes."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        return value

    return read


def whole_number(least: int, most: int | None = None, what: str = "a whole number") -> Callable[[str], int]:
    """Return a reader of whole numbers from `least` to `most`, or of up to 18 digits, which `what` describes."""
    bounds = f"from {least} on" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < least or (most is not None and int(text) > most):
            raise argparse.ArgumentTypeError(f"{text!r} is not {what} {bounds}")
        return int(text)

    return read


def variable(text: str) -> tuple[str, str]:
    """Return the name and the value of an environment variable, given as `NAME=VALUE`."""
    name, sign, value = text.partition("=")
    if not sign or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or "\0" in value:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, such as OMP_NUM_THREADS=1")
    return name, value


size = size_up_to(9999)
seconds = number(1e-9, LONGEST_SECONDS, "a number of seconds above 0")
share = number(0.0, 10.0, "a share such as 0.05, for 5 %")
count = whole_number(1)


def either(word: str, meaning: Meaning, read: Callable[[str], Value]) -> Callable[[str], Meaning | Value]:
    """Return a reader of one word as its meaning, and of other texts as `read` does."""

    def read_either(text: str) -> Meaning | Value:
        if text == word:
            return meaning
        try:
            return read(text)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(f"{error}, or {word}") from None

    return read_either


def explained(read: Callable[[str], Value]) -> Callable[[str], Value]:
    """Return a reader like `read` that passes on the message of its ValueError, which argparse would drop."""

    def read_explained(text: str) -> Value:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read_explained


# --- options that print and end ----------------------------------------------------------------------------------


class _Print(argparse.Action):
    """An option that prints a text and exits."""

    def __init__(self, *, text: Callable[[argparse.ArgumentParser, Any], str], **options: Any) -> None:
        super().__init__(**{**options, "dest": argparse.SUPPRESS, "default": argparse.SUPPRESS})
        self._text = text

    def __call__(self, parser: argparse.ArgumentParser, _: object, value: Any, __: object = None) -> None:
        try:
            sys.stdout.write(self._text(parser, value))
            sys.stdout.flush()
        except OSError as error:  # argparse's own --version would end as if it had been written
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left fails no second time
            parser.exit(2, f"{parser.prog}: {error.strerror}\n")
        parser.exit()


def add_version(parser: Parser) -> None:
    """Add `--version`."""
    parser.add_argument(
        "--version",
        action=_Print,
        nargs=0,
        text=lambda parser, _: f"{parser.prog} {__version__}\n",
        help="print the version and end",
    )


def add_completion(parser: Parser, whole: Callable[[], argparse.ArgumentParser]) -> None:
    """Add `--completion`; `whole` returns the parser with all there is to complete, asked for only then.

    A shell that has read what is printed completes without starting the command.
    """

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
        help=f"print what makes a shell complete this command, and end: {', '.join(SHELLS)}",
    )


def _complete_files(parser: argparse.ArgumentParser, kind: object) -> None:
    """Mark the arguments that are files, in the commands of a command too, for shtab."""
    for action in parser._actions:  # argparse has no public way to them
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _complete_files(command, kind)
        elif action.type is Path or str(action.metavar).startswith(FILES):
            action.complete = kind  # type: ignore[attr-defined]


# --- hints in error messages -------------------------------------------------------------------------------------

_LEAST_LIKENESS = 0.75
"""Of 0 to 1, as difflib measures it; `taai2012` and `taai2011` have 0.875."""


def did_you_mean(text: str, names: Iterable[str]) -> str:
    """Return the end of a message on an unknown name, such as ` (did you mean report?)`, or nothing."""
    from difflib import SequenceMatcher  # only here: few messages need it

    likely = {name: SequenceMatcher(None, name, text.casefold(), autojunk=False).ratio() for name in names}
    best = max(likely.values(), default=0.0)
    if best < _LEAST_LIKENESS:
        return ""
    *others, last = [name for name in likely if likely[name] == best][:3]
    return f" (did you mean {', '.join(others)}{' or ' if others else ''}{last}?)"


def missing(what: str, *libraries: str) -> str:
    """Return a line on the libraries that are missing for `what`, and the command that installs them.

    The command names this Python and the libraries, not an extra: that works in a clone as well as for an
    installed package, whichever environment is active. An environment of uv, for one, has no pip until it gets it.
    """
    from importlib.util import find_spec

    if not sys.executable:
        return f"{what} needs {' and '.join(libraries)}, which this executable does not contain"
    command = shlex.join([sys.executable, "-m", "pip", "install", *libraries])
    if find_spec("pip") is None:
        command = f"{shlex.join([sys.executable, '-m', 'ensurepip'])} && {command}"
    return f"{what} needs {' and '.join(libraries)}, not installed here; to install: {command}"
