"""Which puzzle sets exist; generating, finding and fetching them."""

from tournament_data.generate import generate, write_set
from tournament_data.recipe import Recipe
from tournament_data.sets import PuzzleSet, SetError, SetPuzzle, load_set

__all__ = ["PuzzleSet", "Recipe", "SetError", "SetPuzzle", "generate", "load_set", "write_set"]
