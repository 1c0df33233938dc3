"""Solve nonograms, find all their solutions, and read, check, draw and write them; see docs/python.md."""

# For type checkers and editors, to which `as` means a public name. `__init__.py` loads each at its first use.

from nonobot.api import Check as Check
from nonobot.api import Difficulty as Difficulty
from nonobot.api import Hint as Hint
from nonobot.api import Step as Step
from nonobot.api import check as check
from nonobot.api import count as count
from nonobot.api import difficulty as difficulty
from nonobot.api import draw as draw
from nonobot.api import generate as generate
from nonobot.api import hint as hint
from nonobot.api import read as read
from nonobot.api import read_lazily as read_lazily
from nonobot.api import solutions as solutions
from nonobot.api import solve as solve
from nonobot.api import solve_all as solve_all
from nonobot.api import steps as steps
from nonobot.api import write as write
from nonobot.bot.result import Result as Result
from nonobot.protocol import Puzzle as Puzzle
from nonobot.protocol import PuzzleError as PuzzleError
from nonobot.protocol import Record as Record
from nonobot.protocol import Solution as Solution

__version__: str
