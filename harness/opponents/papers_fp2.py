"""Probing and backtracking of the papers, compiled; FP2: FP1 and contrapositives.

Source: Chen and Hung, "A New Simplified Line Solver for Nonogram Puzzle Games"; Wu et al., "An Efficient Approach
to Solving Nonograms" (2013). This is the bot's own reference strategy, compiled (docs/engine.md), so that a table
shows what the champion adds to it: `nonobot --strategy papers --probing fp2`, with all options of nonobot.
"""

from __future__ import annotations

import sys

from nonobot.harness.opponents.papers import run

if __name__ == "__main__":
    sys.exit(run("fp2"))
