"""One module for each command; its docstring and EXAMPLES are its help.

`add_to` adds the arguments to a parser, `carry_out` does the work and returns the exit status.
"""
