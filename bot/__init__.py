"""The solver, and the long-running process around it."""

__version__ = "0.1.0"
