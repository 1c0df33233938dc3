"""`python -m harness`, installed as `nonojudge`."""

from __future__ import annotations

import sys

from harness.errors import EXIT_INTERRUPTED

__all__ = ["main"]


def main() -> int:
    """Run the command line and return its exit status."""
    try:
        from harness.cli import run  # only here: a Ctrl-C may come while it is loaded

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
