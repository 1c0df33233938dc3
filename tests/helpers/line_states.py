"""Line states for the line kernel in the hands of a test: many at once, as masks of any width."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nonobot.bot.kernels.compiling import entry
from nonobot.bot.kernels.memory import Memory, Struct, i1, i2, mask_of, u1
from nonobot.bot.line import paint
from nonobot.bot.papers.lines import paint_recurrence
from nonobot.protocol import Clue
from tests.helpers.boards import mask_in

LINE = 5


@entry
def paint_states(m, number):
    """Paint so many states of the line, each in its place."""
    for place in range(number):
        consistent, black, white = paint(m, 5, m.black[place], m.white[place])
        m.consistent[place] = consistent
        m.black[place] = black
        m.white[place] = white
        for block in range(m.blocks[5]):
            m.starts_left[place, block] = m.starts[block]


@entry
def paint_states_by_recurrence(m, number):
    """Paint so many states of the line with the papers' solver, each in its place."""
    for place in range(number):
        consistent, black, white = paint_recurrence(m, 5, m.black[place], m.white[place])
        m.consistent[place] = consistent
        m.black[place] = black
        m.white[place] = white


class LineStates:
    """The memory of the line kernel for masks of so many bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        mask, blocks, many = mask_of(bits), bits // 2, 3 ** (10 if bits == 64 else 5)
        struct = Struct(
            f"LineStates{bits}",
            none=mask.constant(0),
            one=mask.constant(1),
            length=i2[LINE + 1],
            blocks=i2[LINE + 1],
            clue=(i1 if bits == 64 else i2)[LINE + 1, blocks],
            reach=mask[blocks + 1],
            starts=mask[blocks + 1],
            fits=mask[blocks + 1],
            black=mask[many],  # states of the line that are painted at once
            white=mask[many],
            consistent=i1[many],
            starts_left=mask[many, blocks],
            low=mask[blocks + 1, bits],
            high=mask[blocks + 1, bits],
            fixable=u1[blocks + 1, bits],
        )
        self._memory = Memory(struct)
        self.view = self._memory.view

    def set_clue(self, clue: Clue, length: int) -> None:
        self.view("length")[LINE] = length
        self.view("blocks")[LINE] = len(clue)
        self.view("clue")[LINE] = 0
        self.view("clue")[LINE, : len(clue)] = clue

    def paint_all(self, black: Sequence[int], white: Sequence[int]) -> list[tuple[int, int] | None]:
        """Return the black and the white cells of many states of the line, painted; None for a conflict."""
        number = len(black)
        self._memory.put_masks("black", black)
        self._memory.put_masks("white", white)
        paint_states(self._memory, number)
        found = ([mask_in(mask) for mask in self.view(name)[:number]] for name in ("black", "white"))
        consistent = self.view("consistent")[:number].tolist()
        return [(b, w) if well else None for b, w, well in zip(*found, consistent, strict=True)]

    def paint_arrays(
        self, black: np.ndarray, white: np.ndarray, solver: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Paint as `paint_all` does, in arrays of masks of 64 bits; the last says where no conflict is."""
        number = len(black)
        self.view("black")[:number] = black
        self.view("white")[:number] = white
        {"bitset": paint_states, "recurrence": paint_states_by_recurrence}[solver](self._memory, number)
        black, white, consistent = (self.view(name)[:number].copy() for name in ("black", "white", "consistent"))
        return black, white, consistent.astype(bool)

    def paint(self, black: int, white: int) -> tuple[int, int] | None:
        return self.paint_all([black], [white])[0]

    def starts_left(self, blocks: int, place: int = 0) -> list[set[int]]:
        """Return the starts of each block that the state `place` of those painted last left."""
        masks = [mask_in(mask) for mask in self.view("starts_left")[place, :blocks]]
        return [{i for i in range(mask.bit_length()) if mask >> i & 1} for mask in masks]
