"""The solver, and the long-running process around it."""
