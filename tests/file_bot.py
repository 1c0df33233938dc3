"""Bots that work on files: `python file_bot.py BEHAVIOUR SOLUTIONS`, in a folder with `input.txt`.

They know the solutions, and write them to `solution.txt`; some keep `log.txt`. They neither read stdin nor, but to
people, write to stdout.
"""

from __future__ import annotations

