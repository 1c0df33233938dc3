"""Masks in the views of a memory, as Python's integers: bit i is cell i."""

from __future__ import annotations

from typing import Any

import numpy as np


def mask_in(view: Any) -> int:
    """Return the mask that a view of one shows: a number of 64 bits, or several."""
    return int.from_bytes(np.asarray(view, "<u8").tobytes(), "little")


def put_mask(view: Any, at: int, mask: int) -> None:
    """Put a mask into a view of several."""
    place = view[at : at + 1]
    place[...] = np.frombuffer(mask.to_bytes(place.size * 8, "little"), "<u8").reshape(place.shape)
