"""What the command line must know of the solver without loading it."""

__all__ = ["LONGEST_LINE", "STAGE_NAMES"]

LONGEST_LINE = 62
"""Cells of the longest line: a mask is one 64-bit word, and the line kernels need two bits more than cells."""

STAGE_NAMES = ("descents", "beliefs")
"""Stages of the champion that can be left out: BP descents before the search, decisions by belief in it."""
