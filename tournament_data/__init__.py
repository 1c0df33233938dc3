"""Puzzle sets: the registry of official sets, and functions that generate, load and download sets."""

from nonobot.tournament_data.generate import Recipe, generate, write_set
from nonobot.tournament_data.sets import PuzzleSet, SetError, SetPuzzle, load_set

__all__ = ["PuzzleSet", "Recipe", "SetError", "SetPuzzle", "generate", "load_set", "write_set"]
