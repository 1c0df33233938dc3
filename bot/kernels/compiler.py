"""The compiler of the kernels, numba: what to do if it is missing, or if this version of it does not fit."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from importlib.util import find_spec

from nonobot.bot import IN_BROWSER
from nonobot.bot.kernels.machine_code import ForbiddenError
from nonobot.system import shortened

NEWEST_NUMBA = "0.68.1"  # the newest version with which all tests passed

_LONGEST_REASON = 300  # characters; numba explains some errors on pages


class CompilerError(ImportError):
    """The kernels cannot be compiled, whatever the board; the message is one text line with what to do."""


def require_compiler() -> None:
    """Raise CompilerError, with the command that helps, if numba is missing."""
    if IN_BROWSER:
        what_to_do = "install a wheel of nonobot with kernels, and unset NONOBOT_KERNELS"
        raise CompilerError(f"a browser compiles no kernels: {what_to_do}")
    if find_spec("numba") is None or find_spec("llvmlite") is None:
        from nonobot.arguments import missing

        raise CompilerError(missing("compiling the kernels", "numba"))


@contextlib.contextmanager
def numba_fits() -> Iterator[None]:
    """Raise CompilerError for any error of a block that uses numba: another version may fail in any way.

    ForbiddenError: the system forbids a program to run code that it wrote, which llvmlite tries as it is loaded.
    """
    try:
        yield
    except (CompilerError, ForbiddenError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM):
            raise ForbiddenError(error.errno) from None
        from nonobot.arguments import install_command

        problem = f"numba {version_of_numba()} cannot compile the kernels ({in_one_line(error)})"
        remedy = f"install numba {NEWEST_NUMBA}, the newest that works, and what it needs with"
        raise CompilerError(f"{problem}; {remedy}: {install_command(f'numba=={NEWEST_NUMBA}')}") from error


def version_of_numba() -> str:
    """Return the version of the numba that is installed; numba itself may not load."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numba")
    except PackageNotFoundError:
        return "of an unknown version"


def in_one_line(error: Exception) -> str:
    """Return the class and the message of an error in one text line."""
    return shortened(" ".join(f"{type(error).__name__}: {error}".split()).rstrip("."), _LONGEST_REASON)
