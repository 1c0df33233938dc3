"""`nonobot`: a batch on stdin, answers on stdout."""

from __future__ import annotations

import time

STARTED = time.monotonic()
"""When the process started, as near as it can tell: --time-limit and the log count from here."""

import gc  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402

TYPE_CHECKING = False  # as in the package
if TYPE_CHECKING:
    from typing import NoReturn

gc.set_threshold(100_000)  # imports leave nothing to collect, and looking for it takes a twentieth of the start
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads that have nothing to do here


def _standard_streams() -> bool:
    """Make sure that no file of ours is taken for a standard stream; False if standard output is closed."""
    is_output_open = True
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # It takes the lowest number that is free: this one. An empty root has no /dev/null.
            os.open(*((os.devnull, os.O_RDWR) if os.access(os.devnull, os.R_OK | os.W_OK) else ("/", os.O_RDONLY)))
            is_output_open &= descriptor != 1
    return is_output_open


def main() -> int:
    """Run the command; the exit status is returned."""
    # The default way to die: at once, and while a kernel runs too. Every answer is written out by then.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from nonobot.bot.cli import parse  # only here: a Ctrl-C may come while it is loaded

    options = parse(sys.argv[1:])
    if not _standard_streams():
        return 2
    from nonobot.bot.process import run  # loaded only when there is something to do

    return run(options, STARTED)


def command() -> NoReturn:
    """Run the command and end the process with its exit status, at once.

    Every answer is written by then, and to take all modules apart in order takes a fifth of a small batch's time.
    """
    os._exit(main())


if __name__ == "__main__":
    command()
