"""Which puzzle sets exist; generating, finding and fetching them."""

from nonobot.tournament_data.generate import Recipe, generate, write_set
from nonobot.tournament_data.sets import PuzzleSet, SetError, SetPuzzle, load_set

__all__ = ["PuzzleSet", "Recipe", "SetError", "SetPuzzle", "generate", "load_set", "write_set"]
