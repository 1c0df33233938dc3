"""Sets named by what they are made from: `boardgen:25x25x1000:seed=7`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from nonobot.protocol import Puzzle, Solution
from nonobot.tournament_data.generate import OFFICIAL_P1, OFFICIAL_P2, generate

__all__ = ["PREFIX", "Recipe", "parse_dimensions", "parse_seed"]

PREFIX = "boardgen:"
"""What tells a set specification from the name of a file."""

FORM = f"{PREFIX}WIDTHxHEIGHTxCOUNT:seed=S[:p1=0.5][:p2=0.35]"


@dataclass(frozen=True)
class Recipe:
    """The numbers that a generated set is made from; see :func:`nonobot.tournament_data.generate.generate`.

    Examples
    --------
    >>> str(Recipe.parse("boardgen:25x25x1000:p2=0.4:seed=7"))
    'boardgen:25x25x1000:seed=7:p2=0.4'
    """

    width: int
    height: int
    count: int
    seed: int
    p1: float = OFFICIAL_P1
    p2: float = OFFICIAL_P2

    @classmethod
    def parse(cls, text: str) -> Recipe:
        """Read a set specification; ValueError, whose message contains the form, if it is not one."""
        dimensions, *settings = text.removeprefix(PREFIX).split(":")
        given: dict[str, str] = {}
        for setting in settings:
            name, _, value = setting.partition("=")
            if name not in ("seed", "p1", "p2") or name in given:
                raise ValueError(f"unexpected {setting!r}; expected {FORM}")
            given[name] = value
        if "seed" not in given:
            raise ValueError(f"no seed; expected {FORM}")
        try:
            return cls(
                *parse_dimensions(dimensions),
                seed=parse_seed(given["seed"]),
                p1=float(given.get("p1", OFFICIAL_P1)),
                p2=float(given.get("p2", OFFICIAL_P2)),
            )
        except ValueError as error:
            raise ValueError(f"{error}; expected {FORM}") from None

    def __str__(self) -> str:
        text = f"{PREFIX}{self.width}x{self.height}x{self.count}:seed={Decimal(self.seed)}"
        if self.p1 != OFFICIAL_P1:
            text += f":p1={self.p1}"
        if self.p2 != OFFICIAL_P2:
            text += f":p2={self.p2}"
        return text

    def boards(self) -> Iterator[tuple[Puzzle, Solution]]:
        """Return the boards of the set, made one at a time."""
        return generate((self.width, self.height), self.count, self.p1, self.p2, seed=self.seed)


def parse_dimensions(text: str) -> tuple[int, int, int]:
    """Return width, height and count from a text such as `25x25x1000`; ValueError if it has another form."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}(x[1-9][0-9]{0,8}){2}", text):
        raise ValueError(f"{text!r} is not WIDTHxHEIGHTxCOUNT, such as 25x25x1000")
    width, height, count = map(int, text.split("x"))
    return width, height, count


def parse_seed(text: str) -> int:
    """Return a whole number of any length: the organisers' seeds have 19937 bits, more digits than `int` reads."""
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(f"seed {text!r} is not a whole number")
    return int(Decimal(text))
