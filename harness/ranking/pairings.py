"""The pairings of a match and their points: 2 for more of the other's puzzles solved, 1 for a draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nonobot.harness.text import NOTHING

WIN, DRAW, LOSS = 2, 1, 0


@dataclass(frozen=True)
class Pairing:
    """A bot against an opponent, from the side of the bot; None while a run is missing."""

    opponent: str
    solved: int | None  # of the opponent's puzzles
    conceded: int | None  # puzzles of the bot that the opponent solved

    @property
    def points(self) -> int | None:
        """What the bot gets for it."""
        if self.solved is None or self.conceded is None:
            return None
        return WIN if self.solved > self.conceded else DRAW if self.solved == self.conceded else LOSS

    def __str__(self) -> str:
        points, solved, conceded = (
            NOTHING if number is None else str(number) for number in (self.points, self.solved, self.conceded)
        )
        return f"{points} ({solved}:{conceded})"


def pairings_of(bot: str, solved: Mapping[tuple[str, str], int | None]) -> list[Pairing]:
    """Return the pairings of a bot with all others; `solved` has numbers of puzzles, by bot and setter."""
    others = dict.fromkeys(name for pair in solved for name in pair if name != bot)
    return [Pairing(other, solved.get((bot, other)), solved.get((other, bot))) for other in others]
