"""The solver, and the long-running process around it."""

__all__ = ["LONGEST_SIDE", "STAGE_NAMES"]

# What the command line needs without loading the solver.

LONGEST_SIDE = 1022
"""Cells of the longest line: masks have up to 1024 bits, and the line kernel needs two bits more than cells."""

STAGE_NAMES = ("descents", "learning", "beliefs", "lines")
"""Parts that the champion can leave out: BP descents before the search; the search with conflict learning; in the
search the decisions by belief, and the line kernel.
"""
