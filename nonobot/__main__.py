"""Entry point of the command `nonobot`."""

from __future__ import annotations

import time

STARTED = time.monotonic()  # approximate start time of the process, from which --time-limit and the log count

import gc  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402

TYPE_CHECKING = False  # as in the package
if TYPE_CHECKING:
    from typing import NoReturn

gc.set_threshold(100_000)  # imports leave no garbage, and searching for it slows the start
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # otherwise numpy starts threads that do nothing here


def _standard_streams() -> bool:
    """Open closed standard streams, so that no other file gets their numbers; False if stdout was closed."""
    is_output_open = True
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # `os.open` uses the lowest free number: this one. An empty root has no /dev/null.
            os.open(*((os.devnull, os.O_RDWR) if os.access(os.devnull, os.R_OK | os.W_OK) else ("/", os.O_RDONLY)))
            is_output_open &= descriptor != 1
    return is_output_open


def main() -> int:
    """Run the command and return the exit status."""
    # Ctrl-C ends the process at once, even while a kernel runs; all answers found are written by then.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from nonobot.bot.cli import parse  # only here: Ctrl-C may arrive while it is loaded

    options = parse(sys.argv[1:])
    if not _standard_streams():
        return 2
    from nonobot.bot.process import run  # loaded only when there is something to do

    return run(options, STARTED)


def command() -> NoReturn:
    """Run the command and end the process at once: Python's normal shutdown would add noticeable time."""
    os._exit(main())


if __name__ == "__main__":
    command()
