"""The bot's own strategy `papers` as an opponent, started with one of its fully probing relations."""

from __future__ import annotations

import sys

from nonobot.__main__ import main as nonobot

__all__ = ["run"]


def run(probing: str) -> int:
    """Run `nonobot --strategy papers --probing PROBING` with the arguments of this process.

    Parameters
    ----------
    probing : {'fp1', 'fp2', 'fp3'}
    """
    sys.argv += ["--strategy", "papers", "--probing", probing]  # behind all others: the last one counts
    return nonobot()
