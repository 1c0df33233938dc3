"""The solver and the long-running process around it."""

import sys

__all__ = ["IN_BROWSER", "LONGEST_SIDE", "STAGE_NAMES"]

# Constants that the command line needs without loading the solver.

IN_BROWSER = sys.platform == "emscripten"  # Pyodide: WebAssembly kernels, no threads, little memory

LONGEST_SIDE = 254 if IN_BROWSER else 1022  # cells of a row or column: the largest mask, except two bits

STAGE_NAMES = ("descents", "learning", "beliefs", "lines")
"""Stages that `champion` can leave out: BP descents before the search; the search with conflict learning; within
the search, decisions by belief and the line kernel.
"""
