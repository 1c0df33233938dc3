r"""Pictures of puzzles and answers: for the terminal, as SVG and as PNG.

>>> from nonobot.protocol import Puzzle
>>> picture = Picture(Puzzle(columns=((1,), ()), rows=((1,),)), cells=[[1, 0]])
>>> print("\n".join(plain_lines(draw(picture, Blocks.FULL))))
    1 0
  ┌────┐
1 │██  │
  └────┘
>>> svg_of(scene_of(picture, cell=4, clues=False), LIGHT)[:48]
'<svg xmlns="http://www.w3.org/2000/svg" width="1'
"""

from nonobot.harness.pictures.png import png_of
from nonobot.protocol.characters import Blocks, draw, plain_lines
from nonobot.protocol.picture import Picture
from nonobot.protocol.scene import SMALLEST_CELL_WITH_CLUES, Scene, scene_of, sheet_of
from nonobot.protocol.svg import DARK, INHERIT, LIGHT, THEMES, Theme, svg_of

__all__ = [
    "DARK",
    "INHERIT",
    "LIGHT",
    "SMALLEST_CELL_WITH_CLUES",
    "THEMES",
    "Blocks",
    "Picture",
    "Scene",
    "Theme",
    "draw",
    "plain_lines",
    "png_of",
    "scene_of",
    "sheet_of",
    "svg_of",
]
