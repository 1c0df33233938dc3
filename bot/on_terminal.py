"""Answers on a terminal: pictures, each as large as there is room for."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from nonobot.protocol import Record, Solution
from nonobot.protocol.characters import (
    Blocks,
    Place,
    draw,
    drawn_to_fit,
    place_of_output,
    possible_blocks,
    text_of,
    width_of,
)
from nonobot.protocol.picture import Picture

__all__ = ["picture_of"]


def picture_of(record: Record, solution: Solution, is_alone: bool) -> bytes:
    """Return an answer for a terminal: its number unless it `is_alone`, its title, and its picture."""
    place = place_of_output()
    picture = Picture(record.puzzle, solution.cells)
    blocks = possible_blocks(picture, place)
    lines = drawn_to_fit(picture, place, blocks)
    title = [] if is_alone else [f"${record.number}"]
    title += [] if record.title is None else [record.title]
    shown = [" ".join(title)] if title else []
    if lines is None:
        shown.append(_no_room(picture, place, blocks, record))
    else:
        shown += text_of(lines, place)
    return "".join(f"{line}\n" for line in shown).encode(place.encoding, "replace")


def _no_room(picture: Picture, place: Place, blocks: Sequence[Blocks], record: Record) -> str:
    """Return how wide a terminal would have to be, and the way to a picture that needs none."""
    width, height = record.size
    needed = width_of(draw(picture, blocks[-1], clues=False))
    file = shlex.quote(record.file)
    command = (
        f"nonobot {file} | nonojudge render {file} --answers - --number {record.number} -o {record.number}.png"
    )
    return (
        f"{width}x{height}: solved; its picture is {needed} characters wide, the terminal {place.columns}; "
        f"as a file: {command}"
    )
