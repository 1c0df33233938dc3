"""`python -m nonobot.harness`, installed as `nonojudge`."""

from __future__ import annotations

import gc
import io
import os
import sys

gc.set_threshold(100_000)  # imports leave no garbage; searching for it takes 5% of the start

from nonobot.harness import EXIT_INTERRUPTED  # noqa: E402


def main() -> int:
    """Run the command line and return its exit status."""
    _open_closed_streams()
    # Programs in a folder that PATH names relative to the working one, perhaps a stranger's, are not the judge's.
    path = filter(os.path.isabs, os.get_exec_path())
    os.environ["PATH"] = os.pathsep.join(path) or os.defpath
    try:
        from nonobot.harness.cli import run  # only here: a Ctrl-C may come while it is loaded

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _open_closed_streams() -> None:
    """Replace closed standard streams by empty ones, so that no file opened later gets their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, closefd=False))  # as Python's
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr does: the encoding may lack characters


if __name__ == "__main__":
    sys.exit(main())
