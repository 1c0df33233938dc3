"""Folders of the repository that tests read."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
GOLDEN = REPOSITORY / "tests" / "golden"
PUZZLES = REPOSITORY / "tests" / "puzzles"
DOUBLES = REPOSITORY / "tests" / "doubles"
