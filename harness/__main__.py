"""`python -m harness`, installed as `nonojudge`."""

from __future__ import annotations

import sys

from harness.cli import run

__all__ = ["main"]


def main() -> int:
    """Run the command line and return its exit status."""
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
