"""The solver, and the long-running process around it."""

import sys

__all__ = ["IN_BROWSER", "LONGEST_SIDE", "STAGE_NAMES"]

# What the command line needs without loading the solver.

IN_BROWSER = sys.platform == "emscripten"
"""Whether this is Pyodide: kernels are WebAssembly, threads are missing, memory is scarce."""

LONGEST_SIDE = 254 if IN_BROWSER else 1022
"""Cells of the longest line: masks have up to 256 or 1024 bits, two more than the line kernel takes cells."""

STAGE_NAMES = ("descents", "learning", "beliefs", "lines")
"""Parts that the champion can leave out: BP descents before the search; the search with conflict learning; in the
search the decisions by belief, and the line kernel.
"""
