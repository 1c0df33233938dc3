"""Limits of the solver, known without loading it."""

__all__ = ["LONGEST_LINE"]

LONGEST_LINE = 62
"""Cells of the longest line: a mask is one 64-bit word, and the line kernels need two bits more than cells."""
